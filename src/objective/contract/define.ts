/** What every objective says about itself, so that help, docs and refusals come from the code. */

import type { z } from 'zod';
import { callDefinition, subjectOf } from '../../core/definition.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { Objective } from './objective.ts';

export interface ObjectiveDescription {
  /** As the field names it, in kebab-case. */
  readonly name: string;
  readonly title: string;
  /** One line for people. */
  readonly summary: string;
  /** The loss, in plain text. */
  readonly formula: string;
  /** Papers and code that it follows. */
  readonly source: string;
  /** What its loss is over. */
  readonly family: 'policy' | 'regulariser' | 'imitation' | 'preference' | 'value';
  /** Training makes its channels of episodes and credit, so that it can be the policy loss of a run. */
  readonly policyLoss?: PolicyLoss;
}

/** What a run must know of its policy loss. */
export interface PolicyLoss {
  /**
   * It clips the ratios of tokens, so that the clip of the run is its clip: its options hold it themselves, or under `policy`.
   * Losses that clip the ratios of sequences or turns have bounds of another size, and say them in their own options.
   */
  readonly clipsTokens?: 'options' | 'policy';
  /** It compares the log-probabilities of the sampler with those of the trainer, who must be asked before the first step. */
  readonly trainerLogprobs?: true;
}

/** Makes the objective with these settings; refuses unknown and invalid ones, and fills in defaults. */
export interface ObjectiveMethod<Schema extends z.ZodType = z.ZodType> {
  /** `subject` is what messages call it. */
  (options?: z.input<Schema>, subject?: string): Objective;
  readonly kind: 'objective';
  readonly description: ObjectiveDescription;
  /** Strict, with a default and a description for every field. */
  readonly schema: Schema;
}

/** What an author says of an objective; a name and a summary are enough. Its family is then that of policy losses. */
export type DescribedObjective = Pick<ObjectiveDescription, 'name' | 'summary'> &
  Partial<ObjectiveDescription>;

/**
 * Define an objective: a loss over quantities of tokens, written on the graph of `turnwise/graph`, whose gradient is derived.
 * Its key follows from its name and its options.
 *
 * Tensors are [N]: one number for each target, a token that counts. Sum over targets by `weight`, never average: a target's
 * weight is its share of the loss.
 * A policy loss of a run may read the channels `advantages`, `oldLogprobs` and `turns`; with a critic, `returns` and
 * `oldValues`; with a KL penalty in the loss, `referenceLogprobs` (docs/objectives.md). One that reads log-probabilities alone
 * trains on servers too.
 *
 * @param description a name and one line for people; `policyLoss` says how a run configures it
 * @param schema strict, with a default and a description for every option
 * @param make makes the objective of its options
 *
 * @example
 * export const bounded = defineObjective(
 *   { name: 'bounded', summary: 'log-likelihood times bounded advantage' },
 *   z.strictObject({ bound: z.number().positive().default(2).describe('Largest advantage, either way') }),
 *   ({ bound }) => ({
 *     channels: ['advantages'],
 *     needs: {},
 *     build({ weight, logprobs, channel }) {
 *       const advantages = clamp(channel('advantages'), -bound, bound);
 *       return { loss: negate(sum(multiply(weight, multiply(advantages, logprobs)))), metrics: {} };
 *     },
 *   }),
 * );
 *
 * Use it with `--set objective.name=./bounded.ts`, or in code with `settings: { objective: { name: bounded } }`.
 */
export function defineObjective<Schema extends z.ZodType>(
  description: DescribedObjective,
  schema: Schema,
  make: (options: z.output<Schema>) => Omit<Objective, 'key'>,
): ObjectiveMethod<Schema> {
  const { name } = description;
  const create = (given?: z.input<Schema>, subject = subjectOf('objective', name)): Objective => {
    const options = parseStrict(schema, given ?? {}, subject);
    const made = callDefinition(subject, () => make(options));
    return { ...made, key: `${name} ${JSON.stringify(options)}` };
  };
  const full = { title: name, formula: '', source: '', family: 'policy', ...description } as const;
  return Object.assign(create, { kind: 'objective' as const, description: full, schema });
}
