/** Prompts that learn beside weights: which instruction a group of episodes reads, and what is made of how it went. */

import { badDefinition } from '../core/definition.ts';
import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import { findNonJson, type Json } from '../core/json/json.ts';
import {
  type At,
  type Defined,
  defineRemembering,
  type Now,
  type Remembering,
  type Remembers,
} from '../core/remembers.ts';
import { thrownText } from '../core/safe-text.ts';
import { ANSWER_MS } from '../core/signals/answer-deadline.ts';
import { IdleDeadline } from '../core/signals/idle-deadline.ts';
import type { Propose } from './proposer.ts';

/** A group of the step with the prompt that its episodes read; '' is none. */
export interface PromptedGroup {
  readonly prompt: string;
  /** Without episodes that failed, and without those of earlier steps. */
  readonly group: Group;
}

export interface PromptSource<O extends object, M extends Json> extends Omit<Remembers<O, M>, 'remember'> {
  /** Whether it can do nothing without a proposer. Refused where the setting `prompts.proposer` names none. */
  readonly proposes?: true;
  /** The prompt that the episodes of a group read before their first turns; '' is none. */
  ask(at: At<O, M> & { readonly group: number }): string;
  /** The prompt of evaluations, and of whoever plays the checkpoint. */
  best(at: Pick<At<O, M>, 'options' | 'memory'>): string;
  /**
   * The memory of the next step, once a step, after the update. `propose` asks the proposer; it gives undefined where there is
   * none, and where it did not answer: then nothing is to be made of that.
   */
  tell?(groups: readonly PromptedGroup[], at: At<O, M> & { readonly propose: Propose }): M | Promise<M>;
}

/** A source of prompts with its options. */
export interface Prompts extends Pick<Remembering, 'subject' | 'options' | 'start'> {
  ask(now: Now & { readonly group: number }): string;
  best(memory: Json): string;
  readonly tell?: (
    groups: readonly PromptedGroup[],
    now: Now & { readonly propose: Propose; readonly signal?: AbortSignal },
  ) => Promise<Json>;
}

/** What `definePrompts` returns. */
export interface DefinedPrompts extends Defined<'prompts', Prompts> {
  readonly proposes: boolean;
}

/**
 * Define a source of prompts: `ask` gives the instruction of a group, `tell` learns from the groups of a step, `best` is the
 * instruction of evaluations. All episodes of a group read the same, so that advantages compare acts and not instructions.
 * Prompt tokens are never trained. Each episode records its prompt.
 *
 * @example
 * // Two instructions in turn; the one that pays more is the best.
 * export const either = definePrompts({
 *   name: 'either',
 *   summary: 'one of two instructions',
 *   options: z.strictObject({ texts: z.array(z.string()).default(['Be quick.', 'Be careful.']).describe('Both') }),
 *   start: () => ({ sums: [0, 0] }),
 *   ask: ({ group, options }) => options.texts[group % 2],
 *   best: ({ memory: { sums }, options }) => options.texts[sums[1] > sums[0] ? 1 : 0],
 *   tell: (groups, { memory: { sums }, options }) => ({
 *     sums: sums.map((sum, index) =>
 *       groups
 *         .filter(({ prompt }) => prompt === options.texts[index])
 *         .reduce((total, { group }) => total + meanOutcome(group), sum),
 *     ),
 *   }),
 * });
 *
 * Use it with `--set prompts=./either.ts`, or in code with `settings: { prompts: { name: either } }`.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`
 */
export function definePrompts<O extends object = Record<never, never>, M extends Json = null>(
  definition: PromptSource<O, M>,
): DefinedPrompts {
  const { proposes = false } = definition;
  const { tell } = definition;
  const defined = defineRemembering('prompts', definition as Remembers<O, M>, ({ at, subject }) => ({
    ask: ({ group, ...now }: Now & { readonly group: number }) =>
      checkedPrompt(
        calling(subject, () => definition.ask({ ...at(now), group })),
        subject,
      ),
    bestOf: (now: Now) =>
      checkedPrompt(
        calling(subject, () => definition.best(at(now))),
        subject,
      ),
    ...(tell && {
      tell: async (
        groups: readonly PromptedGroup[],
        { propose, signal, ...now }: Parameters<NonNullable<Prompts['tell']>>[1],
      ): Promise<Json> => {
        // What the proposer takes is not the time of the source.
        const deadline = new IdleDeadline(ANSWER_MS, () => neverBack(subject));
        const asking: Propose = async (messages) => {
          deadline.pause();
          return propose(messages).finally(() => deadline.go());
        };
        let memory: Json;
        try {
          const work = (async () => tell(groups, { ...at(now), propose: asking }))();
          memory = await deadline.within(work, signal);
        } catch (cause) {
          if (signal?.aborted) throw cause;
          throw failed(subject, cause);
        }
        const strange = findNonJson(memory);
        if (strange === undefined) return memory;
        throw badDefinition(
          subject,
          'remembers something that is not JSON',
          strange,
          'plain JSON: it is in the checkpoint',
        );
      },
    }),
  }));
  return {
    ...defined,
    proposes,
    create(options, subject) {
      const { bestOf, ...made } = defined.create(options, subject);
      return { ...made, best: (memory) => bestOf({ step: 0, memory, rng: noChance }) };
    },
  };
}

/** What is best is no matter of chance. */
const noChance = undefined as unknown as Now['rng'];

function calling(subject: string, work: () => unknown): unknown {
  try {
    return work();
  } catch (cause) {
    throw failed(subject, cause);
  }
}

function neverBack(subject: string): TurnwiseError {
  return new TurnwiseError('definition-failed', {
    what: `${subject} did not come back from \`tell\``,
    seen: `nothing within ${ANSWER_MS} ms, the time of its proposer not counted`,
    next: 'Correct it, then go on with "turnwise resume"',
    fields: { definition: subject },
  });
}

function failed(subject: string, cause: unknown): TurnwiseError {
  if (TurnwiseError.isInstance(cause)) return cause;
  return new TurnwiseError('definition-failed', {
    what: `${subject} threw an error`,
    seen: thrownText(cause),
    next: 'Correct it, then run the same command again',
    fields: { definition: subject },
    cause,
  });
}

function checkedPrompt(prompt: unknown, subject: string): string {
  if (typeof prompt === 'string') return prompt;
  throw badDefinition(subject, 'gave a prompt that is no text', prompt, "a text; '' is no prompt");
}
