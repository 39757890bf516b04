/** A context as a user writes it; docs/your-own-methods.md shows it. */

import { defineContext, z } from 'turnwise';

export const opening = defineContext({
  name: 'opening',
  summary: 'the first messages and the latest',
  options: z.strictObject({ messages: z.int().min(1).default(1).describe('How many of the first') }),
  start: () => null,
  window: ({ calls, fresh, options, state }) => ({
    conversation: { parts: [...calls.flatMap((call) => call.messages).slice(0, options.messages), ...fresh] },
    state,
  }),
});
