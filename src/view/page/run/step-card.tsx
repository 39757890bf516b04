/** The chosen step: how its groups went. A bar lists its groups. */

import { show } from '../navigation/router.ts';
import type { Bar } from './step-summary.ts';

interface StepCardProps {
  readonly step: number;
  /** The step that was asked for, where that one is not stored. */
  readonly asked: number | undefined;
  readonly title: string;
  /** Between the count of a bar and its label, for who cannot see them. */
  readonly unit: string;
  readonly bars: readonly Bar[];
  readonly chosen: string | undefined;
  readonly onStep: (by: number) => void;
}

export function StepCard({ step, asked, title, unit, bars, chosen, onStep }: StepCardProps) {
  const most = Math.max(1, ...bars.map(({ count }) => count));
  return (
    <section class="card step-card" aria-label={`Step ${step}`}>
      <div class="card-head">
        <h2>Step {step}</h2>
        <span class="pair">
          <button type="button" class="keyed" aria-label="Previous stored step" onClick={() => onStep(-1)}>
            <kbd>[</kbd>
          </button>
          <button type="button" class="keyed" aria-label="Next stored step" onClick={() => onStep(1)}>
            <kbd>]</kbd>
          </button>
        </span>
      </div>
      <p class="ink2">
        {asked !== undefined && asked !== step && <>Step {asked} is not stored; this is the nearest. </>}
        {title}
      </p>
      <div class="bars" role="group" aria-label={title}>
        {bars.map(({ name, label, count, isDead }) => (
          <button
            key={name}
            type="button"
            class={`bar${isDead ? ' dead' : ''}`}
            aria-pressed={chosen === name}
            disabled={count === 0}
            onClick={() => show({ bar: chosen === name ? undefined : name })}
          >
            <span class="count">
              {count > 0 ? count : ''}
              <span class="unseen"> {unit} </span>
            </span>
            <span
              class="column"
              style={{ height: `${Math.max(count > 0 ? 3 : 0, (100 * count) / most)}px` }}
            />
            <span class="ink2">
              {label}
              {isDead && <span class="unseen">, equal returns</span>}
            </span>
          </button>
        ))}
      </div>
      <p class="ink3 small">
        {bars.some(({ isDead }) => isDead) &&
          'Hatched groups have equal returns, so no member gets an advantage. '}
        Choose a bar to list its groups.
      </p>
    </section>
  );
}
