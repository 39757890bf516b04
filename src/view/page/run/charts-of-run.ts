/** Which metrics a run page draws, and what they are called. Names: docs/metrics.md. */

export interface SmallChart {
  readonly metric: string;
  readonly title: string;
  readonly unit?: string;
  /** Drawn filled under it, where it is measured. */
  readonly part?: { readonly metric: string; readonly name: string };
  readonly transform?: (value: number) => number;
}

export const smallCharts: readonly SmallChart[] = [
  { metric: 'reward/mean', title: 'Return in training' },
  { metric: 'policy/kl', title: 'KL to the sampling policy' },
  { metric: 'policy/entropy', title: 'Entropy', unit: 'nats' },
  { metric: 'policy/clip_fraction', title: 'Clipped tokens' },
  { metric: 'optim/gradient_norm', title: 'Gradient norm' },
  { metric: 'groups/constant_share', title: 'Groups that teach', transform: (value) => 1 - value },
  { metric: 'turns/mean', title: 'Turns an episode' },
  { metric: 'turns/invalid_share', title: 'Invalid turns' },
  {
    metric: 'time/step_s',
    title: 'Seconds a step',
    unit: 's',
    part: { metric: 'time/rollout_s', name: 'acting shaded' },
  },
];

export const trainingSuccess = 'reward/success';
export const exploitability = ['game/exploitability_average', 'game/exploitability_last'] as const;

export const drawnMetrics: readonly string[] = [
  trainingSuccess,
  ...exploitability,
  ...smallCharts.flatMap(({ metric, part }) => [metric, ...(part ? [part.metric] : [])]),
];
