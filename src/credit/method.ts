/** What a credit method is: a name, a description that documents are made of, options, and the function itself. */

import type { z } from 'zod';
import { parseStrict } from '../core/parse-strict.ts';
import { checked } from './checked.ts';
import type { CreditField } from './fields.ts';
import type { Credit } from './rollouts.ts';

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
  /** Words after `turnwise credit` that show it. */
  readonly example?: string;
}

export interface CreditMethod extends Description {
  /** Strict, with a default and a description for every field. */
  readonly options: z.ZodType<object>;
  /** Whether tokens of one turn may get different advantages. */
  readonly level: 'turn' | 'token';
  /** Whether it needs a value head. */
  readonly critic?: true;
  /** The method with these settings, and the settings with defaults filled in. Refuses unknown or invalid ones. */
  create(options?: unknown): { readonly credit: Credit; readonly options: object };
}

/** A method whose function refuses numbers that are not finite, in and out. */
export function creditMethod<Options extends object>(
  description: Omit<CreditMethod, 'options' | 'create'>,
  schema: z.ZodType<Options>,
  make: (options: Options) => Credit,
): CreditMethod {
  return {
    ...description,
    options: schema,
    create(given = {}) {
      const options = parseStrict(schema, given, `Credit method "${description.name}"`);
      return { credit: checked(make(options)), options };
    },
  };
}
