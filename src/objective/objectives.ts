/** All objectives: the one place where names meet losses. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../core/errors.ts';
import { advantageWeighted } from './advantage-weighted.ts';
import { aepoClip } from './aepo-clip.ts';
import { archerActor, archerCritic, archerIql } from './archer.ts';
import { bestOfNExtraction } from './best-of-n.ts';
import { hlGauss, twoHot } from './categorical-value.ts';
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

function entry<Schema extends z.ZodType>(method: ObjectiveMethod<Schema>): ObjectiveEntry {
  const { description, schema } = method;
  return {
    name: description.name,
    description,
    schema,
    create: (options) => method(options as z.input<Schema>),
  };
}

export const objectives: readonly ObjectiveEntry[] = [
  entry(ppoClip),
  entry(policyGradient),
  entry(importanceSampling),
  entry(cispo),
  entry(dro),
  entry(gspo),
  entry(turnPpo),
  entry(aepoClip),
  entry(clipCov),
  entry(klCov),
  entry(truncatedImportanceSampling),
  entry(icepop),
  entry(sequenceMask),
  entry(counterfactual),
  entry(archerActor),
  entry(klPenalty),
  entry(entropyBonus),
  entry(entropySmoothing),
  entry(crossEntropy),
  entry(sftRl),
  entry(gtr),
  entry(advantageWeighted),
  entry(filteredBc),
  entry(selfImitation),
  entry(bestOfNExtraction),
  entry(dpo),
  entry(eto),
  entry(agentQ),
  entry(kto),
  entry(rebel),
  entry(refuel),
  entry(valueLoss),
  entry(hlGauss),
  entry(twoHot),
  entry(archerCritic),
  entry(archerIql),
  entry(ilql),
  entry(mcReturns),
];

/** Those that can be the policy loss of a run. */
export const policyLosses: readonly string[] = objectives
  .filter(({ description }) => description.policyLoss !== undefined)
  .map(({ name }) => name);

/** The objective of that name, or an error that names the nearest. */
export function findObjective(name: string): ObjectiveEntry {
  const found = objectives.find((candidate) => candidate.name === name);
  if (found) return found;
  const names = objectives.map((candidate) => candidate.name);
  const suggestion = nearest(name, names);
  throw new TurnwiseError('unknown-objective', {
    what: 'There is no such objective',
    seen: `"${name}"`,
    allowed: names.join(', '),
    ...(suggestion !== undefined && { next: `Did you mean "${suggestion}"?` }),
    fields: { objective: name },
  });
}
