/** All credit methods: the one place where names meet functions. */

import { TurnwiseError } from '../core/errors.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import { aepo } from './aepo.ts';
import { arpo } from './arpo.ts';
import { biLevelGae } from './bi-level-gae.ts';
import { cory } from './cory.ts';
import { dapo } from './dapo.ts';
import { drGrpo } from './dr-grpo.ts';
import { eGrpo } from './e-grpo.ts';
import { earl } from './earl.ts';
import { gRa } from './g-ra.ts';
import { gae } from './gae.ts';
import { gigpo } from './gigpo.ts';
import { grpo } from './grpo.ts';
import { hgpo } from './hgpo.ts';
import { igpo } from './igpo.ts';
import { malt } from './malt.ts';
import { mars } from './mars.ts';
import { matchTir } from './matchtir.ts';
import type { CreditMethod } from './method.ts';
import { mtGrpo } from './mt-grpo.ts';
import { rae } from './rae.ts';
import { reinforce } from './reinforce.ts';
import { reinforcePlusPlus, reinforcePlusPlusBaseline } from './reinforce-plus-plus.ts';
import { rloo } from './rloo.ts';
import { spaRl } from './spa-rl.ts';
import { spear } from './spear.ts';
import { stepGrpo } from './step-grpo.ts';
import { treeGrpo } from './tree-grpo.ts';
import { turnGae } from './turn-gae.ts';
import { waltzRl } from './waltzrl.ts';

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
