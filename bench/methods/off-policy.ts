/** Experiments about methods that learn from preferences, from a buffer or from a critic. */

import type { Experiment } from './experiment.ts';
import { archerExperiment } from './experiments/archer.ts';
import { covariateShift } from './experiments/covariate-shift.ts';
import { gtrExperiment } from './experiments/gtr.ts';
import { mixedLoss, selfImitation } from './experiments/mixtures.ts';
import { noisyReturns } from './experiments/noisy-returns.ts';
import { preferences } from './experiments/preferences.ts';
import { recorded } from './experiments/recorded.ts';

export const offPolicyExperiments: readonly Experiment[] = [
  archerExperiment,
  preferences,
  covariateShift,
  recorded,
  selfImitation,
  mixedLoss,
  noisyReturns,
  gtrExperiment,
];
