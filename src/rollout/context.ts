/** Context strategies: which token ids the policy sees before a turn, given what happened so far. */

import { badDefinition, callDefinition } from '../core/definition.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Message } from '../core/messages.ts';
import { createRegistry, type Registry } from '../core/registry.ts';
import type { History, Prompt, Renderer } from '../model/chat/renderer.ts';

export interface ContextStrategy {
  readonly kind: 'context';
  readonly name: string;
  /** One line for people. */
  readonly summary: string;
  /** The prompt of the next turn. `fresh` are the messages that the role has not seen yet. */
  next(history: History, fresh: readonly Message[], renderer: Renderer): Prompt;
}

/**
 * Define a context: what the policy sees before each of its turns. It is pure, since demonstrations are rendered with it too.
 *
 * @example
 * export const opening = defineContext({
 *   name: 'opening',
 *   summary: 'the first message and the latest',
 *   next: ({ messages }, fresh, renderer) =>
 *     renderer.prompt({ ids: [], messages: [] }, [...messages.slice(0, 1), ...fresh]),
 * });
 *
 * Use it with `--set context=./opening.ts`, or in code with `settings: { context: opening }`.
 */
export function defineContext(strategy: Omit<ContextStrategy, 'kind'>): ContextStrategy {
  return { ...strategy, kind: 'context' };
}

/** Everything so far, one growing sequence: the prompt extends the previous prompt + completion wherever it can. */
export const fullContext: ContextStrategy = defineContext({
  name: 'full',
  summary: 'all turns',
  next: (history, fresh, renderer) => renderer.prompt(history, fresh),
});

/** Only what was shown last, under what the system said: every turn is a sample of its own, and the policy has no memory. */
export const latestContext: ContextStrategy = defineContext({
  name: 'latest',
  summary: 'only the latest turn',
  next: (history, fresh, renderer) =>
    renderer.prompt({ ids: [], messages: history.messages.filter(({ role }) => role === 'system') }, fresh),
});

export const contextRegistry: Registry<ContextStrategy> = createRegistry(
  { noun: 'context', field: 'context', unknown: (parts) => new TurnwiseError('unknown-context', parts) },
  [fullContext, latestContext],
);

/** The same strategy, refusing prompts that cannot be one. */
export function checkedContext(strategy: ContextStrategy, subject: string): ContextStrategy {
  return {
    ...strategy,
    next(history, fresh, renderer) {
      const prompt = callDefinition(subject, () => strategy.next(history, fresh, renderer));
      const { promptIds, contextIds, extendsPrevious } = prompt ?? {};
      if (!isIds(promptIds) || promptIds.length === 0 || !isIds(contextIds)) {
        throw badDefinition(
          subject,
          'must return a prompt',
          prompt,
          'what renderer.prompt returns, with at least one token',
        );
      }
      // The record keeps `contextIds` alone, so they must lead from the last completion to the prompt.
      const before = extendsPrevious ? history.ids : [];
      const whole = before.length + contextIds.length;
      const leads =
        promptIds.length === whole &&
        before.every((id, index) => promptIds[index] === id) &&
        contextIds.every((id, index) => promptIds[before.length + index] === id);
      if (leads) return prompt;
      throw badDefinition(
        subject,
        extendsPrevious
          ? 'must return a prompt that goes on from the last completion'
          : 'must return the whole prompt as its context',
        `promptIds of ${promptIds.length} tokens`,
        extendsPrevious
          ? `the ${before.length} tokens before, then contextIds`
          : 'promptIds equal to contextIds',
      );
    },
  };
}

function isIds(ids: unknown): ids is readonly number[] {
  return Array.isArray(ids) && ids.every((id) => Number.isInteger(id) && id >= 0);
}
