/** A state instead of a history: before each act the policy writes down all that it goes on with. */

import { z } from 'zod';
import type { Part } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { type ContextStrategy, defineContext } from './strategy.ts';

/** The latest state of a conversation, by its call. */
export type StateState = { readonly latest: number | null };

/** Acts that a scripted player writes down: a state does not grow. */
const REMEMBERED = 8;

const leftOf = (turns: number): string =>
  turns <= 1 ? 'This is the last turn.' : `${turns} turns are left.`;

/**
 * The prompt is the opening, the latest state with the act that followed it, and what that brought. The policy writes the next
 * state, then acts. Every turn is a sample of its own behind exactly what was read, so no mask is needed.
 *
 * Source: MEM1 (arXiv 2506.15841), with samples per turn. Deviations:
 * 1. State and act are two completions, with `act` between them: a call of a tool is read as in every other context.
 * 2. The first act has no state, as there is nothing to keep yet.
 * 3. Results are not cut here.
 */
export const state: ContextStrategy = defineContext({
  name: 'state',
  summary: 'a state that the policy rewrites every turn',
  options: z.strictObject({
    instruction: z
      .string()
      .default('Write down all that you need to go on; everything else is forgotten.')
      .describe('The message that asks the policy for a state'),
    act: z.string().default('Now act.').describe('The message between a state and its act'),
    note: z.boolean().default(true).describe('Say how many turns are left'),
  }),
  says: ({ instruction, act, note }, limit) => [
    ...[instruction, act],
    ...(note ? Array.from({ length: limit }, (_, turn) => leftOf(limit - turn)) : []),
  ],
  start: (): StateState => ({ latest: null }),
  async window(view, ask) {
    const { calls, fresh, options, limit, turn } = view;
    const [first, last] = [calls[0], calls.at(-1)];
    if (first === undefined || last === undefined)
      return { conversation: { parts: fresh }, state: view.state };
    const left = limit - turn;
    const act = user(options.act);
    const kept: Part[] = view.state.latest === null ? [] : [{ call: view.state.latest }, act];
    // A session of a gateway has no last turn.
    const note = options.note && Number.isFinite(left) ? [user(leftOf(left))] : [];
    const before: Part[] = [{ shown: first.id }, ...kept, { call: last.id }, ...fresh, ...note];
    const asked: Part[] = [...before, user(options.instruction)];
    const call = await ask('state', { parts: asked });
    return {
      conversation: { parts: [...asked, { call: call.id }, act] },
      state: { latest: call.id },
    };
  },
  /** The notes of the world; where it has none, the latest acts, in order. */
  script: (_purpose, { calls, role }, session) =>
    session?.notes?.(role) ??
    calls
      .filter(({ purpose }) => purpose === 'act')
      .slice(-REMEMBERED)
      .map(({ text }) => text)
      .join(' '),
});
