/** A placebo: the policy summarizes as under `summary`, and goes on without a word of what it wrote. */

import { type Call, defineContext, type Part, user, z } from 'turnwise';

export const lostSummary = defineContext({
  name: 'lost-summary',
  summary: 'summaries that are written and not read',
  options: z.strictObject({
    threshold: z.int().min(1).default(1024).describe('Tokens of a prompt that is summarized first'),
    instruction: z.string().default('note').describe('The message that asks the policy for a summary'),
  }),
  start: (): { readonly from: number } => ({ from: 0 }),
  async window(view, ask) {
    const { calls, fresh, options, state } = view;
    const [first] = calls;
    const acts = calls.filter(({ id, purpose }: Call) => purpose === 'act' && id >= state.from);
    const opening: Part[] = first === undefined || state.from === 0 ? [] : [{ shown: first.id }];
    const parts: Part[] = [...opening, ...acts.flatMap(({ id }): Part[] => [{ shown: id }, { call: id }])];
    const whole = { parts: [...parts, ...fresh] };
    if (first === undefined || acts.length === 0 || view.tokens(whole) < options.threshold)
      return { conversation: whole, state };
    const call = await ask('summarize', { parts: [...parts, user(options.instruction)] });
    return {
      conversation: { parts: [{ shown: first.id }, ...fresh] },
      state: { from: call.id + 1 },
    };
  },
  script: (_purpose, { role }, session) => session?.notes?.(role) ?? '',
});
