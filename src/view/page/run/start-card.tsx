/** Before episodes of a step are stored: what goes on, how imitation went, and when to expect the first. */

import type { Phase } from '../../../train/loop/events.ts';
import type { RunOverview } from '../../shapes.ts';
import { TableHead } from '../parts/table-head.tsx';
import { duration, share } from '../text/format.ts';

const doing: Readonly<Record<Phase, string>> = {
  demonstrate: 'Playing demonstrations',
  clone: 'Imitating',
  evaluate: 'Evaluating',
  train: 'Reinforcing: its first step',
  finish: 'Finishing',
};

export function StartCard({ overview: { state, history } }: { readonly overview: RunOverview }) {
  const { phase, imitation, stepEstimate } = history;
  const isRunning = state === 'running';
  if (history.spent?.episodes === 0) {
    return (
      <section class="card" aria-label="Step">
        <h2>No episodes of its own</h2>
        <p class="ink2">It learns from recorded ones.</p>
      </section>
    );
  }
  if (history.step > 0 || (!isRunning && imitation === undefined)) {
    return (
      <section class="card notice" aria-label="Step">
        <h2>No stored episodes</h2>
        <p class="ink2">
          <code>--set rolloutLog=1</code> stores those of every step.
        </p>
      </section>
    );
  }
  const checks = imitation?.checks ?? [];
  const isImitating = phase === 'clone' && imitation !== undefined;
  return (
    <section class="card" aria-label="Step">
      <h2>
        {isRunning && phase ? doing[phase] : 'Before the first step'}
        {isImitating && `, step ${imitation.step} of ${imitation.steps}`}
      </h2>
      {checks.length > 0 && (
        <table class="rows plain">
          <TableHead columns={['', 'Success', 'Valid turns', 'Episodes']} />
          <tbody>
            {checks.map(({ step, success, validShare, episodes }) => (
              <tr key={step}>
                <th scope="row">{step === 0 ? 'untrained' : `imitated ${step} steps`}</th>
                <td>{share(success)}</td>
                <td>{share(validShare)}</td>
                <td>{episodes}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {isRunning && (
        <p class="ink2 small">
          Episodes and curves appear after the first step of reinforcement
          {stepEstimate === undefined ? '' : `; a step takes about ${duration(stepEstimate)}`}.
        </p>
      )}
    </section>
  );
}
