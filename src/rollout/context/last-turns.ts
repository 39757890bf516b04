/** The latest turns under the opening messages; earlier ones are forgotten, in blocks. */

import { z } from 'zod';
import type { Part } from '../../core/episode.ts';
import { type ContextStrategy, type Conversation, defineContext } from './strategy.ts';

/**
 * When more than `turns` turns, or `tokens` tokens, would stand in the prompt, or too many to leave room for an act (half of the room
 * where acts may be longer than that), the oldest go until half of that is left. In between the prompt only grows, so a token is
 * read at most three times.
 */
export const lastTurns: ContextStrategy = defineContext({
  name: 'last-turns',
  summary: 'the opening and the latest turns',
  options: z.strictObject({
    turns: z.int().min(1).default(8).describe('Most earlier turns in a prompt'),
    tokens: z
      .int()
      .min(0)
      .default(0)
      .describe('Most tokens of a prompt; 0: as many as leave room for an act'),
    every: z
      .int()
      .min(0)
      .default(0)
      .describe('Turns that go at a time; 0: as many as leave half; 1: the oldest turn, every turn'),
  }),
  start: () => ({ from: 0 }),
  window(view) {
    const { calls, fresh, options, budget, longestAct } = view;
    const [first] = calls;
    if (first === undefined) return { conversation: { parts: fresh }, state: view.state };
    const room = budget + 1;
    const fitting = room - Math.min(longestAct, room / 2);
    const most = options.tokens === 0 ? fitting : Math.min(options.tokens, fitting);
    // Until something goes it is the same conversation. The latest is kept, since a conversation is rendered once.
    let made: { readonly from: number; readonly conversation: Conversation } = {
      from: view.state.from,
      conversation: { goesOn: true, parts: fresh },
    };
    const cut = (from: number): Conversation => {
      if (made.from === from) return made.conversation;
      const turns = calls
        .slice(from)
        .flatMap(({ id }): Part[] => (id === first.id ? [{ call: id }] : [{ shown: id }, { call: id }]));
      made = { from, conversation: { parts: [{ shown: first.id }, ...turns, ...fresh] } };
      return made.conversation;
    };
    const isOver = (from: number, share: number): boolean =>
      calls.length - from > options.turns * share || view.tokens(cut(from)) > most * share;

    let { from } = view.state;
    const share = options.every === 0 ? 0.5 : 1;
    if (isOver(from, 1)) {
      const step = Math.max(1, options.every);
      // Fewer turns are fewer tokens, so the first cut that fits is found by halving.
      let [over, fits] = [0, Math.ceil((calls.length - from) / step)];
      const after = (cuts: number): number => Math.min(calls.length, from + cuts * step);
      while (fits - over > 1) {
        const middle = Math.floor((over + fits) / 2);
        if (isOver(after(middle), share)) over = middle;
        else fits = middle;
      }
      from = after(fits);
    }
    const conversation = cut(from);
    if (from === calls.length && view.tokens(conversation) > budget) return { stop: 'context-overflow' };
    return { conversation, state: { from } };
  },
});
