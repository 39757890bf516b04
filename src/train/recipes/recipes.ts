/** All recipes: the one place where names meet compositions. */

import { TurnwiseError } from '../../core/errors.ts';
import { createRegistry } from '../../core/registry.ts';
import { aepo } from './branching/aepo.ts';
import { agentR } from './branching/agent-r.ts';
import { arpo } from './branching/arpo.ts';
import { malt } from './branching/malt.ts';
import { treeGrpo } from './branching/tree-grpo.ts';
import { biLevelGae } from './critic/bi-level-gae.ts';
import { ppo } from './critic/ppo.ts';
import { turnGae, turnPpo } from './critic/turn-ppo.ts';
import { gtr } from './mixtures/gtr.ts';
import { sftRl } from './mixtures/sft-rl.ts';
import { spearSil } from './mixtures/spear-sil.ts';
import { cispo } from './policy-gradient/cispo.ts';
import { clipCov, klCov } from './policy-gradient/covariance.ts';
import { dapo } from './policy-gradient/dapo.ts';
import { drGrpo } from './policy-gradient/dr-grpo.ts';
import { epo } from './policy-gradient/epo.ts';
import { grpo } from './policy-gradient/grpo.ts';
import { gspo } from './policy-gradient/gspo.ts';
import { icePop, sequenceMaskRecipe, tis } from './policy-gradient/mismatch.ts';
import { reinforce } from './policy-gradient/reinforce.ts';
import { reinforcePlusPlus, reinforcePlusPlusBaseline } from './policy-gradient/reinforce-plus-plus.ts';
import { rloo } from './policy-gradient/rloo.ts';
import { simpleTir } from './policy-gradient/simpletir.ts';
import { agentQ } from './preference/agent-q.ts';
import { dpo } from './preference/dpo.ts';
import { eto } from './preference/eto.ts';
import { kto } from './preference/kto.ts';
import { rebel } from './preference/rebel.ts';
import { refuel } from './preference/refuel.ts';
import type { Recipe } from './recipe.ts';
import { archer, archerIql } from './replay/archer.ts';
import { awr } from './replay/awr.ts';
import { digiQ } from './replay/digi-q.ts';
import { filteredBc } from './replay/filtered-bc.ts';
import { sft } from './replay/sft.ts';
import { ilql, mcReturns } from './replay/token-values.ts';
import { cory } from './roles/cory.ts';
import { mars } from './roles/mars.ts';
import { selfPlay } from './roles/self-play.ts';
import { waltzRl } from './roles/waltzrl.ts';
import { distillation } from './teacher/distillation.ts';
import { onPolicyDistillation } from './teacher/on-policy-distillation.ts';
import { eGrpo } from './turns/e-grpo.ts';
import { earl } from './turns/earl.ts';
import { gRa } from './turns/g-ra.ts';
import { gigpo } from './turns/gigpo.ts';
import { hgpo } from './turns/hgpo.ts';
import { igpo } from './turns/igpo.ts';
import { matchTir } from './turns/matchtir.ts';
import { mtGrpo } from './turns/mt-grpo.ts';
import { spaRl } from './turns/spa-rl.ts';
import { stepGrpo } from './turns/step-grpo.ts';

export const recipes: readonly Recipe[] = [
  rloo,
  grpo,
  drGrpo,
  dapo,
  gspo,
  cispo,
  reinforce,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  ppo,
  turnGae,
  turnPpo,
  biLevelGae,
  gigpo,
  hgpo,
  stepGrpo,
  igpo,
  matchTir,
  mtGrpo,
  gRa,
  eGrpo,
  spaRl,
  earl,
  arpo,
  aepo,
  treeGrpo,
  malt,
  epo,
  simpleTir,
  clipCov,
  klCov,
  tis,
  icePop,
  sequenceMaskRecipe,
  selfPlay,
  mars,
  cory,
  waltzRl,
  dpo,
  kto,
  rebel,
  refuel,
  eto,
  agentQ,
  agentR,
  sft,
  filteredBc,
  awr,
  ilql,
  mcReturns,
  archer,
  archerIql,
  digiQ,
  spearSil,
  sftRl,
  gtr,
  onPolicyDistillation,
  distillation,
];

const registry = createRegistry<Recipe>(
  {
    noun: 'recipe',
    field: 'recipe',
    unknown: (parts) => new TurnwiseError('recipe-unknown', parts),
  },
  recipes,
);

/** The recipe of this name; an unknown one is an error that names the nearest. */
export const findRecipe: (name: string) => Recipe = registry.find;
