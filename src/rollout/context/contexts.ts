/** Built-in contexts. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { definitionRegistry, type Registry } from '../../core/registry.ts';
import { lastTurns } from './last-turns.ts';
import { modes } from './modes.ts';
import { state } from './state.ts';
import { type Context, type ContextStrategy, defineContext } from './strategy.ts';
import { summary } from './summary.ts';
import { taskGraph } from './task-graph.ts';
import { toolMemory } from './tool-memory.ts';
import { toolRetention } from './tool-retention.ts';
import { toolWindow } from './tool-window.ts';
import { variables } from './variables.ts';

/** Everything so far, one growing sequence: the prompt goes on from the previous one and its completion. */
export const full: ContextStrategy = defineContext({
  name: 'full',
  summary: 'all turns',
  options: z.strictObject({}),
  start: () => null,
  window: ({ fresh, state }) => ({ conversation: { all: true, parts: fresh }, state }),
});

/** Only what was shown last, under what the system said: every turn is a sample of its own, and the policy has no memory. */
export const latest: ContextStrategy = defineContext({
  name: 'latest',
  summary: 'only the latest turn',
  options: z.strictObject({}),
  start: () => null,
  window: ({ calls, fresh, state }) => ({
    conversation: {
      parts: [...calls.flatMap(({ messages }) => messages.filter(({ role }) => role === 'system')), ...fresh],
    },
    state,
  }),
});

export const contextRegistry: Registry<ContextStrategy> = definitionRegistry(
  'context',
  (parts) => new TurnwiseError('unknown-context', parts),
  [
    ...[full, latest, lastTurns, toolWindow, toolRetention, summary, state],
    ...[toolMemory, variables, taskGraph, modes],
  ],
);

export const fullContext: Context = full.create();
export const latestContext: Context = latest.create();
