/** Context strategies: which token ids the policy sees before a turn, given what happened so far. */

import type { Message } from '../core/messages.ts';
import type { History, Prompt, Renderer } from '../model/renderer.ts';

export interface ContextStrategy {
  readonly name: 'full' | 'latest';
  next(history: History, fresh: readonly Message[], renderer: Renderer): Prompt;
}

/** Everything so far, one growing sequence: the prompt extends the previous prompt + completion wherever it can. */
export const fullContext: ContextStrategy = {
  name: 'full',
  next: (history, fresh, renderer) => renderer.prompt(history, fresh),
};

/** Only what was shown last, under what the system said: every turn is a sample of its own, and the policy has no memory. */
export const latestContext: ContextStrategy = {
  name: 'latest',
  next: (history, fresh, renderer) =>
    renderer.prompt({ ids: [], messages: history.messages.filter(({ role }) => role === 'system') }, fresh),
};
