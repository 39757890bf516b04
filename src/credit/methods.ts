/** All credit methods: the one place where names meet functions. */

import { TurnwiseError } from '../core/errors.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import type { CreditMethod } from './contract/method.ts';
import { biLevelGae } from './methods/critic/bi-level-gae.ts';
import { gae } from './methods/critic/gae.ts';
import { turnGae } from './methods/critic/turn-gae.ts';
import { dapo } from './methods/group/dapo.ts';
import { drGrpo } from './methods/group/dr-grpo.ts';
import { grpo } from './methods/group/grpo.ts';
import { reinforce } from './methods/group/reinforce.ts';
import { reinforcePlusPlus, reinforcePlusPlusBaseline } from './methods/group/reinforce-plus-plus.ts';
import { rloo } from './methods/group/rloo.ts';
import { spear } from './methods/group/spear.ts';
import { cory } from './methods/roles/cory.ts';
import { malt } from './methods/roles/malt.ts';
import { mars } from './methods/roles/mars.ts';
import { rae } from './methods/roles/rae.ts';
import { waltzRl } from './methods/roles/waltzrl.ts';
import { teacherKl } from './methods/teacher/teacher-kl.ts';
import { matchTir } from './methods/tools/matchtir.ts';
import { aepo } from './methods/tree/aepo.ts';
import { arpo } from './methods/tree/arpo.ts';
import { treeGrpo } from './methods/tree/tree-grpo.ts';
import { eGrpo } from './methods/turn/e-grpo.ts';
import { earl } from './methods/turn/earl.ts';
import { gRa } from './methods/turn/g-ra.ts';
import { gigpo } from './methods/turn/gigpo.ts';
import { hgpo } from './methods/turn/hgpo.ts';
import { igpo } from './methods/turn/igpo.ts';
import { mtGrpo } from './methods/turn/mt-grpo.ts';
import { spaRl } from './methods/turn/spa-rl.ts';
import { stepGrpo } from './methods/turn/step-grpo.ts';

export const creditMethods: readonly CreditMethod[] = [
  reinforce,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  rloo,
  grpo,
  drGrpo,
  dapo,
  gae,
  turnGae,
  biLevelGae,
  gigpo,
  hgpo,
  stepGrpo,
  igpo,
  matchTir,
  spaRl,
  gRa,
  eGrpo,
  mtGrpo,
  arpo,
  treeGrpo,
  aepo,
  spear,
  earl,
  mars,
  rae,
  cory,
  waltzRl,
  malt,
  teacherKl,
];

export const creditRegistry: Registry<CreditMethod> = createRegistry(
  {
    noun: 'credit method',
    field: 'method',
    lenient: true,
    unknown: (parts) => new TurnwiseError('unknown-credit-method', parts),
  },
  creditMethods,
);

/** The built-in method of that name or alias, whatever its case and hyphens, or an error that names the nearest. */
export function findCreditMethod(name: string): CreditMethod {
  return creditRegistry.find(name);
}
