import { expect, test } from 'vitest';
import type { EvaluationPoint } from '../../history.ts';
import type { SeriesTable } from '../../series.ts';
import { evaluatingSpans } from './evaluating.ts';

const began = 1_000_000;
const minutes = (step: readonly number[], minute: readonly number[]): Pick<SeriesTable, 'axes' | 'began'> => {
  const column = new Float64Array(step.length);
  return {
    began,
    axes: {
      step: Float64Array.from(step),
      minute: Float64Array.from(minute),
      episode: column,
      turn: column,
      token: column,
    },
  };
};
const evaluated = (step: number, minute: number): EvaluationPoint =>
  ({ step, time: began + minute * 60_000 }) as EvaluationPoint;

test('evaluations shade the minutes that they took', () => {
  const curves = minutes([1, 2, 3, 4], [0, 1, 4, 5]);
  const evaluations = [evaluated(0, -2), evaluated(2, 3), evaluated(4, 7.5)];
  expect(evaluatingSpans({ evaluations }, curves, 'minute')).toEqual([
    { from: 1, to: 3 },
    { from: 5, to: 7.5 },
  ]);
  expect(evaluatingSpans({ evaluations }, curves, 'step')).toEqual([]);
});

test('a point that stands for several steps shades from the last one that is told', () => {
  const curves = minutes([4, 8, 12], [1, 3, 6]);
  expect(evaluatingSpans({ evaluations: [evaluated(10, 5)] }, curves, 'minute')).toEqual([
    { from: 3, to: 5 },
  ]);
});
