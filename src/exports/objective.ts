/** Losses over per-token quantities, written on the graph. @module */

export { combine } from '../objective/combine.ts';
export { crossEntropy } from '../objective/cross-entropy.ts';
export type { Objective, TokenTensors } from '../objective/objective.ts';
export { policyGradient } from '../objective/policy-gradient.ts';
export { ppoClip } from '../objective/ppo-clip.ts';
export { valueLoss } from '../objective/value.ts';
export { type Aggregation, tokenWeights } from '../objective/weights.ts';
