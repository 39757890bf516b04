/**
 * Definitions: methods, losses and the like, built in or a user's. A `define…` function tags each with its kind, a text, so
 * that one made with another copy of this package is known too.
 */

import { TurnwiseError } from './errors.ts';
import { isThenable, thrownText, valueText } from './safe-text.ts';

export type DefinitionKind =
  | 'credit-method'
  | 'reward-shaping'
  | 'objective'
  | 'context'
  | 'tasks'
  | 'turns'
  | 'curation'
  | 'prompts'
  | 'proposer'
  | 'recipe';

/** What each kind is called, and what makes one. */
export const DEFINITION_WORDS: Readonly<
  Record<DefinitionKind, { readonly noun: string; readonly maker: string }>
> = {
  'credit-method': { noun: 'credit method', maker: 'defineCreditMethod' },
  'reward-shaping': { noun: 'reward shaping', maker: 'defineShaping' },
  objective: { noun: 'objective', maker: 'defineObjective' },
  context: { noun: 'context', maker: 'defineContext' },
  tasks: { noun: 'source of tasks', maker: 'defineTasks' },
  turns: { noun: 'turn control', maker: 'defineTurns' },
  curation: { noun: 'curation', maker: 'defineCuration' },
  prompts: { noun: 'source of prompts', maker: 'definePrompts' },
  proposer: { noun: 'proposer', maker: 'defineProposer' },
  recipe: { noun: 'recipe', maker: 'defineRecipe' },
};

/** Whose code it is, for messages: `Turn control "again"`. */
export function subjectOf(kind: DefinitionKind, name: string): string {
  const { noun } = DEFINITION_WORDS[kind];
  return `${noun[0]!.toUpperCase()}${noun.slice(1)} "${name}"`;
}

/** The kind that a value is tagged with; undefined where it is no definition. */
export function kindOf(value: unknown): DefinitionKind | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return undefined;
  const { kind, name } = value as { readonly kind?: unknown; readonly name?: unknown };
  if (typeof kind !== 'string' || !Object.hasOwn(DEFINITION_WORDS, kind)) return undefined;
  return typeof name === 'string' && name !== '' ? (kind as DefinitionKind) : undefined;
}

/**
 * Call the code of a definition.
 *
 * @param subject whose code it is, for messages: `Credit method "halves" of /home/me/halves.ts`
 * @throws TurnwiseError `definition-failed` for whatever it throws, unless that is a TurnwiseError already
 */
export function callDefinition<T>(subject: string, work: () => T): T {
  let result: T;
  try {
    result = work();
  } catch (cause) {
    if (TurnwiseError.isInstance(cause)) throw cause;
    throw new TurnwiseError('definition-failed', {
      what: `${subject} threw an error`,
      seen: thrownText(cause),
      next: 'Correct it, then run the same command again',
      fields: { definition: subject },
      cause,
    });
  }
  if (isThenable(result)) throw badDefinition(subject, 'is asynchronous', 'a promise', 'a result at once');
  return result;
}

/** A definition gave something that cannot be used. `problem` goes on after its name. */
export function badDefinition(
  subject: string,
  problem: string,
  seen: unknown,
  allowed: string,
): TurnwiseError {
  return new TurnwiseError('definition-invalid', {
    what: `${subject} ${problem}`,
    seen: typeof seen === 'string' ? seen : valueText(seen),
    allowed,
    fields: { definition: subject },
  });
}
