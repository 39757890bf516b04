/** The conversations of an episode as lanes: windows and summaries beside the main one, sub-agents under the call that ran them. */

import type { Segment, ShownEpisode } from '../../shapes.ts';

export interface Lane {
  readonly name: string;
  /** How many sub-agents deep. */
  readonly depth: number;
  readonly segments: readonly Segment[];
}

export function lanesOf({ calls, turns }: Pick<ShownEpisode, 'calls' | 'turns'>): Lane[] {
  const rootOf = new Map<number, number>();
  const byId = new Map(calls.map((call) => [call.id, call]));
  for (const call of calls) {
    const parent = call.parent === undefined ? undefined : rootOf.get(call.parent);
    rootOf.set(call.id, parent === undefined || call.newPath !== undefined ? call.id : parent);
  }
  const depthOf = (id: number, level = 0): number => {
    const under = byId.get(id)?.under;
    return under === undefined || level > 8 ? level : depthOf(rootOf.get(under) ?? under, level + 1);
  };
  const roots = [...new Set(rootOf.values())];
  const counts = new Map<string, number>();
  return roots.map((root) => {
    const own = calls.filter(({ id }) => rootOf.get(id) === root);
    const ids = new Set(own.map(({ id }) => id));
    const { role, purpose, newPath } = byId.get(root)!;
    const between = turns.filter((turn) => ids.has(turn.calls.at(-1) ?? -1));
    const segments = [
      ...own.flatMap(({ id, at, waitMs, policyMs }): Segment[] => [
        { kind: 'wait', from: at, to: at + waitMs, call: id },
        { kind: 'complete', from: at + waitMs, to: at + waitMs + policyMs, call: id },
      ]),
      ...between.map(
        ({ at, environmentMs }): Segment => ({ kind: 'environment', from: at, to: at + environmentMs }),
      ),
    ]
      .filter(({ from, to }) => to > from)
      .sort((a, b) => a.from - b.from);
    // What tells lanes apart comes first, since long names are cut.
    const kind = purpose === 'act' ? newPath : purpose;
    const name = kind === undefined ? role : `${kind}, ${role}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const numbered = count === 1 ? name : `${kind ?? role} ${count}${kind === undefined ? '' : `, ${role}`}`;
    return { name: numbered, depth: depthOf(root), segments };
  });
}

/** About six round numbers of milliseconds. */
export function ticksOf(end: number, about = 6): number[] {
  const rough = end / about;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5].find((factor) => factor * magnitude >= rough) ?? 10);
  return Array.from({ length: Math.floor((0.97 * end) / step) + 1 }, (_, index) => index * step);
}
