/** A placebo: before each act the policy writes a state as under `state`, and never reads it again. */

import { defineContext, type Part, user, z } from 'turnwise';

export const lostState = defineContext({
  name: 'lost-state',
  summary: 'a state that is written every turn and not read',
  options: z.strictObject({
    instruction: z.string().default('note').describe('The message that asks the policy for a state'),
    act: z.string().default('now').describe('The message that asks for the act'),
  }),
  start: () => null,
  async window(view, ask) {
    const { calls, fresh, options, state } = view;
    const [first, last] = [calls[0], calls.at(-1)];
    if (first === undefined || last === undefined) return { conversation: { parts: fresh }, state };
    const before: Part[] = [{ shown: first.id }, { call: last.id }, ...fresh];
    await ask('state', { parts: [...before, user(options.instruction)] });
    return { conversation: { parts: [...before, user(options.act)] }, state };
  },
  script: (_purpose, { role }, session) => session?.notes?.(role) ?? '',
});
