/** Whole runs in a world that goes wrong at every call: no run ends, and no failed episode is learned from. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { user } from '../src/core/messages.ts';
import { Rng } from '../src/core/rng.ts';
import { isTrainable } from '../src/core/stop.ts';
import { defineEnvironment } from '../src/env/environment.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { defineTools } from '../src/env/live/define-tools.ts';
import { defineTool } from '../src/env/tool.ts';
import { train } from '../src/exports/train.ts';
import { faultyWorld } from '../src/rollout/testing/faulty-world.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import type { RunEvent } from '../src/train/loop/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-faulty-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 3;

const settings = {
  steps: STEPS,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 16, steps: 2, batch: 4 },
  rollout: { tasks: 4, group: 4, turnTimeoutMs: 60, failureLimit: 0 },
  evaluation: { every: 0, finalTasks: 4 },
} as const;

const echo = defineEnvironment<{ word: string }, { word: string; turn: number }>({
  name: 'echo',
  description: 'say the word that was said, twice',
  maxTurns: 3,
  tasks: () => ({ size: 2, at: (index) => ({ word: index === 0 ? 'red' : 'blue' }) }),
  start: ({ word }) => ({ state: { word, turn: 0 }, messages: [user(`say:${word}`)] }),
  step: ({ word, turn }, action) => {
    const right = action === word;
    const done = turn === 1;
    const observation = done ? '' : `say:${word}`;
    return {
      state: { word, turn: turn + 1 },
      observation,
      reward: right ? 0.5 : 0,
      done,
      success: right,
      valid: true,
    };
  },
  actions: () => ['red', 'blue'],
  solve: ({ word }) => word,
});

describe.each([
  ['grpo', 0.01],
  ['grpo', 0.1],
  ['grpo', 0.5],
  ['grpo', 1],
  ['arpo', 0.1],
  ['aepo', 0.1],
  ['malt', 0.1],
  ['refuel', 0.1],
  ['arpo', 0.5],
  ['refuel', 0.5],
])('%s with %d of all calls going wrong', (recipe, rate) => {
  test('the run ends well, failures stay out of the loss, and nothing is left open', {
    timeout: 120_000,
  }, async () => {
    let active = false;
    const faulty = faultyWorld(fromEnvironment(echo), {
      get rate() {
        return active ? rate : 0;
      },
      rng: Rng.of('faults', recipe, rate),
      lateMs: 90,
    });
    const name = `${recipe}-${rate}`;
    const summary = await train({
      world: faulty.world,
      recipe,
      name,
      settings,
      runs: folder,
      sinks: [
        {
          event: (event) => {
            // Demonstrations are played well: without any there would be no model.
            if (event.type === 'phase' && event.phase === 'train') active = true;
          },
        },
      ],
    });
    expect(summary.steps).toBe(STEPS);
    expect(faulty.injected()).toBeGreaterThan(0);
    await faulty.settled();
    await expect.poll(() => [faulty.openSessions(), faulty.openSnapshots()]).toEqual([0, 0]);

    const reader = RunDirectory.openForReading({ root: folder, name, version: '0.1.0' }).readRollouts();
    expect(reader.index.steps()).toEqual([1, 2, 3]);
    let failed = 0;
    for (const step of reader.index.steps()) {
      for await (const { members } of reader.groups(trainingShard(step))) {
        for (const { stop, credit } of members) {
          if (isTrainable(stop)) continue;
          failed++;
          expect(credit).toBeUndefined();
        }
      }
    }
    if (rate >= 0.1) expect(failed).toBeGreaterThan(0);
  });
});

describe.each([0.1, 0.5])('an environment of tools of whose code %d goes wrong', (rate) => {
  test('the run ends well, failures stay out of the loss, and everything is torn down', {
    timeout: 120_000,
  }, async () => {
    const rng = Rng.of('tool-faults', rate);
    const faults = [
      () => {
        throw new Error('broken');
      },
      () => Promise.reject({ toString: 1 }),
      () => new Promise(() => {}),
      () => undefined,
    ];
    let active = false;
    let injected = 0;
    /** Do `work`, or go wrong. What comes is as wrong as it can be, so its type is a lie. */
    const perhaps = <T>(work: () => T): T => {
      if (!active || !rng.chance(rate)) return work();
      injected++;
      return rng.pick(faults)() as T;
    };
    const open = new Set<object>();
    const look = defineTool({
      name: 'look',
      description: 'look',
      parameters: z.object({}),
      run: (_, { word }: { word: string }) => perhaps(() => word),
    });
    const world = defineTools({
      name: 'tools',
      description: 'say the word that is there',
      maxTurns: 3,
      tasks: ['red', 'blue', 'green', 'white'],
      tools: [look],
      setup: (word) =>
        perhaps(() => {
          const context = { word };
          open.add(context);
          return context;
        }),
      prompt: () => perhaps(() => 'say'),
      score: ({ task, answer }) =>
        perhaps(() => ({ reward: answer === task ? 1 : 0, metrics: { answered: answer ? 1 : 0 } })),
      teardown: (context) => {
        // What is no context came of a setup that went wrong.
        open.delete(context);
        return perhaps(() => undefined);
      },
      solve: ({ calls }) => (calls.length === 0 ? { tool: 'look' } : { answer: calls[0]!.result }),
      scoreGroup: (episodes) => perhaps(() => episodes.map(() => 1)),
    });
    const name = `tools-${rate}`;
    const sinks = [
      {
        event: (event: RunEvent) => {
          if (event.type === 'phase' && event.phase === 'train') active = true;
        },
      },
    ];
    const summary = await train({ world, recipe: 'grpo', name, settings, runs: folder, sinks });
    expect(summary.steps).toBe(STEPS);
    expect(injected).toBeGreaterThan(0);
    await expect.poll(() => open.size).toBe(0);

    const reader = RunDirectory.openForReading({ root: folder, name, version: '0.1.0' }).readRollouts();
    const stops = new Set<string>();
    for (const step of reader.index.steps()) {
      for await (const { members } of reader.groups(trainingShard(step))) {
        for (const { stop, credit, scores } of members) {
          stops.add(stop);
          if (!isTrainable(stop)) expect([credit, scores]).toEqual([undefined, undefined]);
        }
      }
    }
    expect(stops).toContain('failed:grader');
  });
});

test('a run in which everything fails stops, and says how to go on', { timeout: 60_000 }, async () => {
  let active = false;
  const faulty = faultyWorld(fromEnvironment(echo), {
    get rate() {
      return active ? 1 : 0;
    },
    rng: Rng.of('faults'),
    calls: ['open'],
    faults: ['throws'],
    lateMs: 0,
  });
  const run = train({
    world: faulty.world,
    name: 'dead',
    settings: { ...settings, rollout: { ...settings.rollout, failureLimit: 2 } },
    runs: folder,
    sinks: [
      {
        event: (event) => {
          if (event.type === 'phase' && event.phase === 'train') active = true;
        },
      },
    ],
  });
  await expect(run).rejects.toThrow(
    /^Every episode of 2 steps in a row failed\. Seen: 16 × failed:environment: opening echo: open is broken in the last step, of 16 episodes\..*go on with: turnwise resume dead/,
  );
});
