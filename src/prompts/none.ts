/** No instruction besides what the environment says. */

import { type DefinedPrompts, definePrompts } from './prompt-source.ts';

export const none: DefinedPrompts = definePrompts({
  name: 'none',
  summary: 'no instruction besides what the environment says',
  ask: () => '',
  best: () => '',
});
