/** All recipes: the one place where names meet compositions. */

import { nearest, TurnwiseError } from '../../core/errors.ts';
import { agentQ } from './agent-q.ts';
import { archer, archerIql } from './archer.ts';
import { awr } from './awr.ts';
import { digiQ } from './digi-q.ts';
import { dpo } from './dpo.ts';
import { eto } from './eto.ts';
import { filteredBc } from './filtered-bc.ts';
import { grpo } from './grpo.ts';
import { kto } from './kto.ts';
import { ppo } from './ppo.ts';
import { rebel } from './rebel.ts';
import type { Recipe } from './recipe.ts';
import { refuel } from './refuel.ts';
import { reinforcePlusPlus } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';
import { selfPlay } from './self-play.ts';
import { sftRl } from './sft-rl.ts';
import { spearSil } from './spear-sil.ts';
import { ilql, mcReturns } from './token-values.ts';

export const recipes: readonly Recipe[] = [
  rloo,
  grpo,
  reinforcePlusPlus,
  ppo,
  selfPlay,
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
