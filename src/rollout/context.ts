/** Context strategies: which token ids the policy sees before a turn, given what happened so far. */

import type { Message } from '../core/messages.ts';
import type { Renderer } from '../model/renderer.ts';

/** What one role was shown and wrote, as token ids. */
export interface History {
  /** The previous prompt and completion: what a cache holds. */
  readonly ids: readonly number[];
  /** Messages of the opening and of every turn, in order. */
  readonly messages: readonly Message[];
}

export interface Context {
  readonly promptIds: readonly number[];
  /** Ids that are new since the previous prompt + completion, or the whole prompt where that is no longer its prefix. */
  readonly contextIds: readonly number[];
  readonly extendsPrevious: boolean;
}

export interface ContextStrategy {
  readonly name: 'full' | 'latest';
  next(history: History, fresh: readonly Message[], renderer: Renderer): Context;
}

/** Everything so far, one growing sequence: the prompt always extends the previous prompt + completion. */
export const fullContext: ContextStrategy = {
  name: 'full',
  next: (history, fresh, renderer) => {
    const contextIds = renderer.contextIds(fresh);
    return {
      promptIds: [...history.ids, ...contextIds],
      contextIds,
      extendsPrevious: history.ids.length > 0,
    };
  },
};

/** Only what was shown last: every turn is a sample of its own, and the policy has no memory. */
export const latestContext: ContextStrategy = {
  name: 'latest',
  next: (_history, fresh, renderer) => {
    const contextIds = renderer.contextIds(fresh);
    return { promptIds: contextIds, contextIds, extendsPrevious: false };
  },
};
