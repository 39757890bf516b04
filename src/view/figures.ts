/** The six numbers that say whether a run is well: the same on the page and in the terminal. */

import { capitalized, taskWord } from '../show/task-words.ts';
import type { EvaluationPoint } from './history.ts';
import { count, number, plural, share } from './page/text/format.ts';
import type { RunOverview } from './shapes.ts';

/** Sampler and trainer must compute the same probabilities. */
const klLimit = 1e-5;

export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  /** What is wrong. */
  readonly alarm?: string;
}

export function figuresOf({ latest, history, failed, episodes, metrics }: RunOverview): Figure[] {
  const { evaluations, warnings } = history;
  const first = evaluations[0];
  const last = evaluations.at(-1);
  const kl = latest['policy/kl_sample_train'];
  const failures = Object.values(failed).reduce((sum, one) => sum + one, 0);
  // It comes before the step that it is about.
  const idle = warnings.findLast(({ code, step }) => code === 'nothing-learned' && step === history.step - 1);
  const constant = latest['groups/constant_share'];
  const success = latest['reward/success'];
  return [
    evaluated(`${capitalized(taskWord(history.start))} success`, 'sampled', first, last),
    evaluated('Greedy', 'greedy', first, last),
    {
      name: 'Training success',
      value: share(success),
      note:
        success !== undefined
          ? 'of the last step'
          : history.step === 0
            ? 'no step yet'
            : 'no episode was played',
    },
    {
      name: 'Groups that teach',
      value: constant === null || constant === undefined ? '—' : `${Math.round(100 * (1 - constant))} %`,
      note:
        constant !== undefined
          ? 'the rest have equal returns'
          : history.step === 0
            ? 'no step yet'
            : 'the recipe compares none',
      ...(idle && { alarm: `${capitalized(idle.message)}.` }),
    },
    {
      name: 'Sampler ≠ trainer',
      value: number(kl, 2),
      note: metrics.includes('policy/kl_sample_train') ? 'KL, limit 10⁻⁵' : 'not measured',
      ...(kl !== null &&
        kl !== undefined &&
        kl > klLimit && {
          alarm: `Sampler and trainer disagree: KL ${number(kl, 2)} is over 10⁻⁵, so importance weights are off.`,
        }),
    },
    {
      name: 'Failed episodes',
      value: count(failures),
      note: `of ${count(episodes)} · ${plural(warnings.length, 'warning')}`,
      ...(failures > 0 && {
        alarm: `${plural(failures, 'episode')} failed: ${Object.entries(failed)
          .map(([origin, many]) => `${origin} ${count(many)}`)
          .join(', ')}. They are never learned from.`,
      }),
    },
  ];
}

function evaluated(
  name: string,
  how: 'sampled' | 'greedy',
  first: EvaluationPoint | undefined,
  last: EvaluationPoint | undefined,
): Figure {
  if (!last) return { name, value: '—', note: 'not evaluated yet' };
  const played = last[how];
  if (!played) return { name, value: '—', note: 'not played' };
  const { success, successInterval } = played;
  const interval = successInterval.map((bound) => share(bound)).join('–');
  return {
    name,
    value: share(success, 3),
    note: first?.[how] && first !== last ? `${share(first[how].success, 3)} before · ${interval}` : interval,
  };
}
