/** Modes: before its first act the policy says how it will go about the task, such as at once or with tools. */

import { z } from 'zod';
import type { Part } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { type ContextStrategy, defineContext } from './strategy.ts';

/** The call that chose it; null where it was forced, or nothing was asked yet. */
export type ModesState = { readonly mode: string | null; readonly call: number | null };

/**
 * The policy is asked for its mode once, and reads its answer before every act. Credit knows the mode of an episode (`mode`): the
 * reward shaping `apo` makes modes that cost more earn less where the cheap one would do, and the turn control `modes` gives each
 * its turns. An answer that names none is the last mode. In training a share of the episodes is told its mode instead, drawn evenly,
 * so that each is tried and `apo` can tell what the cheap one is worth; those learn to act in it, not to choose it.
 *
 * Source: A²FM (arXiv 2510.12838). Deviations:
 * 1. Known from its abstract and `apo` from memory; the number of forced episodes and this way of asking are ours.
 * 2. Forcing is drawn for each episode by itself, so a group may have none in the cheap mode.
 */
export const modes: ContextStrategy = defineContext({
  name: 'modes',
  summary: 'all turns, in a mode that the policy chooses first',
  options: z.strictObject({
    modes: z
      .array(z.string().min(1))
      .min(1)
      .default(['instant', 'reasoning', 'agentic'])
      .describe('Names of the modes, the cheapest first'),
    forced: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Share of training episodes that are told their mode'),
    instruction: z
      .string()
      .default('Choose a mode for this task:')
      .describe('The message that asks for a mode, before their names'),
    told: z.string().default('Your mode:').describe('The message that tells a mode, before its name'),
  }),
  gives: ['mode'],
  says: ({ instruction, told, modes: names }) => [instruction, told, ...names],
  start: (): ModesState => ({ mode: null, call: null }),
  async window(view, ask) {
    const { calls, fresh, options, rng, split } = view;
    let { state } = view;
    const head = (from: ModesState): Part[] => {
      if (from.call === null) return [user(`${options.told} ${from.mode}`)];
      return [user([options.instruction, ...options.modes].join(' ')), { call: from.call }];
    };
    if (state.mode === null) {
      if (split === 'train' && rng.chance(options.forced))
        state = { mode: rng.pick(options.modes), call: null };
      else {
        const asked = [...fresh, user([options.instruction, ...options.modes].join(' '))];
        const call = await ask('mode', { parts: asked });
        state = { mode: modeIn(call.text, options.modes), call: call.id };
      }
    }
    const [first, ...acts] = calls.filter(({ purpose }) => purpose === 'act');
    const turns = acts.flatMap(({ id }): Part[] => [{ shown: id }, { call: id }]);
    const parts: readonly Part[] =
      first === undefined
        ? [...fresh, ...head(state)]
        : [{ shown: first.id }, ...head(state), { call: first.id }, ...turns, ...fresh];
    return { conversation: { parts }, state };
  },
  facts: ({ state }) => (state.mode === null ? {} : { mode: state.mode }),
  /** Each as often, so that what is imitated is all of them. */
  script: (_purpose, { options, rng }) => rng.pick(options.modes),
});

/** The mode that a text names; the last one where it names none, or several. */
export function modeIn(text: string, all: readonly string[]): string {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}_-]+/u);
  const named = all.filter((mode) => words.includes(mode.toLowerCase()));
  return named.length === 1 ? named[0]! : all.at(-1)!;
}
