/** Proposers: whoever writes new prompts. A model elsewhere, the learner itself, or a script of a user. */

import { badDefinition } from '../core/definition.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { thrownText } from '../core/safe-text.ts';

/** Asks for a text; undefined where nobody answered. */
export type Propose = (messages: readonly Message[]) => Promise<string | undefined>;

/** Asks, and fails where nobody answers. `step` and `call` (in the step, from 0) name the chance of the answer. */
export type Proposer = (
  messages: readonly Message[],
  at: { readonly step: number; readonly call: number; readonly signal: AbortSignal },
) => Promise<string>;

export interface ProposerDefinition {
  readonly name: string;
  /** One line for people. */
  readonly summary?: string;
  /** The answer to messages of a source of prompts. */
  propose(
    messages: readonly Message[],
    at: { readonly step: number; readonly signal: AbortSignal },
  ): string | Promise<string>;
}

/** What `defineProposer` returns. */
export interface DefinedProposer {
  readonly kind: 'proposer';
  readonly name: string;
  readonly summary: string;
  create(options?: unknown, subject?: string): Proposer;
}

/**
 * Define a proposer: a script that writes new prompts in place of a model, for tests and for services of your own. One that
 * throws is a warning, and the step goes on without its answer.
 *
 * @example
 * export const shorter = defineProposer({
 *   name: 'shorter',
 *   summary: 'asks for haste',
 *   propose: (messages) => `${messages.at(-1).content.split('\n')[0]} Be brief.`,
 * });
 *
 * Use it with `--set prompts.proposer=./shorter.ts`, or in code with `settings: { prompts: { name: 'population', proposer: shorter } }`.
 */
export function defineProposer(definition: ProposerDefinition): DefinedProposer {
  const { name, summary = '' } = definition;
  return {
    kind: 'proposer',
    name,
    summary,
    create:
      (_options, subject = `Proposer "${name}"`) =>
      async (messages, { step, signal }) => {
        let text: unknown;
        try {
          text = await definition.propose(structuredClone([...messages]), { step, signal });
        } catch (cause) {
          if (TurnwiseError.isInstance(cause)) throw cause;
          throw new TurnwiseError('definition-failed', {
            what: `${subject} threw an error`,
            seen: thrownText(cause),
            next: 'Correct it, then go on with "turnwise resume"',
            fields: { definition: subject },
            cause,
          });
        }
        if (typeof text === 'string') return text;
        throw badDefinition(subject, 'proposed something that is no text', text, 'a text');
      },
  };
}
