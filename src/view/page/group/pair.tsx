/** Two members side by side, turn by turn, the first difference marked. */

import { useRef, useState } from 'preact/hooks';
import type { MemberOutline, ShownEpisode, ShownTurn } from '../../shapes.ts';
import { useLoaded } from '../data/loaded.ts';
import { useKeys } from '../navigation/keys.ts';
import { episodeAddress, episodeQuery, type GroupAt, textQuery } from '../navigation/places.ts';
import { show } from '../navigation/router.ts';
import { Choice } from '../parts/choice.tsx';
import { Link } from '../parts/link.tsx';
import { LongText } from '../parts/long-text.tsx';
import { Mark } from '../parts/members.tsx';
import { Failed, Waiting } from '../parts/states.tsx';
import { number, signed } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { divergence } from './prefix-tree.ts';

interface PairProps {
  readonly at: GroupAt;
  readonly members: readonly MemberOutline[];
  readonly role: string;
  readonly left: number;
  readonly right: number;
}

export function Pair(props: PairProps) {
  const { at, members, role, left, right } = props;
  const episodes = [left, right].map((member) => useLoaded<ShownEpisode>(episodeQuery(at, member)));
  const outlines = [left, right].map((member) => members.find((one) => one.member === member)!);
  const part = divergence(outlines);
  const problem = episodes.find((one) => one.problem)?.problem;
  if (problem) return <Failed problem={problem} />;
  const [first, second] = episodes.map(({ value }) => value);
  if (!first || !second) return <Waiting lines={6} />;
  const shown = [first, second];
  const turns = shown.map((episode) => episode.turns.filter((turn) => turn.role === role));
  return (
    <Rows {...props} key={`${left} ${right}`} shown={shown} turns={turns} outlines={outlines} part={part} />
  );
}

interface RowsProps extends PairProps {
  readonly shown: readonly ShownEpisode[];
  readonly turns: readonly (readonly ShownTurn[])[];
  readonly outlines: readonly MemberOutline[];
  readonly part: number | undefined;
}

function Rows({ at, members, left, right, shown, turns, outlines, part }: RowsProps) {
  const [chosen, choose] = useState<number | undefined>();
  const holder = useRef<HTMLElement>(null);
  const rows = Math.max(...turns.map(({ length }) => length));
  const differences = Array.from({ length: rows }, (_, row) => row).filter(
    (row) => turns[0]?.[row]?.action !== turns[1]?.[row]?.action,
  );
  const toDifference = (by: 1 | -1): void => {
    const place = chosen === undefined ? (by > 0 ? -1 : differences.length) : differences.indexOf(chosen);
    const next = differences[place + by];
    if (next === undefined) return;
    choose(next);
    holder.current?.querySelectorAll('.pair-row')[next]?.scrollIntoView({ block: 'center' });
  };
  useKeys([
    { key: 'n', does: 'next turn at which the two differ', act: () => toDifference(1) },
    { key: 'N', does: 'previous one', act: () => toDifference(-1) },
  ]);
  return (
    <section ref={holder} class="card" aria-label="Side by side">
      <div class="card-head">
        <h2>Side by side</h2>
        <span class="ink2 small">
          {part === undefined ? 'They never part.' : `They part at turn ${part + 1}.`}
        </span>
      </div>
      <div class="pair-heads">
        {[left, right].map((member, side) => (
          <div key={side === 0 ? 'left' : 'right'}>
            <Choice
              label={`${side === 0 ? 'Left' : 'Right'} member`}
              isUnseen
              value={member}
              options={members.map((one) => [
                one.member,
                `member ${one.member}, ${one.success ? 'succeeded' : 'failed'}`,
              ])}
              onChange={(next) => show({ [side === 0 ? 'a' : 'b']: next })}
            />
            <Link to={episodeAddress(at, member)}>open</Link>
          </div>
        ))}
      </div>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class={`pair-row${part === row ? ' parts' : ''}${chosen === row ? ' chosen' : ''}`}>
          {turns.map((own, side) => (
            <Side
              key={side === 0 ? 'left' : 'right'}
              at={at}
              member={side === 0 ? left : right}
              episode={shown[side]!}
              turn={own[row]}
              number={row + 1}
            />
          ))}
        </div>
      ))}
      <div class="pair-row">
        {outlines.map(({ member, success, stop, return: outcome }) => (
          <p key={member}>
            <Mark member={member} success={success} /> return {number(outcome)}, {stop}
          </p>
        ))}
      </div>
    </section>
  );
}

interface SideProps {
  readonly at: GroupAt;
  readonly member: number;
  readonly episode: ShownEpisode;
  readonly turn: ShownTurn | undefined;
  readonly number: number;
}

function Side({ at, member, episode, turn, number: count }: SideProps) {
  if (!turn) return <div class="side ink3">—</div>;
  const calls = episode.calls.flatMap((call, index) =>
    turn.calls.includes(call.id) ? [{ call, index }] : [],
  );
  return (
    <div class="side">
      {calls.flatMap(({ call, index }) =>
        call.messages.map((message, place) => (
          <div key={`${call.id} ${place}`} class="ink2 read">
            <LongText
              cut={message.content}
              more={textQuery(at, member, `calls/${index}/messages/${place}`)}
            />
          </div>
        )),
      )}
      <p class="did">
        <span class="turn-number">{count}</span>
        <code>{oneLine(turn.action ?? calls.at(-1)?.call.text.text ?? '', 200) || '(nothing)'}</code>
        {!turn.valid && <span class="red small"> invalid</span>}
        <span class="ink2 small">
          {turn.reward !== 0 && <>reward {signed(turn.reward)} </>}A {signed(turn.advantage)}
        </span>
      </p>
    </div>
  );
}
