/** When things happened: the members of the group, or the conversations of this episode, as lanes of one axis. */

import type { GroupOutline, Segment, ShownEpisode } from '../../shapes.ts';
import { divergence } from '../group/prefix-tree.ts';
import { episodeAddress, type GroupAt } from '../navigation/places.ts';
import { query, show } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/members.tsx';
import { duration, number } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { lanesOf, ticksOf } from './lanes.ts';

interface TimelineProps {
  readonly at: GroupAt;
  readonly episode: ShownEpisode;
  readonly outline: GroupOutline;
  readonly member: number;
  readonly role: string;
}

const mostLanes = 32;

const names: Readonly<Record<Segment['kind'], string>> = {
  wait: 'waiting',
  complete: 'completing',
  environment: 'environment',
};

export function Timeline({ at, episode, outline, member, role }: TimelineProps) {
  const members = outline.members.filter((one) => one.role === role);
  const alone = members.length < 2;
  const byMember = !alone && query.value.get('lanes') !== 'contexts';
  const lanes = byMember
    ? members.slice(0, mostLanes).map((one) => ({
        name: `member ${one.member}`,
        segments: one.segments,
        depth: 0,
        member: one,
      }))
    : lanesOf(episode)
        .slice(0, mostLanes)
        .map((lane) => ({ ...lane, member: undefined }));
  const end = Math.max(1, ...lanes.flatMap(({ segments }) => segments.map(({ to }) => to)));
  const part = byMember ? divergence(members) : undefined;
  const own = members.find((one) => one.member === member);
  const partAt =
    part === undefined ? undefined : own?.segments.filter(({ kind }) => kind === 'complete')[part]?.from;
  const left = (ms: number): string => `${(100 * ms) / end}%`;
  return (
    <section class="card timeline" aria-label="Timeline">
      <div class="card-head">
        <h2>Timeline</h2>
        <span class="ink2 small key-list">
          {(Object.keys(names) as Segment['kind'][]).map((kind) => (
            <span key={kind}>
              <i class={`segment ${kind}`} aria-hidden="true" /> {names[kind]}
            </span>
          ))}
        </span>
        {!alone && (
          <label class="field">
            <span class="ink2">lanes</span>
            <select
              value={byMember ? 'members' : 'contexts'}
              onChange={({ currentTarget }) =>
                show({ lanes: currentTarget.value === 'members' ? undefined : 'contexts' })
              }
            >
              <option value="members">members</option>
              <option value="contexts">conversations</option>
            </select>
          </label>
        )}
      </div>
      <div class="lanes">
        <div class="axis" aria-hidden="true">
          {ticksOf(end).map((tick) => (
            <span key={tick} style={{ left: left(tick) }}>
              {tick === 0 ? '0' : duration(tick / 1000)}
            </span>
          ))}
        </div>
        {partAt !== undefined && (
          <div class="axis part" aria-hidden="true">
            <i style={{ left: left(partAt) }} />
          </div>
        )}
        {lanes.map((lane) => (
          <div key={lane.name} class={lane.member?.member === member ? 'lane own' : 'lane'}>
            <span
              class="lane-name"
              title={oneLine(lane.name, 80)}
              style={{ paddingLeft: `${8 * lane.depth}px` }}
            >
              {lane.member ? (
                <Link to={episodeAddress(at, lane.member.member)} current={lane.member.member === member}>
                  <span class="wide">member </span>
                  {lane.member.member}
                </Link>
              ) : (
                oneLine(lane.name, 40)
              )}
            </span>
            <span class="track" role="img" aria-label={describe(lane.segments)}>
              {lane.segments.map((segment) => (
                <i
                  key={`${segment.kind} ${segment.from}`}
                  class={`segment ${segment.kind}`}
                  title={`${names[segment.kind]} ${duration((segment.to - segment.from) / 1000)}`}
                  style={{ left: left(segment.from), width: left(segment.to - segment.from) }}
                />
              ))}
            </span>
            <span class="lane-end">
              {lane.member && (
                <>
                  <Mark member={lane.member.member} success={lane.member.success} />
                  <span class="wide"> return {number(lane.member.return)}</span>
                </>
              )}
            </span>
          </div>
        ))}
        {partAt !== undefined && (
          <div class="axis">
            <span class="part-note" style={{ left: left(partAt) }}>
              members part here, turn {part! + 1}
            </span>
          </div>
        )}
      </div>
    </section>
  );
}

function describe(segments: readonly Segment[]): string {
  const total = (kind: Segment['kind']): number =>
    segments.reduce((sum, segment) => sum + (segment.kind === kind ? segment.to - segment.from : 0), 0);
  return (Object.keys(names) as Segment['kind'][])
    .map((kind) => `${names[kind]} ${duration(total(kind) / 1000)}`)
    .join(', ');
}
