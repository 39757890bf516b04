/** Proposers: whoever writes new prompts. A model elsewhere, the learner itself, or a script of a user. */

import { badDefinition } from '../core/definition.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { thrownText } from '../core/safe-text.ts';
import { ANSWER_MS, withinDeadline } from '../core/signals/answer-deadline.ts';

/** Asks for a text; undefined where nobody answered. */
export type Propose = (messages: readonly Message[]) => Promise<string | undefined>;

/** An answer, and the name of whoever wrote it. */
export interface Proposal {
  readonly text: string;
  readonly by: string;
}

/** Asks, and fails where nobody answers. `step` and `call` (in the step, from 0) name the chance of the answer. */
export type Proposer = (
  messages: readonly Message[],
  at: { readonly step: number; readonly call: number; readonly signal: AbortSignal },
) => Promise<Proposal>;

type Answer = string | Proposal;

export interface ProposerDefinition {
  readonly name: string;
  /** One line for people. */
  readonly summary?: string;
  /**
   * The answer to messages of a source of prompts: a text, or `{ text, by }` with the name of the model that wrote it, which the log
   * keeps in place of the proposer's. `signal` is aborted where it takes longer than five minutes, and where the run ends.
   */
  propose(
    messages: readonly Message[],
    at: { readonly step: number; readonly signal: AbortSignal },
  ): Answer | Promise<Answer>;
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
 * throws, or gives no answer within five minutes, is a warning, and the step goes on without it.
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
        const failed = (what: string, seen: string, next: string, cause?: unknown): TurnwiseError =>
          new TurnwiseError('definition-failed', {
            ...{ what: `${subject} ${what}`, seen, next, fields: { definition: subject } },
            ...(cause !== undefined && { cause }),
          });
        let answer: unknown;
        try {
          answer = await withinDeadline(
            (own) => definition.propose(structuredClone([...messages]), { step, signal: own }),
            {
              signal,
              late: () =>
                failed(
                  'gave no answer',
                  `nothing within ${ANSWER_MS} ms`,
                  'Have it heed `signal`, and answer sooner',
                ),
            },
          );
        } catch (cause) {
          if (signal.aborted || TurnwiseError.isInstance(cause)) throw cause;
          throw failed(
            'threw an error',
            thrownText(cause),
            'Correct it, then go on with "turnwise resume"',
            cause,
          );
        }
        const { text, by = name } = (typeof answer === 'string' ? { text: answer } : (answer ?? {})) as {
          readonly text?: unknown;
          readonly by?: unknown;
        };
        if (typeof text === 'string' && typeof by === 'string') return { text, by };
        throw badDefinition(subject, 'proposed something that is no text', answer, 'a text, or { text, by }');
      },
  };
}
