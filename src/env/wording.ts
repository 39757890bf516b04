/**
 * Two wordings of one world. Word models read the compact one, a few whole words a turn; models that read get the natural
 * one: instructions, the form of an action, an example, and sentences. States, actions and rewards are the same in both.
 */

import { z } from 'zod';
import { assistant, type Message, system, user } from '../core/messages.ts';
import type { Role } from './session.ts';

export type Wording = 'compact' | 'natural';

/**
 * The option of a world that has two wordings. A run sets it to `natural` where its model is a pretrained one, unless it
 * was set.
 *
 * @example
 * defineWorld({ …, options: z.strictObject({ wording: wordingOption }), create: ({ wording }) => fromEnvironment(mine, { wording }) })
 */
export const wordingOption: z.ZodDefault<z.ZodEnum<{ compact: 'compact'; natural: 'natural' }>> = z
  .enum(['compact', 'natural'])
  .default('compact')
  .describe(
    'compact: a few whole words, for word models; natural: instructions and sentences, for models that read',
  );

/** The options of a world for a model that reads: the natural wording, where there is one. */
export function optionsForReaders(options: z.ZodType): { readonly wording?: 'natural' } {
  const wording =
    options instanceof z.ZodObject ? (options.shape.wording as z.ZodType | undefined) : undefined;
  return wording?.safeParse('natural').success === true ? { wording: 'natural' } : {};
}

/** What a model reads, and what it writes back. */
export type ExampleTurn = readonly [observation: string, action: string];

/**
 * How a natural conversation opens. The example stands in turns of its own and not in the instructions, since models copy
 * the form of an answer from turns (docs/write-an-environment.md has the figures).
 */
export function naturalOpening(
  instructions: string,
  example: readonly ExampleTurn[],
  observation: string,
): readonly Message[] {
  const shown = example.flatMap(([read, written]) => [user(read), assistant(written)]);
  return [system(instructions), ...shown, user(observation)];
}

/** A game in words for models that read, which are told its rules once. */
export interface GameWording<State> {
  /** Said first, as the system message: the game, the form of an action. */
  readonly rules: string;
  /** Turns of another game, each as it is read and answered. */
  readonly example: readonly ExampleTurn[];
  /** Whether the role that is to move in `state` moves for the first time. */
  isFirstTurn(state: State): boolean;
  toMove(state: State): Role | undefined;
  /** What `role` reads in `state`. */
  observe(state: State, role: Role): string;
}

/**
 * The `natural` of a game: the rules and an example before the first turn of each role, then one message a turn.
 *
 * @example
 * defineGame({ …, toMove, natural: gameSentences({ rules: RULES, example: [['Your card is K.', 'bet']], isFirstTurn, toMove, observe }) })
 */
export function gameSentences<State>({
  rules,
  example,
  isFirstTurn,
  toMove,
  observe,
}: GameWording<State>): (state: State, role: Role) => readonly Message[] {
  return (state, role) =>
    toMove(state) === role && isFirstTurn(state)
      ? naturalOpening(rules, example, observe(state, role))
      : [user(observe(state, role))];
}
