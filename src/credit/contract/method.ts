/** What a credit method is: a name, a description that documents are made of, options, and the function itself. */

import type { z } from 'zod';
import { callDefinition, subjectOf } from '../../core/definition.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { CreditField } from '../report/fields.ts';
import type { Credit } from '../report/rollouts.ts';
import { checked } from './checked.ts';

export interface Description {
  /** As `--method` and recipes call it. */
  readonly name: string;
  /** Other names it goes by. Case and hyphens never matter. */
  readonly aliases?: readonly string[];
  readonly title: string;
  /** One line for people. */
  readonly summary: string;
  /** The formula as text, a line each. */
  readonly formula: string;
  readonly source: string;
  /** Numbered differences from the paper, or what was chosen where the paper and its code differ. */
  readonly deviations: readonly string[];
  /** Fields it cannot do without, unless one of `uses` stands in for them, as its deviations say. */
  readonly needs: readonly CreditField[];
  /** Further fields it reads where they are there. */
  readonly uses?: readonly CreditField[];
  /** It replaces or bends the rewards that it is given: what training adds to them, a price of divergence, would be lost. */
  readonly ownRewards?: true;
  /** It compares beyond groups, or remembers: a step that is learned in parts would have other advantages. */
  readonly wholeSteps?: true;
  /** Words after `turnwise credit` that show it. */
  readonly example?: string;
}

export interface CreditMethod extends Description {
  readonly kind: 'credit-method';
  /** Strict, with a default and a description for every field. */
  readonly options: z.ZodType<object>;
  /** Whether tokens of one turn may get different advantages. */
  readonly level: 'turn' | 'token';
  /** Whether it needs a value head. */
  readonly critic?: true;
  /**
   * The method with these settings, and the settings with defaults filled in. Refuses unknown or invalid ones. `subject` is what
   * messages call it.
   */
  create(options?: unknown, subject?: string): { readonly credit: Credit; readonly options: object };
}

/** What an author says of a definition; a name and a summary are enough. */
export type Described<Full extends Description> = Pick<Full, 'name' | 'summary'> &
  Partial<Omit<Full, 'kind' | 'options' | 'create'>>;

/** All fields of a description, empty where nothing was said. */
export function described<Given extends Described<Description>>(given: Given): Given & Description {
  return { title: given.name, formula: '', source: '', deviations: [], needs: [], ...given };
}

/**
 * Define a credit method: from the trajectories of a step to an advantage for each turn, or for each sampled token.
 *
 * @param description a name and one line for people; `needs` lists fields that it cannot do without, so that training refuses
 * environments that lack them; `level: 'token'` where tokens of a turn differ
 * @param schema strict, with a default and a description for every option
 * @param make makes the method of its options. The method is pure apart from the state it is given, plain JSON that lies in
 * every checkpoint. Its results are in the order of the trajectories: `turnAdvantages_K` has one number for each of the K turns,
 * `tokenAdvantages_T` one for each of the T sampled tokens
 *
 * @example
 * export const centred = defineCreditMethod(
 *   { name: 'centred', summary: 'outcome minus a constant' },
 *   z.strictObject({ centre: z.number().default(0.5).describe('What is subtracted') }),
 *   ({ centre }) => (trajectories, state) => ({
 *     credits: trajectories.map(({ id, outcome, turns }) => ({
 *       id,
 *       turnAdvantages_K: turns.map(() => outcome - centre),
 *     })),
 *     state,
 *   }),
 * );
 *
 * Use it with `--set credit.method=./centred.ts`, or in code with `settings: { credit: { method: centred } }`.
 *
 * @throws TurnwiseError when it is used: `credit-not-finite`, `definition-invalid`, `definition-failed`
 */
export function defineCreditMethod<Options extends object>(
  description: Described<CreditMethod>,
  schema: z.ZodType<Options>,
  make: (options: Options) => Credit,
): CreditMethod {
  return {
    level: 'turn',
    ...described(description),
    kind: 'credit-method',
    options: schema,
    create(given = {}, subject = subjectOf('credit-method', description.name)) {
      const options = parseStrict(schema, given, subject);
      return {
        credit: checked(
          callDefinition(subject, () => make(options)),
          subject,
        ),
        options,
      };
    },
  };
}
