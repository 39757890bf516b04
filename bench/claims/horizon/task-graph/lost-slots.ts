/** A placebo: before each act the policy writes slots as under `task-graph`, and never reads them. */

import { defineContext, type Part, user, z } from 'turnwise';

export const lostSlots = defineContext({
  name: 'lost-slots',
  summary: 'slots that are written every turn and not read',
  options: z.strictObject({
    instruction: z.string().default('note').describe('The message that asks the policy for slots'),
    act: z.string().default('now').describe('The message that asks for the act'),
  }),
  start: () => null,
  async window(view, ask) {
    const { calls, fresh, options, state } = view;
    const acts = calls.filter(({ purpose }) => purpose === 'act');
    const [first, last] = [acts[0], acts.at(-1)];
    const opening: Part[] = first === undefined ? [] : [{ shown: first.id }];
    const before: Part[] = [...opening, ...(last === undefined ? [] : [{ call: last.id }]), ...fresh];
    await ask('graph', { parts: [...before, user('slots'), user(options.instruction)] });
    return { conversation: { parts: [...before, user(options.act)] }, state };
  },
  script(_purpose, { role }, session) {
    const slots = Object.entries(session?.slots?.(role) ?? {});
    return slots.length === 0 ? 'none' : slots.map(([slot, value]) => `new ${slot} is ${value}`).join(' ; ');
  },
});
