/** Experiments about methods that learn from the episodes of the step. */

import type { Experiment } from './experiment.ts';
import { arpo } from './experiments/arpo.ts';
import { cispo } from './experiments/cispo.ts';
import { clipping } from './experiments/clipping.ts';
import { covariance, noisyVerdicts } from './experiments/covariance.ts';
import { dapo } from './experiments/dapo.ts';
import { epo } from './experiments/epo.ts';
import { mismatch, staleSteps } from './experiments/mismatch.ts';
import { refinement } from './experiments/refinement.ts';
import { rewardScales } from './experiments/reward-scales.ts';
import { searchTrees } from './experiments/search-trees.ts';
import { sequenceRatios } from './experiments/sequence-ratios.ts';
import { simpletir } from './experiments/simpletir.ts';
import { turnRatios } from './experiments/turn-ratios.ts';

export const onPolicyExperiments: readonly Experiment[] = [
  epo,
  simpletir,
  cispo,
  dapo,
  arpo,
  rewardScales,
  clipping,
  turnRatios,
  sequenceRatios,
  searchTrees,
  refinement,
  covariance,
  noisyVerdicts,
  mismatch,
  staleSteps,
];
