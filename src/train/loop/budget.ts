/** How much of what a run may spend is spent: steps, and where they are limited episodes, turns, tokens and minutes. */

import type { TrainConfig } from '../config/config.ts';
import type { Spend } from './events.ts';

export interface Spent extends Spend {
  /** Steps taken. */
  readonly step: number;
}

type Limits = Pick<TrainConfig, 'steps' | 'budget'>;

/** The share that is spent of whatever runs out first; 1 or more is the end. */
export function spentShare(
  { steps, budget }: Limits,
  { step, episodes, turns, tokens, seconds }: Spent,
): number {
  const share = (spent: number, limit: number): number => (limit === 0 ? 0 : spent / limit);
  return Math.max(
    steps === 0 ? 1 : step / steps,
    share(episodes, budget.episodes),
    share(turns, budget.turns),
    share(tokens, budget.tokens),
    share(seconds, budget.minutes * 60),
  );
}

/** How many steps the run will have, judged by what a step has cost so far: schedules decay over these. */
export function plannedSteps(limits: Limits, spent: Spent): number {
  const share = spentShare(limits, spent);
  return share === 0
    ? limits.steps
    : Math.max(spent.step, Math.min(limits.steps, Math.round(spent.step / share)));
}
