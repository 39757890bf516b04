/**
 * Recipes: the built-in ones as functions, and what a recipe of one's own is made of.
 *
 * @module
 */

export type { TokenScores } from '../engine/engine.ts';
export { batchOf, type TokenRow } from '../engine/token-batch.ts';
export { type AepoExplorerOptions, aepoExplorer } from '../rollout/explore/aepo.ts';
export { type ArpoExplorerOptions, arpoExplorer } from '../rollout/explore/arpo.ts';
export {
  type BestOfNOptions,
  bestOfNExplorer,
  bestOfTurns,
  expectedBestOf,
} from '../rollout/explore/best-of-n.ts';
export { type FullTreeOptions, fullTreeExplorer } from '../rollout/explore/full-tree.ts';
export { type MctsOptions, mctsExplorer } from '../rollout/explore/mcts.ts';
export { type RolloutMctsOptions, rolloutMctsExplorer } from '../rollout/explore/mcts-rollouts.ts';
export { type ProgramTreeOptions, programTreeExplorer } from '../rollout/explore/program-tree.ts';
export { resetToTurnExplorer } from '../rollout/explore/reset-to-turn.ts';
export type { Search } from '../rollout/explore/searched.ts';
export type { EpisodeTree, Expansion, Explorer } from '../rollout/explore/tree.ts';
export {
  actorCritic as actorCriticSettings,
  type Block,
  balancedBranches as balancedBranchSettings,
  branches as branchSettings,
  clip as clipSettings,
  played as playSettings,
  policyGradient as policyGradientSettings,
  preference as preferenceSettings,
  type Reads,
  replayed as replaySettings,
  taught as teacherSettings,
  trees as treeSettings,
  valueHead as valueHeadSettings,
} from '../train/config/blocks.ts';
export type { Replayed } from '../train/kit/archive.ts';
export { type Candidate, type CreditedSample, minibatches, type SampleScores } from '../train/kit/batch.ts';
export { counterfactuals } from '../train/kit/counterfactuals.ts';
export type { CreditedGroups } from '../train/kit/credit-groups.ts';
export type { At, Kept, Learn, Learned, LearnStep } from '../train/kit/learn.ts';
export { policyGradient } from '../train/kit/policy-gradient.ts';
export { teacherGaps } from '../train/kit/teacher-gaps.ts';
export type { Lesson, Prompt, ReadRow, TrainedModel, Trainer } from '../train/kit/trainer.ts';
export { truthProbabilities } from '../train/kit/truth-probabilities.ts';
export type { FoundFacts } from '../train/kit/turn-facts.ts';
export { type ActorCritic, type ActorStep, actorCritic } from '../train/off-policy/actor-critic.ts';
export { learnFromReplay, type ReplayMethod } from '../train/off-policy/imitation.ts';
export { learnBeside } from '../train/off-policy/mixtures.ts';
export {
  type Example,
  learnFromPreferences,
  type Preferences,
  type Side,
  turnSide,
  wholeSide,
} from '../train/off-policy/preferences.ts';
export {
  byGroup,
  draw,
  keptAs,
  type Remembered,
  recent,
  remember,
  remembers,
} from '../train/off-policy/replay.ts';
export {
  averagedRows,
  countedRow,
  onTurnEnds,
  onTurns,
  type Recorded,
  recordedOf,
  turnReturns,
} from '../train/off-policy/rows.ts';
export { taughtRows } from '../train/off-policy/taught-rows.ts';
export { aepo } from '../train/recipes/branching/aepo.ts';
export { agentR } from '../train/recipes/branching/agent-r.ts';
export { arpo } from '../train/recipes/branching/arpo.ts';
export { malt } from '../train/recipes/branching/malt.ts';
export { treeGrpo } from '../train/recipes/branching/tree-grpo.ts';
export { biLevelGae } from '../train/recipes/critic/bi-level-gae.ts';
export { ppo } from '../train/recipes/critic/ppo.ts';
export { turnGae, turnPpo } from '../train/recipes/critic/turn-ppo.ts';
export { gtr } from '../train/recipes/mixtures/gtr.ts';
export { sftRl } from '../train/recipes/mixtures/sft-rl.ts';
export { spearSil } from '../train/recipes/mixtures/spear-sil.ts';
export { cispo } from '../train/recipes/policy-gradient/cispo.ts';
export { clipCov, klCov } from '../train/recipes/policy-gradient/covariance.ts';
export { dapo } from '../train/recipes/policy-gradient/dapo.ts';
export { drGrpo } from '../train/recipes/policy-gradient/dr-grpo.ts';
export { epo } from '../train/recipes/policy-gradient/epo.ts';
export { grpo } from '../train/recipes/policy-gradient/grpo.ts';
export { gspo } from '../train/recipes/policy-gradient/gspo.ts';
export { icePop, sequenceMaskRecipe, tis } from '../train/recipes/policy-gradient/mismatch.ts';
export { reinforce } from '../train/recipes/policy-gradient/reinforce.ts';
export {
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
} from '../train/recipes/policy-gradient/reinforce-plus-plus.ts';
export { rloo } from '../train/recipes/policy-gradient/rloo.ts';
export { simpleTir } from '../train/recipes/policy-gradient/simpletir.ts';
export { agentQ } from '../train/recipes/preference/agent-q.ts';
export { dpo } from '../train/recipes/preference/dpo.ts';
export { eto } from '../train/recipes/preference/eto.ts';
export { kto } from '../train/recipes/preference/kto.ts';
export { rebel } from '../train/recipes/preference/rebel.ts';
export { refuel } from '../train/recipes/preference/refuel.ts';
export {
  type ChosenRecipe,
  defineRecipe,
  type Recipe,
  type RecipeDefinition,
  type RecipeFunction,
} from '../train/recipes/recipe.ts';
export { findRecipe, recipes } from '../train/recipes/recipes.ts';
export { archer, archerIql } from '../train/recipes/replay/archer.ts';
export { awr } from '../train/recipes/replay/awr.ts';
export { digiQ } from '../train/recipes/replay/digi-q.ts';
export { filteredBc } from '../train/recipes/replay/filtered-bc.ts';
export { sft } from '../train/recipes/replay/sft.ts';
export { ilql, mcReturns } from '../train/recipes/replay/token-values.ts';
export { cory } from '../train/recipes/roles/cory.ts';
export { mars } from '../train/recipes/roles/mars.ts';
export { selfPlay } from '../train/recipes/roles/self-play.ts';
export { waltzRl } from '../train/recipes/roles/waltzrl.ts';
export { distillation } from '../train/recipes/teacher/distillation.ts';
export { onPolicyDistillation } from '../train/recipes/teacher/on-policy-distillation.ts';
export { eGrpo } from '../train/recipes/turns/e-grpo.ts';
export { earl } from '../train/recipes/turns/earl.ts';
export { gRa } from '../train/recipes/turns/g-ra.ts';
export { gigpo } from '../train/recipes/turns/gigpo.ts';
export { hgpo } from '../train/recipes/turns/hgpo.ts';
export { igpo } from '../train/recipes/turns/igpo.ts';
export { matchTir } from '../train/recipes/turns/matchtir.ts';
export { mtGrpo } from '../train/recipes/turns/mt-grpo.ts';
export { spaRl } from '../train/recipes/turns/spa-rl.ts';
export { stepGrpo } from '../train/recipes/turns/step-grpo.ts';
