/** Turnwise sessions in the shapes of OpenEnv: schemas, reset parameters, observations. */

import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Split } from '../../env/environment.ts';
import { type CreateRequest, type WireView, wireStreams } from '../../env/wire.ts';
import type { StepOutcome } from './session-table.ts';

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];

/** The parameters of `reset`: OpenEnv's two, and ours. Others are ignored, as OpenEnv's own servers do. */
export const resetRequest = z.object({
  seed: z.int().min(0).nullish(),
  episode_id: z.string().max(255).nullish(),
  split: z.enum(['train', 'validation', 'test']).optional().describe('Which tasks'),
  index: z.int().min(0).optional().describe('Number of the task'),
  chance: wireStreams.optional().describe('States of the random streams of the episode and of its start'),
});
export type ResetRequest = z.output<typeof resetRequest>;

/** OpenEnv adds `metadata` to every action; it means nothing here. */
export const actionRequest = z.strictObject({
  text: z.string().describe('The text that the policy wrote'),
  metadata: z.record(z.string(), z.json()).optional(),
});

const observation = z.object({
  text: z.string().describe('The text that the agent reads'),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).describe('The same as messages'),
  role: z.string().nullable().describe('The role that acts next; null when the episode is over'),
  valid: z.boolean().describe('Whether the last action was accepted'),
  success: z.boolean().describe('Whether the task is solved'),
  rewards: z
    .record(z.string(), z.number())
    .describe('Of every role; `reward` belongs to the role that acted'),
  info: z.json().optional(),
});

const state = z.object({
  episode_id: z.string().nullable(),
  step_count: z.int(),
  done: z.boolean(),
});

/** What `/schema` answers: OpenEnv's three schemas, and the parameters that `reset` takes here. */
export function schemas(): JsonObject {
  const entries = { action: actionRequest.omit({ metadata: true }), observation, state, reset: resetRequest };
  return Object.fromEntries(
    Object.entries(entries).map(([name, schema]) => {
      const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input' });
      return [name, plain as JsonObject];
    }),
  );
}

/**
 * The episode that a reset asks for. A seed alone names a task and the chance in it: seed n is task ⌊n / 3⌋ of the split
 * n mod 3 of train, validation and test. Without a seed, a train task is drawn.
 */
export function episodeOf(
  request: ResetRequest,
  sizeOf: (split: Split) => number,
): Omit<CreateRequest, 'leaseMs'> {
  const { split, index, chance } = request;
  const seed = request.seed ?? randomInt(2 ** 40);
  const chosen = split ?? (request.seed == null ? 'train' : SPLITS[seed % 3]!);
  const number = Math.floor(seed / 3);
  const size = sizeOf(chosen);
  return {
    split: chosen,
    index: index ?? (Number.isFinite(size) && size > 0 ? number % size : number),
    ...(request.seed == null ? {} : { seed: `${seed}/${request.episode_id ?? ''}` }),
    ...(chance === undefined ? {} : { chance }),
  };
}

/** The answer to a reset. */
export function openingObservation(view: WireView): JsonObject {
  return {
    observation: { ...readingOf(view), valid: true, success: false, rewards: {} },
    reward: null,
    done: view.toMove === null,
  };
}

/** The answer to a step of `role`. */
export function stepObservation(outcome: StepOutcome, role: string): JsonObject {
  const { view, rewards, valid, success, done } = outcome;
  const info = withoutFacts(outcome.info);
  return {
    observation: {
      ...readingOf(view, role),
      valid,
      success: success[role] ?? false,
      rewards,
      ...(info === undefined ? {} : { info }),
    },
    reward: rewards[role] ?? 0,
    done,
  };
}

/** An observation is for the agent, and what credit may know of a turn is not: it may hold the answer. */
function withoutFacts(info: Json | undefined): Json | undefined {
  if (typeof info !== 'object' || info === null || !('credit' in info)) return info;
  const { credit: _, ...rest } = info;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

function readingOf(
  view: WireView,
  mover?: string,
): { text: string; messages: JsonObject[]; role: string | null } {
  const messages = view.messages[view.toMove ?? mover ?? ''] ?? [];
  return {
    text: messages.map(({ content }) => content).join('\n'),
    messages: messages as unknown as JsonObject[],
    role: view.toMove,
  };
}
