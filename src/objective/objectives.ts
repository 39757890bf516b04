/** All objectives: the one place where names meet losses. */

import type { z } from 'zod';
import { type ErrorParts, TurnwiseError } from '../core/errors.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import { advantageWeighted } from './advantage-weighted.ts';
import { aepoClip } from './aepo-clip.ts';
import { archerActor, archerCritic, archerIql } from './archer.ts';
import { bestOfNExtraction } from './best-of-n.ts';
import { hlGauss, twoHot } from './categorical-value.ts';
import { checkedObjective } from './checked.ts';
import { cispo } from './cispo.ts';
import { clipCov } from './clip-cov.ts';
import { counterfactual } from './counterfactual.ts';
import { crossEntropy } from './cross-entropy.ts';
import type { ObjectiveDescription, ObjectiveMethod } from './define.ts';
import { agentQ, dpo, eto } from './dpo.ts';
import { dro } from './dro.ts';
import { entropyBonus } from './entropy-bonus.ts';
import { entropySmoothing } from './entropy-smoothing.ts';
import { filteredBc } from './filtered-bc.ts';
import { gspo } from './gspo.ts';
import { ilql, mcReturns } from './ilql.ts';
import { gtr, sftRl } from './imitation-mix.ts';
import { importanceSampling } from './importance-sampling.ts';
import { klCov } from './kl-cov.ts';
import { klPenalty } from './kl-penalty.ts';
import { kto } from './kto.ts';
import { icepop, sequenceMask, truncatedImportanceSampling } from './mismatch-correction.ts';
import type { Objective } from './objective.ts';
import { policyGradient } from './policy-gradient.ts';
import { ppoClip } from './ppo-clip.ts';
import { rebel, refuel } from './rebel.ts';
import { selfImitation } from './self-imitation.ts';
import { turnPpo } from './turn-ppo.ts';
import { valueLoss } from './value.ts';

export interface ObjectiveEntry {
  readonly name: string;
  readonly description: ObjectiveDescription;
  /** Strict, with a default and a description for every field. */
  readonly schema: z.ZodType;
  /** The objective with these settings; what it reads and needs is on it. Refuses unknown or invalid settings. */
  create(options?: unknown): Objective;
}

/**
 * How a registry holds an objective. One with a `subject`, what messages call it, is a user's: it is a policy loss, and what it
 * gives is checked.
 */
export function objectiveEntry<Schema extends z.ZodType>(
  method: ObjectiveMethod<Schema>,
  subject?: string,
): ObjectiveEntry {
  const { description, schema } = method;
  const { name } = description;
  const create = (options?: unknown): Objective => method(options as z.input<Schema>, subject);
  if (subject === undefined) return { name, description, schema, create };
  return {
    name,
    description: { policyLoss: {}, ...description },
    schema,
    create: (options) => checkedObjective(create(options), subject),
  };
}

export const objectives: readonly ObjectiveEntry[] = [
  objectiveEntry(ppoClip),
  objectiveEntry(policyGradient),
  objectiveEntry(importanceSampling),
  objectiveEntry(cispo),
  objectiveEntry(dro),
  objectiveEntry(gspo),
  objectiveEntry(turnPpo),
  objectiveEntry(aepoClip),
  objectiveEntry(clipCov),
  objectiveEntry(klCov),
  objectiveEntry(truncatedImportanceSampling),
  objectiveEntry(icepop),
  objectiveEntry(sequenceMask),
  objectiveEntry(counterfactual),
  objectiveEntry(archerActor),
  objectiveEntry(klPenalty),
  objectiveEntry(entropyBonus),
  objectiveEntry(entropySmoothing),
  objectiveEntry(crossEntropy),
  objectiveEntry(sftRl),
  objectiveEntry(gtr),
  objectiveEntry(advantageWeighted),
  objectiveEntry(filteredBc),
  objectiveEntry(selfImitation),
  objectiveEntry(bestOfNExtraction),
  objectiveEntry(dpo),
  objectiveEntry(eto),
  objectiveEntry(agentQ),
  objectiveEntry(kto),
  objectiveEntry(rebel),
  objectiveEntry(refuel),
  objectiveEntry(valueLoss),
  objectiveEntry(hlGauss),
  objectiveEntry(twoHot),
  objectiveEntry(archerCritic),
  objectiveEntry(archerIql),
  objectiveEntry(ilql),
  objectiveEntry(mcReturns),
];

const unknown = (parts: ErrorParts): TurnwiseError => new TurnwiseError('unknown-objective', parts);

const registry: Registry<ObjectiveEntry> = createRegistry(
  { noun: 'objective', field: 'objective', unknown },
  objectives,
);

/** Those that can be the policy loss of a run. */
export const policyLossRegistry: Registry<ObjectiveEntry> = createRegistry(
  { noun: 'policy loss', field: 'objective', unknown },
  objectives.filter(({ description }) => description.policyLoss !== undefined),
);

export const policyLosses: readonly string[] = policyLossRegistry.all.map(({ name }) => name);

/** The built-in objective of that name, or an error that names the nearest. */
export function findObjective(name: string): ObjectiveEntry {
  return registry.find(name);
}
