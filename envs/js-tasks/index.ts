/** Small programming questions, answered by calling a sandboxed JavaScript interpreter whose variables persist. */

import { z } from 'zod';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { createRuntime } from '../../src/env/runtime/create-runtime.ts';
import type { Runtime } from '../../src/env/runtime/runtime.ts';
import { AGENT } from '../../src/env/session.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { librarySource } from './operations.ts';
import { chooseMove } from './players.ts';
import { JsSession } from './session.ts';
import { answerOf, type JsTask, jsTasks, show } from './tasks.ts';
import { toolCalls, words } from './wording.ts';

const options = z.strictObject({
  packed: z.number().min(0).max(1).default(0.3).describe('Share of the tasks whose lists come as JSON text'),
  maxTurns: z.int().min(1).max(100).default(6).describe('Tool calls before the episode ends'),
  timeLimitMs: z.int().min(1).max(60_000).default(2000).describe('Time limit of one call of the interpreter'),
  memoryMiB: z.int().min(17).max(1024).default(24).describe('Memory limit of one interpreter'),
  outputLimit: z.int().min(16).max(100_000).default(2000).describe('Characters of output kept from one call'),
  wording: wordingOption.describe(
    'compact: two-word commands, for word models; natural: tool calls and prose, for models that read',
  ),
});

/** The library is not the agent's code, whose calls may have a millisecond. */
const LOADING_MS = 10_000;

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'js-tasks',
  description: 'Programming questions answered with a sandboxed interpreter: tools, persistent variables.',
  options,
  // A task takes three to five right calls in a row, so few mistakes go into the demonstrations.
  settings: {
    steps: 60,
    clone: { randomRate: 0.1, steps: 150 },
    rollout: { tasks: 32, group: 8 },
    evaluation: { every: 10, tasks: 100, finalTasks: 200 },
  },
  create: ({ packed, maxTurns, timeLimitMs, memoryMiB, outputLimit, wording: chosen }) => {
    const { protocol, wording, action } = chosen === 'compact' ? words : toolCalls;
    const limits = {
      timeMs: timeLimitMs,
      memoryBytes: memoryMiB * 2 ** 20,
      outputLength: outputLimit,
    };
    /** With the library, which every episode forks. */
    let loaded: Promise<Runtime> | undefined;
    const load = async (): Promise<Runtime> => {
      const runtime = await createRuntime('javascript', limits);
      const { error } = await runtime.run(librarySource(), { timeMs: LOADING_MS });
      if (error !== undefined) throw new Error(`The library of js-tasks cannot be loaded: ${error}`);
      return runtime;
    };
    const withLibrary = (): Promise<Runtime> => {
      // What failed once is tried again in the next episode.
      loaded ??= load().catch((error: unknown) => {
        loaded = undefined;
        throw error;
      });
      return loaded;
    };
    return {
      name: 'js-tasks',
      description:
        'Programming questions answered with a sandboxed interpreter: tools, persistent variables.',
      roles: [AGENT],
      maxTurns,
      facts: ['calls', 'goldenCalls', 'neededCalls', 'answer', 'correct', 'entityShare', 'effectiveActions'],
      snapshots: 'free',
      protocol,
      tasks: (split) => jsTasks(split, packed),
      open: async (task) => JsSession.open(task as JsTask, wording, await (await withLibrary()).fork()),
      truth: (task) => protocol.format(action('submit', show(answerOf(task as JsTask)))),
      script: (session, kind, rng) => {
        if (!(session instanceof JsSession)) return undefined;
        const { tool, code } = chooseMove(session, kind, rng);
        return action(tool, code);
      },
    };
  },
});
