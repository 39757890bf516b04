/** The twin of node/grammar-library.ts: a page carries no library of grammars, so no completion in it is held to a schema. */

import { TurnwiseError } from '../../../../core/errors.ts';
import type { grammarLibrary as inNode } from '../node/grammar-library.ts';

/** @throws TurnwiseError `schema-unsupported`, always */
export const grammarLibrary: typeof inNode = () => {
  throw new TurnwiseError('schema-unsupported', {
    what: 'A completion cannot be held to a JSON Schema in a browser',
    allowed: 'a list of choices',
    next: 'Train with choices, or in Node',
  });
};

export function forgetGrammarLibrary(): void {}
