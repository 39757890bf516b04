/** Losses over per-token quantities, written on the graph. @module */

export { z } from 'zod';
export { combine } from '../objective/contract/combine.ts';
export {
  defineObjective,
  type ObjectiveDescription,
  type ObjectiveMethod,
  type PolicyLoss,
} from '../objective/contract/define.ts';
export type {
  Objective,
  ObjectiveNeeds,
  Prepared,
  SegmentLevel,
  StepStructure,
  StepView,
  TokenSequence,
  TokenTargets,
  TokenTensors,
} from '../objective/contract/objective.ts';
export { type Aggregation, tokenWeights } from '../objective/contract/weights.ts';
export {
  archerActor,
  archerAdvantage,
  archerCritic,
  archerHeads,
  archerIql,
  archerTargets,
} from '../objective/critic/archer.ts';
export { bestOfN, bestOfNExtraction, type Candidate } from '../objective/critic/best-of-n.ts';
export { bradleyTerry } from '../objective/critic/bradley-terry.ts';
export { hlGauss, twoHot } from '../objective/critic/categorical-value.ts';
export { ilql, mcReturns, perturbedLogits } from '../objective/critic/ilql.ts';
export { valueLoss } from '../objective/critic/value.ts';
export { advantageWeighted } from '../objective/imitation/advantage-weighted.ts';
export { crossEntropy } from '../objective/imitation/cross-entropy.ts';
export { filteredBc, keepBest } from '../objective/imitation/filtered-bc.ts';
export { forwardKl } from '../objective/imitation/forward-kl.ts';
export { gtr, imitationShare, sftRl } from '../objective/imitation/imitation-mix.ts';
export {
  isReplayed,
  recalibratedAdvantage,
  replayWeight,
  selfImitation,
} from '../objective/imitation/self-imitation.ts';
export { findObjective, type ObjectiveEntry, objectives } from '../objective/objectives.ts';
export { aepoClip } from '../objective/policy-gradient/aepo-clip.ts';
export { cispo } from '../objective/policy-gradient/cispo.ts';
export { clipCov } from '../objective/policy-gradient/clip-cov.ts';
export { counterfactual } from '../objective/policy-gradient/counterfactual.ts';
export { dro } from '../objective/policy-gradient/dro.ts';
export { gspo } from '../objective/policy-gradient/gspo.ts';
export { importanceSampling } from '../objective/policy-gradient/importance-sampling.ts';
export { klCov } from '../objective/policy-gradient/kl-cov.ts';
export {
  correctMismatch,
  icepop,
  sequenceMask,
  truncatedImportanceSampling,
} from '../objective/policy-gradient/mismatch-correction.ts';
export { policyGradient } from '../objective/policy-gradient/policy-gradient.ts';
export { ppoClip } from '../objective/policy-gradient/ppo-clip.ts';
export { turnPpo } from '../objective/policy-gradient/turn-ppo.ts';
export { agentQ, dpo, eto } from '../objective/preference/dpo.ts';
export { kto } from '../objective/preference/kto.ts';
export { agentQPairs, etoPair, mixedValue } from '../objective/preference/pairs.ts';
export { onlyTurn, rebel, refuel } from '../objective/preference/rebel.ts';
export { entropyBonus } from '../objective/regularizer/entropy-bonus.ts';
export {
  type EntropyHistory,
  entropySmoothing,
  extendEntropyHistory,
  smoothingChannels,
  smoothingWeight,
} from '../objective/regularizer/entropy-smoothing.ts';
export { klPenalty } from '../objective/regularizer/kl-penalty.ts';
export { adaptKlCoefficient, klRewards } from '../objective/regularizer/kl-reward.ts';
