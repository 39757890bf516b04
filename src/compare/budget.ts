/** How much each run of a comparison may spend, and on which axis its curve is read. */

import { TurnwiseError } from '../core/errors.ts';
import type { Spend } from '../train/loop/events.ts';

/** What is counted for every run: episodes played, environment steps, tokens processed, seconds of acting and learning. */
export type CostAxis = keyof Spend;

export const costAxes: readonly CostAxis[] = ['episodes', 'turns', 'tokens', 'seconds'];

export interface Budget {
  readonly axis: CostAxis | 'steps';
  readonly amount: number;
}

const factors: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6 };

/**
 * `steps=20`, `episodes=5k`, `turns=100k`, `tokens=1.5M`, `seconds=90`, `minutes=1.5`
 *
 * @throws TurnwiseError `option-value`
 */
export function parseBudget(text: string): Budget {
  const match = /^(steps|episodes|turns|tokens|seconds|minutes)=(\d+(?:\.\d+)?)([kM]?)$/i.exec(
    text.replaceAll('_', ''),
  );
  const unit = match?.[1]?.toLowerCase() as Budget['axis'] | 'minutes' | undefined;
  const amount = Number(match?.[2]) * (factors[match?.[3]?.toLowerCase() ?? ''] ?? Number.NaN);
  if (unit === 'minutes' && amount > 0) return { axis: 'seconds', amount: 60 * amount };
  if (
    unit !== undefined &&
    unit !== 'minutes' &&
    amount > 0 &&
    (unit === 'seconds' || Number.isInteger(amount))
  ) {
    return { axis: unit, amount };
  }
  throw new TurnwiseError('option-value', {
    what: 'The value of --budget is not allowed',
    seen: text,
    allowed:
      'steps=N, episodes=N, turns=N, tokens=N, seconds=N or minutes=N, above 0, such as steps=20, episodes=5k or minutes=1.5',
    fields: { option: '--budget' },
  });
}

export function budgetText({ axis, amount }: Budget): string {
  return `${axis}=${amount}`;
}

/** More steps than anybody waits for, where something else ends a run. */
export const unlimitedSteps = 1_000_000;

/** As settings of a run. The rate decays over the share of the budget that is spent, whatever its axis. */
export function budgetSettings(budget: Budget | undefined): readonly string[] {
  if (budget === undefined) return [];
  const { axis, amount } = budget;
  if (axis === 'steps') return [`steps=${amount}`];
  const limit = axis === 'seconds' ? `minutes=${amount / 60}` : `${axis}=${amount}`;
  return [`steps=${unlimitedSteps}`, `budget.${limit}`];
}
