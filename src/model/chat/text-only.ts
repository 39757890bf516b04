/** For policies that read messages and write text: there are no ids on our side. */

import type { Renderer } from './renderer.ts';

export const textOnly: Renderer = {
  stopIds: [],
  maxTurnTokens: Number.POSITIVE_INFINITY,
  prompt: () => ({ promptIds: [], contextIds: [], extendsPrevious: true }),
  completionIds: () => [],
  text: () => '',
  answer: (text) => text,
};
