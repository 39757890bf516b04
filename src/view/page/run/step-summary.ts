/** The episodes of a step by group, and how many groups had how many successes: figures for the histogram and the table. */

import type { MemberRow } from '../../shapes.ts';

export interface GroupSummary {
  readonly group: number;
  readonly label: MemberRow['label'];
  readonly members: readonly MemberRow[];
  readonly succeeded: number;
  readonly low: number;
  readonly high: number;
  /** All returns are equal: no member gets an advantage over another. */
  readonly isDead: boolean;
}

/** Roles of an episode are rows of their own in the index; a group is judged by its first one. */
export function groupsOf(rows: readonly MemberRow[]): GroupSummary[] {
  const groups = new Map<string, MemberRow[]>();
  for (const row of rows) {
    if (row.role !== 0) continue;
    const name = `${row.label} ${row.group}`;
    const members = groups.get(name);
    if (members) members.push(row);
    else groups.set(name, [row]);
  }
  return [...groups.values()].map((members) => {
    const returns = members.flatMap((member) => member.return ?? []);
    const low = Math.min(...returns);
    const high = Math.max(...returns);
    return {
      group: members[0]!.group,
      label: members[0]!.label,
      members,
      succeeded: members.filter(({ success }) => success).length,
      low,
      high,
      isDead: members.length > 1 && high === low,
    };
  });
}

/** Widest spread of returns first, then the most surprising. */
export function byInterest(a: GroupSummary, b: GroupSummary): number {
  const surprise = ({ members }: GroupSummary): number =>
    members.reduce((sum, member) => sum + (member.surprise ?? 0), 0);
  return b.high - b.low - (a.high - a.low) || evenness(b) - evenness(a) || surprise(b) - surprise(a);
}

/** Largest where half of the members succeeded. */
function evenness({ succeeded, members }: GroupSummary): number {
  return Math.min(succeeded, members.length - succeeded);
}

export interface Bar {
  /** In the address. */
  readonly name: string;
  readonly label: string;
  readonly count: number;
  readonly isDead: boolean;
  holds(group: GroupSummary): boolean;
}

const mostSizes = 17;
const bins = 12;

/** Groups by members that succeeded; by mean return where success says nothing, or the groups are large or single. */
export function barsOf(groups: readonly GroupSummary[]): {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
} {
  const size = Math.max(0, ...groups.map(({ members }) => members.length));
  const bySuccess = size > 1 && size < mostSizes && groups.some(({ succeeded }) => succeeded > 0);
  if (bySuccess) {
    const bars = Array.from({ length: size + 1 }, (_, succeeded) =>
      bar(`s${succeeded}`, String(succeeded), groups, (group) => group.succeeded === succeeded),
    );
    return {
      title: `${groups.length} groups by members that succeeded`,
      unit: 'groups with successes:',
      bars,
    };
  }
  const episodes = groups.flatMap(({ members }) => members.flatMap((member) => member.return ?? []));
  const [low, high] = [Math.min(...episodes), Math.max(...episodes)];
  const width = (high - low) / bins || 1;
  const bars = Array.from({ length: high > low ? bins : 1 }, (_, bin) => {
    const from = low + bin * width;
    const inBin = (value: number | null): boolean =>
      value !== null && Math.min(bins - 1, Math.floor((value - low) / width)) === bin;
    const count = episodes.filter(inBin).length;
    return {
      name: `r${bin}`,
      label: String(Number(from.toPrecision(2))),
      count,
      isDead: false,
      holds: ({ members }: GroupSummary) => members.some((member) => inBin(member.return)),
    };
  });
  return { title: `${episodes.length} episodes by return`, unit: 'episodes with a return from', bars };
}

function bar(name: string, label: string, groups: readonly GroupSummary[], holds: Bar['holds']): Bar {
  const held = groups.filter(holds);
  return {
    name,
    label,
    count: held.length,
    isDead: held.length > 0 && held.every(({ isDead }) => isDead),
    holds,
  };
}
