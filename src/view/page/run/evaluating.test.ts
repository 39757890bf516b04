import { expect, test } from 'vitest';
import type { EvaluationPoint } from '../../history.ts';
import type { SeriesTable } from '../../series.ts';
import { evaluatingSpans } from './evaluating.ts';

const began = 1_000_000;
const curves = (
  steps: readonly number[],
  minutes: readonly number[],
  seconds: readonly number[],
): SeriesTable => {
  const none = new Float64Array(steps.length);
  const mean = Float32Array.from(seconds);
  return {
    ...{ began, bucket: 1 },
    axes: {
      step: Float64Array.from(steps),
      minute: Float64Array.from(minutes),
      ...{ episode: none, turn: none, token: none },
    },
    series: { 'time/step_s': { min: mean, max: mean, mean } },
  };
};
const evaluated = (step: number, minute: number): EvaluationPoint =>
  ({ step, time: began + minute * 60_000 }) as EvaluationPoint;

test('an evaluation shades what it took beside the seconds of its step', () => {
  // The second step ended after 1.5 minutes, its evaluation and its line of the log after three.
  const run = curves([1, 2, 3, 4], [0, 3, 4, 5], [60, 90, 60, 60]);
  const evaluations = [evaluated(0, -2), evaluated(2, 3), evaluated(4, 7.5)];
  expect(evaluatingSpans({ evaluations }, run, 'minute')).toEqual([
    { from: 1.5, to: 3 },
    { from: 5, to: 7.5 },
  ]);
  expect(evaluatingSpans({ evaluations }, run, 'step')).toEqual([]);
});

test('what cannot be placed is not shaded', () => {
  const evaluations = [evaluated(1, 0), evaluated(3, 4)];
  expect(evaluatingSpans({ evaluations }, curves([], [], []), 'minute')).toEqual([]);
  expect(
    evaluatingSpans({ evaluations }, { ...curves([1, 2, 3], [0, 2, 4], []), series: {} }, 'minute'),
  ).toEqual([]);
});
