/** Was the blame put where the value fell? Continuations from each turn, counted, beside the advantages. */

import { useState } from 'preact/hooks';
import type { PlayEvent } from '../../play/messages.ts';
import type { ShownEpisode } from '../../shapes.ts';
import type { GroupAt } from '../navigation/places.ts';
import { Choice } from '../parts/choice.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { share, signed } from '../text/format.ts';
import { useCheckpoints, useWork } from './use-work.ts';

interface MeasureCardProps {
  readonly at: GroupAt;
  readonly episode: ShownEpisode;
  readonly member: number;
  readonly role: string;
  readonly chosen: number | undefined;
  readonly onChoose: (turn: number) => void;
}

type Measured = Extract<PlayEvent, { readonly kind: 'measured' }>;

const amounts = [8, 16, 32, 64];
const usual = 16;

export function MeasureCard(props: MeasureCardProps) {
  const { at, episode, member } = props;
  const [wanted, want] = useState(false);
  const [continuations, setContinuations] = useState(usual);
  const { all, nearest } = useCheckpoints(at, episode);
  const [asked, ask] = useState<number | undefined>();
  const checkpoint = asked ?? nearest;
  const work = useWork({ at, episode, member, work: 'measure', wanted, checkpoint, continuations });
  const measured = work.events.flatMap((event) => (event.kind === 'measured' ? [event] : []));
  const of = measured[0]?.of;
  if (all.length === 0) return null;
  return (
    <section class="card measure" aria-label="Measure">
      <div class="card-head">
        <h2>Value of each turn</h2>
        <button type="button" aria-pressed={wanted} onClick={() => want(!wanted)}>
          {!wanted ? 'Measure this episode' : work.isDone || work.problem ? 'Clear' : 'Cancel'}
        </button>
      </div>
      <div class="tools wrap">
        <Choice
          label="continuations"
          value={continuations}
          options={amounts.map((one) => [one, String(one)])}
          onChange={(amount) => setContinuations(Number(amount))}
        />
        <Choice
          label="of checkpoint"
          value={checkpoint ?? 0}
          options={all.map((one) => [one, String(one)])}
          onChange={(step) => ask(Number(step))}
        />
      </div>
      {work.problem && (
        <p class="red small" role="alert">
          {work.problem.message}
        </p>
      )}
      {wanted && !work.problem && !work.isDone && (
        <p class="ink2 small" role="status">
          {of === undefined ? 'Opening the checkpoint …' : `${measured.length} of ${of} turns`}
        </p>
      )}
      {measured.length > 0 && <Values {...props} measured={measured} isDone={work.isDone} />}
      <p class="ink2 small">
        {measured.length === 0
          ? 'Plays on from before each turn and counts the successes.'
          : 'Success of the continuations from before each turn, with its 95 % interval; what the turn changed; the advantage that credit gave. Nothing of it is stored.'}
      </p>
    </section>
  );
}

interface ValuesProps extends MeasureCardProps {
  readonly measured: readonly Measured[];
  readonly isDone: boolean;
}

function Values({ episode, role, chosen, measured, isDone, onChoose }: ValuesProps) {
  const values = measured.map(({ roles }) => roles[role]?.success);
  // After the last turn there is nothing to guess.
  const ends = isDone ? [...values, episode.success[role] ? 1 : 0] : values;
  return (
    <table class="rows plain">
      <TableHead columns={['Turn', 'Success before it', { right: 'Change' }, { right: 'A' }]} />
      <tbody>
        {measured.map(({ turn, roles }, index) => {
          const own = roles[role];
          const [before, after] = [ends[index], ends[index + 1]];
          return (
            <tr key={turn} class={turn === chosen ? 'current' : ''}>
              <th scope="row">
                <button type="button" class="turn-number" onClick={() => onChoose(turn)}>
                  {turn + 1}
                </button>
              </th>
              <td>{own && <Interval value={own.success} low={own.interval[0]} high={own.interval[1]} />}</td>
              <td class="right">
                {before === undefined || after === undefined ? '—' : signed(after - before)}
              </td>
              <td class="right">
                {episode.turns[turn]?.role === role ? signed(episode.turns[turn].advantage) : '—'}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface IntervalProps {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

function Interval({ value, low, high }: IntervalProps) {
  return (
    <span class="interval" title={`95 % interval ${share(low)}–${share(high)}`}>
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="band" x={100 * low} width={100 * (high - low)} y="3" height="4" />
        <rect class="dot" x={Math.min(97, 100 * value - 1.5)} width="3" height="10" />
      </svg>
      {share(value)}
      <span class="unseen">
        , 95 % interval {share(low)} to {share(high)}
      </span>
    </span>
  );
}
