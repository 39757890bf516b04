/** The groups of a step, the most telling first. */

import { useState } from 'preact/hooks';
import { groupAddress, groupQuery, placeName } from '../navigation/places.ts';
import { go } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Members } from '../parts/members.tsx';
import { Rows, useRow } from '../parts/rows.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { number, plural, signed } from '../text/format.ts';
import type { GroupSummary } from './step-summary.ts';

interface GroupTableProps {
  readonly run: string;
  readonly place: string;
  readonly groups: readonly GroupSummary[];
}

const shownAtFirst = 12;

const columns: readonly Column[] = [
  ...['Group', 'Members'],
  ...[{ right: 'Succeeded' }, { right: 'Turns' }, { right: 'Surprise' }],
  ...[{ right: 'Return' }, { right: 'Advantage' }],
];

export function GroupTable({ run, place, groups }: GroupTableProps) {
  const [all, showAll] = useState(false);
  const rows = all ? groups : groups.slice(0, shownAtFirst);
  const at = (group: GroupSummary) => ({ run, place, group: group.group, label: group.label });
  const chosen = useRow('group', rows.length, place, (index) => go(groupAddress(at(rows[index]!))));
  return (
    <section class="card flush" aria-label={`Groups of ${placeName(place)}`}>
      <div class="card-head">
        <h2>Groups of {placeName(place)}</h2>
        <span class="ink2 small wide">widest spread first · {plural(groups.length, 'group')}</span>
        <span class="wide">
          <kbd>j</kbd> <kbd>k</kbd> <kbd>↵</kbd>
        </span>
      </div>
      <table class="rows groups" aria-rowcount={rows.length + 1}>
        <TableHead columns={columns} />
        <Rows
          rows={rows}
          chosen={chosen}
          draw={(group, index) => (
            <tr
              key={`${group.label} ${group.group}`}
              class={index === chosen ? 'current' : ''}
              aria-rowindex={index + 2}
            >
              <th scope="row">
                <Link to={groupAddress(at(group))} asks={groupQuery(at(group))}>
                  {group.group}
                  {group.label !== 'training' && <span class="ink3"> {group.label}</span>}
                </Link>
              </th>
              <td class="members">
                <Members marks={group.members} />
              </td>
              <td class="right succeeded">
                {group.succeeded} of {group.members.length}
              </td>
              <td class="right turns">{spread(group.members.map(({ turns }) => turns))}</td>
              <td class="right surprise">
                {number(mean(group.members.flatMap(({ surprise }) => surprise ?? [])), 2)}
              </td>
              <td class="right returns">{spread([group.low, group.high])}</td>
              <td class="right advantage">{advantages(group)}</td>
            </tr>
          )}
        />
      </table>
      {!all && groups.length > shownAtFirst && (
        <p class="empty">
          <button type="button" onClick={() => showAll(true)}>
            Show all {groups.length}
          </button>
        </p>
      )}
      {groups.length === 0 && <p class="ink2 empty">No group is in this bar.</p>}
    </section>
  );
}

function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? number(low, 2) : `${number(low, 2)} – ${number(high, 2)}`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function advantages({ members, isDead }: GroupSummary) {
  const values = members.flatMap(({ advantage }) => advantage ?? []);
  if (values.length === 0) return <span class="ink3">—</span>;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (isDead && low === 0 && high === 0) return <span class="ink3">0, says nothing</span>;
  return `${signed(low)} … ${signed(high)}`;
}
