/** All recipes: the one place where names meet compositions. */

import { nearest, TurnwiseError } from '../../core/errors.ts';
import { aepo } from './aepo.ts';
import { agentQ } from './agent-q.ts';
import { archer, archerIql } from './archer.ts';
import { arpo } from './arpo.ts';
import { awr } from './awr.ts';
import { biLevelGae } from './bi-level-gae.ts';
import { cispo } from './cispo.ts';
import { cory } from './cory.ts';
import { clipCov, klCov } from './covariance.ts';
import { dapo } from './dapo.ts';
import { digiQ } from './digi-q.ts';
import { dpo } from './dpo.ts';
import { drGrpo } from './dr-grpo.ts';
import { eGrpo } from './e-grpo.ts';
import { earl } from './earl.ts';
import { epo } from './epo.ts';
import { eto } from './eto.ts';
import { filteredBc } from './filtered-bc.ts';
import { gRa } from './g-ra.ts';
import { gigpo } from './gigpo.ts';
import { grpo } from './grpo.ts';
import { gspo } from './gspo.ts';
import { gtr } from './gtr.ts';
import { hgpo } from './hgpo.ts';
import { igpo } from './igpo.ts';
import { kto } from './kto.ts';
import { malt } from './malt.ts';
import { mars } from './mars.ts';
import { matchTir } from './matchtir.ts';
import { icePop, sequenceMaskRecipe, tis } from './mismatch.ts';
import { mtGrpo } from './mt-grpo.ts';
import { ppo } from './ppo.ts';
import { rebel } from './rebel.ts';
import type { Recipe } from './recipe.ts';
import { refuel } from './refuel.ts';
import { reinforce } from './reinforce.ts';
import { reinforcePlusPlus, reinforcePlusPlusBaseline } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';
import { selfPlay } from './self-play.ts';
import { sftRl } from './sft-rl.ts';
import { simpleTir } from './simpletir.ts';
import { spaRl } from './spa-rl.ts';
import { spearSil } from './spear-sil.ts';
import { stepGrpo } from './step-grpo.ts';
import { ilql, mcReturns } from './token-values.ts';
import { treeGrpo } from './tree-grpo.ts';
import { turnGae, turnPpo } from './turn-ppo.ts';
import { waltzRl } from './waltzrl.ts';

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
];

/** The recipe of this name; an unknown one is an error that names the nearest. */
export function findRecipe(name: string): Recipe {
  const recipe = recipes.find((candidate) => candidate.name === name);
  if (recipe) return recipe;
  const names = recipes.map((candidate) => candidate.name);
  const near = nearest(name, names);
  throw new TurnwiseError('recipe-unknown', {
    what: `There is no recipe "${name}"`,
    allowed: names.join(', '),
    ...(near ? { next: `Did you mean "${near}"?` } : {}),
    fields: { recipe: name },
  });
}
