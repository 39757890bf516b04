/** Summaries by the policy itself: where the conversation grows long, it writes down what matters and goes on from there. */

import { z } from 'zod';
import type { Call, Part } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { type ContextStrategy, defineContext, type View } from './strategy.ts';

export interface SummaryOptions {
  readonly threshold: number;
  readonly summaries: number;
  readonly instruction: string;
}

/** How many summaries there are, the latest one, and the first call after it. */
export type SummaryState = {
  readonly written: number;
  readonly summary: number | null;
  readonly from: number;
};

/** Acts since the latest summary. */
const recent = ({ calls, state }: View<SummaryOptions, SummaryState>): readonly Call[] =>
  calls.filter(({ id, purpose }) => purpose === 'act' && id >= state.from);

/**
 * Tokens of a prompt that is summarized first: the threshold, where the question still has room after one more act; otherwise as
 * many as leave room for an act, the question and its answer, or half of the context where completions may be as long as that.
 */
function limitOf(view: View<SummaryOptions, SummaryState>): number {
  const { threshold, instruction } = view.options;
  const room = view.budget + 1;
  if (threshold <= room / 2) return threshold;
  const after = view.longest + view.tokens({ parts: [user(instruction)] });
  return threshold + after < room
    ? threshold
    : Math.min(threshold, Math.max(room / 2, room - after - view.longest));
}

/**
 * The policy summarizes its conversation whenever the next prompt would have `threshold` tokens or more, and earlier where the
 * model has no room for as many. It then reads its opening messages, the summary and what is new. A summary is learned with the
 * turn that follows it. After `summaries` of them the episode ends with `context-overflow`.
 *
 * Source: SUPO (arXiv 2510.06727). Deviations:
 * 1. Overlong episodes are left to curation, which sees their stop reason: `over-turns` keeps them out of the loss.
 * 2. The turn that reaches the threshold is not discarded: what it brought is read after the summary.
 * 3. A threshold that the model has no room for is lowered, where it would never be reached.
 * 4. A result too long to summarize again is read up to the budget of a prompt, and only then overflows.
 */
export const summary: ContextStrategy = defineContext({
  name: 'summary',
  summary: 'all turns, summarized by the policy where they grow long',
  options: z.strictObject({
    threshold: z
      .int()
      .min(1)
      .default(1024)
      .describe(
        'Tokens of a prompt that is summarized first; fewer where the context of the model has no room for them',
      ),
    summaries: z.int().min(0).default(8).describe('Most summaries of a conversation; then it overflows'),
    instruction: z
      .string()
      .default('Summarize what matters for the next turns.')
      .describe('The message that asks the policy for a summary'),
  }),
  says: ({ instruction }) => [instruction],
  start: (): SummaryState => ({ written: 0, summary: null, from: 0 }),
  async window(view, ask) {
    const { calls, fresh, options, state, budget } = view;
    const [first] = calls;
    const acts = recent(view);
    const head: Part[] =
      first === undefined || state.summary === null ? [] : [{ shown: first.id }, { call: state.summary }];
    const parts: Part[] = [...head, ...acts.flatMap(({ id }) => [{ shown: id }, { call: id }])];
    const whole = { parts: [...parts, ...fresh] };
    const limit = limitOf(view);
    const tokens = view.tokens(whole);
    if (tokens > budget && acts.length === 0) return { stop: 'context-overflow' };
    if (tokens < limit || first === undefined || acts.length === 0) return { conversation: whole, state };
    if (state.written >= options.summaries) return { stop: 'context-overflow' };
    const call = await ask('summarize', { parts: [...parts, user(options.instruction)] });
    return {
      conversation: { parts: [{ shown: first.id }, { call: call.id }, ...fresh] },
      state: { written: state.written + 1, summary: call.id, from: call.id + 1 },
    };
  },
  /**
   * The notes of the world. Where it has none, the acts so far, in order: short, and enough to go on from in worlds that answer
   * alike to the same acts.
   */
  script: (_purpose, view, session) => {
    const notes = session?.notes?.(view.role);
    if (notes !== undefined) return notes;
    const before = view.calls.find(({ id }) => id === view.state.summary);
    return [before, ...recent(view)].flatMap((call) => call?.text ?? []).join(' ');
  },
});
