/** Losses over per-token quantities, written on the graph. @module */

export { z } from 'zod';
export { advantageWeighted } from '../objective/advantage-weighted.ts';
export { aepoClip } from '../objective/aepo-clip.ts';
export {
  archerActor,
  archerAdvantage,
  archerCritic,
  archerHeads,
  archerIql,
  archerTargets,
} from '../objective/archer.ts';
export { bestOfN, bestOfNExtraction, type Candidate } from '../objective/best-of-n.ts';
export { hlGauss, twoHot } from '../objective/categorical-value.ts';
export { cispo } from '../objective/cispo.ts';
export { clipCov } from '../objective/clip-cov.ts';
export { combine } from '../objective/combine.ts';
export { counterfactual } from '../objective/counterfactual.ts';
export { crossEntropy } from '../objective/cross-entropy.ts';
export {
  defineObjective,
  type ObjectiveDescription,
  type ObjectiveMethod,
  type PolicyLoss,
} from '../objective/define.ts';
export { agentQ, dpo, eto } from '../objective/dpo.ts';
export { dro } from '../objective/dro.ts';
export { entropyBonus } from '../objective/entropy-bonus.ts';
export {
  type EntropyHistory,
  entropySmoothing,
  extendEntropyHistory,
  smoothingChannels,
  smoothingWeight,
} from '../objective/entropy-smoothing.ts';
export { filteredBc, keepBest } from '../objective/filtered-bc.ts';
export { gspo } from '../objective/gspo.ts';
export { ilql, mcReturns, perturbedLogits } from '../objective/ilql.ts';
export { gtr, imitationShare, sftRl } from '../objective/imitation-mix.ts';
export { importanceSampling } from '../objective/importance-sampling.ts';
export { klCov } from '../objective/kl-cov.ts';
export { klPenalty } from '../objective/kl-penalty.ts';
export { adaptKlCoefficient, klRewards } from '../objective/kl-reward.ts';
export { kto } from '../objective/kto.ts';
export {
  correctMismatch,
  icepop,
  sequenceMask,
  truncatedImportanceSampling,
} from '../objective/mismatch-correction.ts';
export type {
  Objective,
  ObjectiveNeeds,
  Prepared,
  StepStructure,
  StepView,
  TokenSequence,
  TokenTensors,
} from '../objective/objective.ts';
export { findObjective, type ObjectiveEntry, objectives } from '../objective/objectives.ts';
export { agentQPairs, etoPair, mixedValue } from '../objective/pairs.ts';
export { policyGradient } from '../objective/policy-gradient.ts';
export { ppoClip } from '../objective/ppo-clip.ts';
export { onlyTurn, rebel, refuel } from '../objective/rebel.ts';
export {
  isReplayed,
  recalibratedAdvantage,
  replayWeight,
  selfImitation,
} from '../objective/self-imitation.ts';
export { turnPpo } from '../objective/turn-ppo.ts';
export { valueLoss } from '../objective/value.ts';
export { type Aggregation, tokenWeights } from '../objective/weights.ts';
