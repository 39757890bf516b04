/** All credit methods: the one place where names meet functions. */

import type { z } from 'zod';
import { nearest, TurnwiseError } from '../core/errors.ts';
import { parseStrict } from '../core/parse-strict.ts';
import { drGrpo, drGrpoOptions } from './dr-grpo.ts';
import { gae, gaeOptions } from './gae.ts';
import { gigpo, gigpoOptions } from './gigpo.ts';
import { grpo, grpoOptions } from './grpo.ts';
import { rae, raeOptions } from './rae.ts';
import { reinforce, reinforceOptions } from './reinforce.ts';
import { reinforcePlusPlus, reinforcePlusPlusOptions } from './reinforce-plus-plus.ts';
import { rloo, rlooOptions } from './rloo.ts';
import type { Credit } from './rollouts.ts';

export interface CreditMethod {
  readonly name: string;
  /** Strict, with a default and a description for every field. */
  readonly options: z.ZodType<object>;
  /** One line for people. */
  readonly summary: string;
  readonly source: string;
  /** Whether tokens of one turn may get different advantages. */
  readonly level: 'turn' | 'token';
  /** What trajectories must carry besides rewards. */
  readonly needs: { readonly values?: boolean; readonly anchors?: boolean };
  /** The method with these settings, and the settings with defaults filled in. Refuses unknown or invalid ones. */
  create(options?: unknown): { readonly credit: Credit; readonly options: object };
}

type Description = Omit<CreditMethod, 'options' | 'create'>;

function method<Options extends object>(
  description: Description,
  schema: z.ZodType<Options>,
  make: (options: Options) => Credit,
): CreditMethod {
  return {
    ...description,
    options: schema,
    create(given = {}) {
      const options = parseStrict(schema, given, `Credit method "${description.name}"`);
      return { credit: make(options), options };
    },
  };
}

export const creditMethods: readonly CreditMethod[] = [
  method(
    {
      name: 'reinforce',
      summary: 'discounted return from each turn on',
      source: 'Williams 1992',
      level: 'turn',
      needs: {},
    },
    reinforceOptions,
    reinforce,
  ),
  method(
    {
      name: 'reinforce++',
      summary: 'token returns, normalised over the whole batch',
      source: 'arXiv 2501.03262',
      level: 'token',
      needs: {},
    },
    reinforcePlusPlusOptions,
    reinforcePlusPlus,
  ),
  method(
    {
      name: 'rloo',
      summary: 'outcome minus the mean of the other outcomes of the group',
      source: 'arXiv 2402.14740',
      level: 'turn',
      needs: {},
    },
    rlooOptions,
    rloo,
  ),
  method(
    {
      name: 'grpo',
      summary: 'outcome minus the mean of the group, divided by its standard deviation',
      source: 'arXiv 2402.03300',
      level: 'turn',
      needs: {},
    },
    grpoOptions,
    grpo,
  ),
  method(
    {
      name: 'dr-grpo',
      summary: 'outcome minus the mean of the group',
      source: 'arXiv 2503.20783',
      level: 'turn',
      needs: {},
    },
    drGrpoOptions,
    drGrpo,
  ),
  method(
    {
      name: 'gae',
      summary: 'token advantages from a value head, skipping observations',
      source: 'arXiv 1506.02438',
      level: 'token',
      needs: { values: true },
    },
    gaeOptions,
    gae,
  ),
  method(
    {
      name: 'gigpo',
      summary: 'grpo, plus turns compared with turns that acted in the same state',
      source: 'arXiv 2505.10978',
      level: 'turn',
      needs: { anchors: true },
    },
    gigpoOptions,
    gigpo,
  ),
  method(
    {
      name: 'rae',
      summary: "outcome minus a moving baseline of the role's outcomes, for self-play",
      source: 'arXiv 2506.24119',
      level: 'turn',
      needs: {},
    },
    raeOptions,
    rae,
  ),
];

/** The method of that name, or an error that names the nearest. */
export function findCreditMethod(name: string): CreditMethod {
  const names = creditMethods.map((candidate) => candidate.name);
  const found = creditMethods.find((candidate) => candidate.name === name);
  if (found) return found;
  const suggestion = nearest(name, names);
  throw new TurnwiseError('unknown-credit-method', {
    what: 'There is no such credit method',
    seen: `"${name}"`,
    allowed: names.join(', '),
    ...(suggestion !== undefined && { next: `Did you mean "${suggestion}"?` }),
    fields: { method: name },
  });
}
