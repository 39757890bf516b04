/** How much of what a run may spend is spent: steps, and where they are limited tokens and minutes. */

import type { TrainConfig } from './config.ts';

export interface Spent {
  /** Steps taken. */
  readonly step: number;
  readonly tokens: number;
  /** Spent acting and learning. */
  readonly seconds: number;
}

type Limits = Pick<TrainConfig, 'steps' | 'budget'>;

/** The share that is spent of whatever runs out first; 1 or more is the end. */
export function spentShare({ steps, budget }: Limits, { step, tokens, seconds }: Spent): number {
  const share = (spent: number, limit: number): number => (limit === 0 ? 0 : spent / limit);
  return Math.max(
    steps === 0 ? 1 : step / steps,
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
