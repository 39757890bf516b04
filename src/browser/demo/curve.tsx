/** Success by step: test tasks with their interval, and the training tasks behind. */

import { useMemo } from 'preact/hooks';
import { Chart, type ChartProps } from '../../view/page/charts/chart.tsx';
import { smoothed } from '../../view/page/charts/curve.ts';
import { share } from '../../view/page/text/format.ts';
import {
  type EvaluationPoint,
  evaluations,
  plannedSteps,
  points,
  runName,
  type StepPoint,
} from './session.ts';

const smoothing = 0.6;

export function Curve() {
  const chart = useMemo(
    () => linesOf(points.value, evaluations.value, plannedSteps.value),
    [points.value, evaluations.value, plannedSteps.value],
  );
  const said = evaluations.value
    .map(({ step, sampled }) => `step ${step} ${share(sampled.success)}`)
    .join(', ');
  return (
    <section class="card success" aria-label="Success">
      <div class="card-head">
        <h2>Success by step</h2>
        <span class="ink3 small wide">95 % interval shaded</span>
      </div>
      {evaluations.value.length === 0 ? (
        <p class="ink2 before-curve">The curve begins when the model has imitated its demonstrations.</p>
      ) : (
        <Chart {...chart} height={300} axes label={`Test success: ${said}`} />
      )}
      {runName.value.startsWith('frozen-lake') && (
        <p class="ink3 small">
          Training goes back to maps that the agent still fails, so its curve comes to lie below.
        </p>
      )}
      <details>
        <summary>Table of evaluations</summary>
        <table class="rows plain">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Sampled</th>
              <th scope="col">95 % interval</th>
              <th scope="col">Greedy</th>
            </tr>
          </thead>
          <tbody>
            {evaluations.value.map(({ step, sampled, greedy }) => (
              <tr key={step}>
                <th scope="row">{step}</th>
                <td>{share(sampled.success, 3)}</td>
                <td>{sampled.successInterval.map((bound) => share(bound, 3)).join('–')}</td>
                <td>{greedy ? share(greedy.success, 3) : '–'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  );
}

type Drawing = Pick<ChartProps, 'xs' | 'lines' | 'band' | 'range'>;

function linesOf(steps: readonly StepPoint[], held: readonly EvaluationPoint[], planned: number): Drawing {
  const training = new Map(steps.map(({ step }, index) => [step, index]));
  const tests = new Map(held.map((point) => [point.step, point]));
  // The axis is as long as the run from its beginning, so that the curve grows into it.
  const xs = [...new Set([...training.keys(), ...tests.keys(), planned])].sort((a, b) => a - b);
  const smooth = smoothed(
    steps.map(({ step }) => step),
    steps.map(({ success }) => success),
    smoothing,
  );
  const tested = (read: (point: EvaluationPoint) => number): (number | null)[] =>
    xs.map((step) => {
      const point = tests.get(step);
      return point ? read(point) : null;
    });
  return {
    xs,
    lines: [
      {
        colour: 'grey',
        values: xs.map((step) => smooth[training.get(step) ?? -1] ?? null),
        width: 1.75,
        label: 'training tasks',
        short: 'training',
      },
      {
        colour: 'blue',
        width: 2,
        points: true,
        values: tested(({ sampled }) => sampled.success),
        label: 'test tasks',
        short: 'test',
      },
    ],
    band: {
      low: tested(({ sampled }) => sampled.successInterval[0]),
      high: tested(({ sampled }) => sampled.successInterval[1]),
    },
    range: [0, 1],
  };
}
