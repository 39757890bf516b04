/** What goes on, and the figures so far. */

import type { Phase } from '../../train/loop/events.ts';
import { count, duration, share, size } from '../../view/page/text/format.ts';
import {
  computer,
  evaluations,
  parameters,
  phase,
  plannedSteps,
  points,
  type State,
  seconds,
  state,
} from './session.ts';

const phases: Readonly<Record<Phase, string>> = {
  demonstrate: 'A script plays demonstrations',
  clone: 'The model imitates them',
  evaluate: 'It plays test tasks',
  train: 'It plays, compares, and learns from the difference',
  finish: 'Done',
};

const states: Readonly<Record<State, string>> = {
  idle: '',
  starting: 'The runtime is loading',
  running: 'It begins',
  finished: 'It has learned',
  stopping: 'Stopping',
  stopped: 'Stopped',
  failed: 'It failed',
};

export function Progress() {
  const now = phase.value;
  const last = points.value.at(-1);
  const [before, latest] = [evaluations.value[0], evaluations.value.at(-1)];
  const said = now && state.value !== 'stopping' ? phases[now.phase] : states[state.value];
  return (
    <>
      <p class="doing" role="status" aria-live="polite">
        <b>{said}</b>
      </p>
      <div class="bar-of-phase">
        <progress
          aria-label="Progress of this phase"
          {...(now && now.total > 0 && { max: now.total, value: now.done })}
          {...(!now && { max: 1, value: state.value === 'finished' ? 1 : 0 })}
        />
        <span class="ink2 small">{now && now.total > 0 && `${count(now.done)} of ${count(now.total)}`}</span>
        <span class="ink3 small">{computer.value}</span>
      </div>
      <dl class="card figures">
        <Figure name="Test success" value={share(latest?.sampled.success)} note={noteOf(before, latest)} />
        <Figure name="Training success" value={share(last?.success)} note="in the last step" />
        <Figure name="Step" value={count(last?.step ?? 0)} note={`of ${count(plannedSteps.value)}`} />
        <Figure name="Episodes" value={count(last?.episodes ?? 0)} note="played to learn from" />
        <Figure name="Time" value={duration(seconds.value)} note="since the start" />
        <Figure
          name="Model"
          value={parameters.value === 0 ? '—' : size(parameters.value)}
          note={
            last && Number.isFinite(last.tokensPerSecond)
              ? `weights, ${size(Math.round(last.tokensPerSecond))} tokens/s`
              : 'weights'
          }
        />
      </dl>
    </>
  );
}

type Point = (typeof evaluations.value)[number];

function noteOf(before: Point | undefined, latest: Point | undefined): string {
  if (!before) return 'after imitation: soon';
  if (latest === before) return 'after imitation alone';
  return `${share(before.sampled.success)} after imitation alone`;
}

function Figure({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
      <dd class="note">{note}</dd>
    </div>
  );
}
