/** Stages that end by what is measured: what was seen of the present one, and which have ended. It lies in every checkpoint. */

import { mean } from '../../core/statistics.ts';
import type { TrainConfig } from '../config/config.ts';
import { type Condition, EVALUATED, type StageEnds, stageOf } from '../config/stages.ts';
import type { EvaluationResult, Metrics, StoredEvent } from './events.ts';

/** Plain JSON. */
export interface StageProgress {
  readonly ends: StageEnds;
  /** The stage, by its place in the list, of which the rest speaks. */
  readonly stage: number;
  /** Its last measurements. */
  readonly values: readonly number[];
  /** The last mean of them that was a gain, and how many came since without one. */
  readonly best: number | null;
  readonly since: number;
}

const begun = (ends: StageEnds, stage: number): StageProgress => ({
  ...{ ends, stage },
  ...{ values: [], best: null, since: 0 },
});

/**
 * What is known after a step, counted from 1; undefined where no stage is measured.
 *
 * A measured stage ends with the step whose measurement meets its condition. A step without one, such as a step without an
 * evaluation, changes nothing.
 *
 * @param measured metrics of the step, with those of its evaluation
 */
export function stageProgress(
  { stages }: Pick<TrainConfig, 'stages'>,
  before: StageProgress | undefined,
  step: number,
  measured: Metrics,
): StageProgress | undefined {
  if (!stages.some(({ until }) => typeof until === 'object' && until.metric !== undefined)) return undefined;
  const ends = before?.ends ?? [];
  const stage = stageOf(stages, step, ends);
  const known = before?.stage === stage ? before : begun(ends, stage);
  const { until } = stages[stage] ?? {};
  if (typeof until !== 'object' || until.metric === undefined) return known;
  const value = measured[until.metric];
  if (value === undefined || !Number.isFinite(value)) return known;
  const seen = withValue(known, until, value);
  if (!isMet(until, seen)) return seen;
  return begun(
    stages.map((_, index) => (index === stage ? step : (ends[index] ?? null))),
    stage,
  );
}

function withValue(known: StageProgress, { over, gain }: Condition, value: number): StageProgress {
  const values = [...known.values, value].slice(-over);
  if (values.length < over) return { ...known, values };
  const average = mean(values);
  const { best } = known;
  const isHigher = best === null || average > best + gain;
  return {
    ...known,
    values,
    best: isHigher ? average : best,
    since: isHigher ? 0 : known.since + 1,
  };
}

function isMet({ least, most, plateau, over }: Condition, { values, since }: StageProgress): boolean {
  if (values.length < over) return false;
  const average = mean(values);
  if (least !== undefined) return average >= least;
  if (most !== undefined) return average <= most;
  return since >= plateau!;
}

/** The metrics of a step beside those of its evaluation: `evaluation/success` at temperature 1, `evaluation/greedy/success`. */
export function measuredIn(metrics: Metrics, events: readonly StoredEvent[]): Metrics {
  const evaluation = events.findLast((event) => event.type === 'evaluation');
  if (evaluation === undefined) return metrics;
  const told = (path: string, result: EvaluationResult) =>
    (['success', 'return', 'turns'] as const).map(
      (name) => [`${EVALUATED}${path}${name}`, result[name]] as const,
    );
  const { sampled, greedy } = evaluation;
  return {
    ...metrics,
    ...Object.fromEntries([...told('', sampled), ...(greedy ? told('greedy/', greedy) : [])]),
  };
}

/** Warns after the first step of a stage that lacks what the stage waits for. */
export function unmeasuredStage(
  { stages }: Pick<TrainConfig, 'stages'>,
  ends: StageEnds | undefined,
  step: number,
  metrics: Metrics,
): StoredEvent[] {
  const stage = stageOf(stages, step, ends);
  const { until } = stages[stage] ?? {};
  const isFirst = step === 1 || stageOf(stages, step - 1, ends) !== stage;
  if (!isFirst || typeof until !== 'object' || until.metric === undefined) return [];
  const { metric, steps } = until;
  if (metric in metrics || metric.startsWith(EVALUATED)) return [];
  return [
    {
      type: 'warning',
      code: 'stage-unmeasured',
      message: `step ${step}: stage ${stage + 1} waits for ${metric}, and the step has no such metric; if no later step has it, the stage ${steps === undefined ? 'never ends' : `ends after ${steps} steps`}`,
    },
  ];
}
