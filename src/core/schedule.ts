/** Learning-rate schedules: a peak, a linear warm-up, then constant, linear or cosine decay to a fraction of the peak. */

export interface Schedule {
  readonly kind: 'constant' | 'linear' | 'cosine';
  /** Updates over which the value rises linearly to its peak. */
  readonly warmupSteps: number;
  /** Value at the last step as a share of the peak. */
  readonly finalFraction: number;
}

/** The factor on the peak value at `step` (0-based) of `totalSteps`. */
export function scheduleFactor(schedule: Schedule, step: number, totalSteps: number): number {
  if (step < schedule.warmupSteps) return (step + 1) / schedule.warmupSteps;
  if (schedule.kind === 'constant') return 1;
  const span = Math.max(1, totalSteps - 1 - schedule.warmupSteps);
  const progress = Math.min(1, (step - schedule.warmupSteps) / span);
  const remaining = schedule.kind === 'linear' ? 1 - progress : 0.5 * (1 + Math.cos(Math.PI * progress));
  return schedule.finalFraction + (1 - schedule.finalFraction) * remaining;
}
