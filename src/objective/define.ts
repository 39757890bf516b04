/** What every objective says about itself, so that help, docs and refusals come from the code. */

import type { z } from 'zod';
import { parseStrict } from '../core/parse-strict.ts';
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
  (options?: z.input<Schema>): Objective;
  readonly description: ObjectiveDescription;
  /** Strict, with a default and a description for every field. */
  readonly schema: Schema;
}

/** Binds a description and settings to the function that makes the objective. Its key follows from both. */
export function defineObjective<Schema extends z.ZodType>(
  description: ObjectiveDescription,
  schema: Schema,
  make: (options: z.output<Schema>) => Omit<Objective, 'key'>,
): ObjectiveMethod<Schema> {
  const create = (given?: z.input<Schema>): Objective => {
    const options = parseStrict(schema, given ?? {}, `Objective "${description.name}"`);
    return { ...make(options), key: `${description.name} ${JSON.stringify(options)}` };
  };
  return Object.assign(create, { description, schema });
}
