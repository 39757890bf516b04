/** Experiments about methods that learn from the episodes of the step. */

import type { Experiment } from './experiment.ts';
import { answerLength } from './experiments/answer-length.ts';
import { arpo } from './experiments/arpo.ts';
import { cispo } from './experiments/cispo.ts';
import { clipping } from './experiments/clipping.ts';
import { cooperation } from './experiments/cooperation.ts';
import { counterfactuals } from './experiments/counterfactuals.ts';
import { covariance, noisyVerdicts } from './experiments/covariance.ts';
import { critic } from './experiments/critic.ts';
import { dapo } from './experiments/dapo.ts';
import { eGrpo } from './experiments/e-grpo.ts';
import { epo } from './experiments/epo.ts';
import { gRa } from './experiments/g-ra.ts';
import { gigpo } from './experiments/gigpo.ts';
import { gradients } from './experiments/gradients.ts';
import { hgpo } from './experiments/hgpo.ts';
import { mismatch, staleSteps } from './experiments/mismatch.ts';
import { refinement } from './experiments/refinement.ts';
import { rewardScales } from './experiments/reward-scales.ts';
import { roles } from './experiments/roles.ts';
import { searchTrees } from './experiments/search-trees.ts';
import { sequenceRatios } from './experiments/sequence-ratios.ts';
import { simpletir } from './experiments/simpletir.ts';
import { singleEpisodes } from './experiments/single-episodes.ts';
import { smallGroups } from './experiments/small-groups.ts';
import { spaRl } from './experiments/spa-rl.ts';
import { stepScores } from './experiments/step-scores.ts';
import { turnGae } from './experiments/turn-gae.ts';
import { turnRatios } from './experiments/turn-ratios.ts';
import { turnRewards } from './experiments/turn-rewards.ts';
import { voidTurns } from './experiments/void-turns.ts';

export const onPolicyExperiments: readonly Experiment[] = [
  gigpo,
  turnRewards,
  turnGae,
  hgpo,
  gRa,
  spaRl,
  stepScores,
  eGrpo,
  epo,
  voidTurns,
  simpletir,
  cispo,
  dapo,
  roles,
  cooperation,
  arpo,
  gradients,
  rewardScales,
  singleEpisodes,
  smallGroups,
  answerLength,
  critic,
  clipping,
  turnRatios,
  sequenceRatios,
  counterfactuals,
  searchTrees,
  refinement,
  covariance,
  noisyVerdicts,
  mismatch,
  staleSteps,
];
