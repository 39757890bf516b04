/** The rival of a memory of tools: all of them are loaded, and their names are read once, after the first message. */

import { defineContext, type Part, user, z } from 'turnwise';

export const allLoaded = defineContext({
  name: 'all-loaded',
  summary: 'all turns, and the names of all tools',
  options: z.strictObject({}),
  needsTools: true,
  start: () => null,
  window({ calls, fresh, tools = [], state }) {
    const list = user(['tools', ...tools.map(({ name }) => name)].join(' '));
    const acts = calls.flatMap(({ id }, index): Part[] =>
      index === 0 ? [{ shown: id }, list, { call: id }] : [{ shown: id }, { call: id }],
    );
    const parts = [...acts, ...fresh, ...(calls.length === 0 ? [list] : [])];
    return { conversation: { parts, tools }, state };
  },
});
