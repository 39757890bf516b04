/** Why did some members succeed and others not? */

import type { GroupOutline, MemberOutline, StepEpisodes } from '../../shapes.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import {
  episodeAddress,
  episodeQuery,
  type GroupAt,
  groupAddress,
  groupQuery,
  placeAddress,
  placeName,
} from '../navigation/places.ts';
import { address, go, query, show } from '../navigation/router.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/members.tsx';
import { type Beside, Pager } from '../parts/pager.tsx';
import { Rows, useRow } from '../parts/rows.tsx';
import { Shell } from '../parts/shell.tsx';
import { type Column, TableHead } from '../parts/table-head.tsx';
import { duration, number, plural, signed } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { Pair } from './pair.tsx';
import { divergence, leavesMajority } from './prefix-tree.ts';
import { taskText } from './task-text.ts';
import { Tree } from './tree.tsx';

export function GroupPage(props: GroupAt) {
  const at = { ...props, label: query.value.get('label') ?? undefined };
  const { run, place, group } = at;
  const { value, problem } = useLoaded<GroupOutline>(groupQuery(at));
  const up = placeAddress(run, place);
  return (
    <Shell
      crumbs={[
        { label: run, to: address('runs', run) },
        { label: placeName(place), to: up },
        { label: `group ${group}` },
      ]}
      problem={problem}
    >
      {value && <Body at={at} outline={value} />}
    </Shell>
  );
}

const columns: readonly Column[] = [
  ...['Member', { right: 'Return' }, { right: 'Turns' }, 'Leaves the majority', 'Advantage by turn'],
  ...[{ right: 'Time' }, 'End'],
];

function Body({ at, outline }: { readonly at: GroupAt; readonly outline: GroupOutline }) {
  const { roles, task } = outline;
  const role = roles.find((name) => name === query.value.get('role')) ?? roles[0] ?? '';
  const members = outline.members.filter((member) => member.role === role);
  const part = divergence(members);
  const succeeded = members.filter(({ success }) => success).length;
  const numbers = members.map(({ member }) => member);
  const asked = (name: string): number | undefined =>
    numbers.find((one) => String(one) === query.value.get(name));
  const left = asked('a') ?? members.find(({ success }) => success)?.member ?? numbers[0] ?? 0;
  const beside = useGroupsBeside(at);
  const right =
    asked('b') ??
    members.find(({ success, member }) => !success && member !== left)?.member ??
    numbers.find((one) => one !== left);
  const chosen = useRow('member', members.length, role, (index) =>
    go(episodeAddress(at, members[index]!.member)),
  );
  return (
    <>
      <div class="title">
        <div>
          <h1 dir="auto">{taskText(task)}</h1>
          <p class="ink2">
            {members.length === 1
              ? `one member, which ${succeeded === 1 ? 'succeeded' : 'failed'}`
              : `${succeeded} of ${plural(members.length, 'member')} succeeded · ${
                  part === undefined ? 'all did the same' : `they part at turn ${part + 1}`
                }`}
            {outline.label !== 'training' && ` · ${outline.label}`}
          </p>
        </div>
        <Pager what="group" beside={beside} />
        {roles.length > 1 && (
          <div class="segmented" role="group" aria-label="Role">
            {roles.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={name === role}
                onClick={() => show({ role: name })}
              >
                {oneLine(name, 24)}
              </button>
            ))}
          </div>
        )}
      </div>
      <section class="card flush" aria-label="Members">
        <table class="rows members-table">
          <TableHead columns={columns} />
          <Rows
            rows={members}
            chosen={chosen}
            draw={(member, index) => (
              <Row
                key={member.member}
                at={at}
                member={member}
                leaves={leavesMajority(members, index)}
                isCurrent={index === chosen}
              />
            )}
          />
        </table>
      </section>
      <section class="card" aria-label="Where they part">
        <h2>Turn by turn</h2>
        <p class="ink2 small">
          Members that were in the same situation and did the same share a cell. Where they part, p is the
          probability of what was done.
        </p>
        <Tree members={members} to={(member) => episodeAddress(at, member)} />
      </section>
      {right !== undefined && <Pair at={at} members={members} role={role} left={left} right={right} />}
    </>
  );
}

/** Where the groups before and after this one in its step are. */
function useGroupsBeside(at: GroupAt): Beside {
  const { value } = useLoaded<StepEpisodes>(runPath(at.run, `/places/${at.place}`));
  const own = (value?.members ?? []).filter(({ label }) => at.label === undefined || label === at.label);
  const numbers = [...new Set(own.map(({ group }) => group))].sort((a, b) => a - b);
  const place = numbers.indexOf(at.group);
  const to = (group: number | undefined) =>
    group === undefined || place < 0 ? undefined : groupAddress({ ...at, group });
  return { before: to(numbers[place - 1]), after: to(numbers[place + 1]) };
}

interface RowProps {
  readonly at: GroupAt;
  readonly member: MemberOutline;
  readonly leaves: number | undefined;
  readonly isCurrent: boolean;
}

function Row({ at, member, leaves, isCurrent }: RowProps) {
  const { turns, success, stop, seconds, return: outcome, member: index } = member;
  return (
    <tr class={isCurrent ? 'current' : ''}>
      <th scope="row">
        <Link to={episodeAddress(at, index)} asks={episodeQuery(at, index)}>
          <Mark member={index} success={success} /> member {index}
        </Link>
      </th>
      <td class="right">{number(outcome)}</td>
      <td class="right">{turns.length}</td>
      <td class={leaves === undefined ? 'ink3' : 'red'}>
        {leaves === undefined ? '—' : `turn ${leaves + 1}, ${oneLine(turns[leaves]?.action ?? '', 32)}`}
      </td>
      <td>
        <Strip turns={turns} />
      </td>
      <td class="right">{duration(seconds)}</td>
      <td>{stop}</td>
    </tr>
  );
}

const stripTurns = 40;

/** A bar for each turn, up or down from the middle by its advantage, at most 2. */
function Strip({ turns }: Pick<MemberOutline, 'turns'>) {
  const values = turns.map(({ advantage }) => advantage).slice(0, stripTurns);
  if (values.every((value) => value === null)) return <span class="ink3">—</span>;
  const text = values.map((value) => signed(value)).join(', ');
  return (
    <svg
      class="strip"
      width={Math.max(8, values.length * 8)}
      height="20"
      role="img"
      aria-label={`Advantages ${text}`}
    >
      {values.map((value, turn) => {
        const height = Math.min(1, Math.abs(value ?? 0) / 2) * 10;
        return (
          <rect
            key={turn}
            class={(value ?? 0) < 0 ? 'down' : 'up'}
            x={turn * 8}
            y={(value ?? 0) < 0 ? 10 : 10 - height}
            width="6"
            height={Math.max(1, height)}
          />
        );
      })}
    </svg>
  );
}
