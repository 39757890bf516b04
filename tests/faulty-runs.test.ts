/**
 * Whole runs in which every call into user code goes wrong, at 1, 10, 50 and 100 %: no run ends, no failed episode is compared
 * or learned from, and nothing is left open. Which code that is, and what else ends a run: docs/decisions.md, "Failures".
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Rng } from '../src/core/rng.ts';
import { isTrainable } from '../src/core/stop.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { fromGame } from '../src/env/from-game.ts';
import { defineTools } from '../src/env/live/define-tools.ts';
import { defineTool } from '../src/env/tool.ts';
import {
  defineAgent,
  defineContext,
  defineTurns,
  type RunSettings,
  type Sink,
  train,
} from '../src/exports/index.ts';
import { Faults } from '../src/rollout/testing/faults.ts';
import {
  FAULTY_CALLS,
  FAULTY_RUN_CALLS,
  type FaultyCall,
  faultyWorld,
} from '../src/rollout/testing/faulty-world.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import { duet, echo } from './echoes.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-faulty-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 3;
const RATES = [0.01, 0.1, 0.5];
const LATE_MS = 90;
const TIMEOUT_MS = 60;

const settings = {
  steps: STEPS,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 16, steps: 2, batch: 4 },
  rollout: { tasks: 4, group: 4, turnTimeoutMs: TIMEOUT_MS, failureLimit: 0 },
  evaluation: { every: 0, finalTasks: 4 },
} as const;

/** Whether the run learns by now. Demonstrations are played well: without any there would be no model. */
interface Switch {
  active: boolean;
}

/** Turns the faults on where training begins. */
const whenTraining = (faulty: Switch): Sink => ({
  event: (event) => {
    if (event.type === 'phase' && event.phase === 'train') faulty.active = true;
  },
});

/** What goes wrong: `rate` of all calls, once training has begun. */
const planned = (at: Switch, rate: number, ...name: readonly string[]) => ({
  get rate() {
    return at.active ? rate : 0;
  },
  rng: Rng.of('faults', rate, ...name),
  lateMs: LATE_MS,
});

/** Reads the stored run: every step was made, and no failed episode has credit or a score. Gives the stops of its episodes. */
async function stopsOf(name: string): Promise<Set<string>> {
  const reader = RunDirectory.openForReading({ root: folder, name, version: '0.1.0' }).readRollouts();
  expect(reader.index.steps()).toEqual(Array.from({ length: STEPS }, (_, step) => step + 1));
  const stops = new Set<string>();
  for (const step of reader.index.steps()) {
    for await (const { members } of reader.groups(trainingShard(step))) {
      for (const { stop, credit, scores } of members) {
        stops.add(stop);
        if (!isTrainable(stop)) expect([credit, scores]).toEqual([undefined, undefined]);
      }
    }
  }
  return stops;
}

interface Variant {
  readonly game?: boolean;
  /** What goes wrong. Default: everything. */
  readonly only?: readonly FaultyCall[];
}

/** Calls that went wrong in some run. Pictures are drawn for people, not in runs. */
const broken = new Set<string>();

describe.each([
  ...RATES.map((rate) => ['grpo', rate, {}] as const),
  ['grpo', 1, {}],
  // Branches, twins, experts, thoughts, two learners: each calls something that the others do not.
  ...['arpo', 'aepo', 'malt', 'refuel', 'tree-grpo', 'eto', 'gtr'].flatMap((recipe) => [
    [recipe, 0.1, {}] as const,
  ]),
  ...['gtr', 'arpo', 'refuel', 'eto'].map((recipe) => [recipe, 0.5, {}] as const),
  ['self-play', 0.1, { game: true }],
  ['grpo', 0.1, { batches: { maxStaleness: 1, order: 'ended' } }],
  // An expert plays few turns of a run in which other calls go wrong as well, at times none.
  ['eto', 0.5, { only: ['script'] }],
] as readonly (readonly [string, number, RunSettings & Variant])[])(
  'a world, %s with %d of all calls going wrong %j',
  (recipe, rate, { game = false, only, ...more }) => {
    test('the run ends well, failures stay out of the loss, and nothing is left open', {
      timeout: 120_000,
    }, async () => {
      const at: Switch = { active: false };
      const inner = game ? fromGame(duet) : fromEnvironment(echo);
      const faulty = faultyWorld(
        {
          ...inner,
          scoreGroup: (episodes) =>
            episodes.map(() => Object.fromEntries(inner.roles.map((role) => [role, 0]))),
        },
        Object.assign(planned(at, rate, recipe), only && { calls: only }),
      );
      const name = [recipe, rate, ...Object.keys(more), ...(only ?? [])].join('-');
      const summary = await train({
        world: faulty.world,
        recipe,
        name,
        settings: { ...settings, ...more },
        runs: folder,
        sinks: [whenTraining(at)],
      });
      expect(summary.steps).toBe(STEPS);
      await faulty.settled();
      await expect.poll(() => [faulty.openSessions(), faulty.openSnapshots()]).toEqual([0, 0]);
      const stops = await stopsOf(name);
      // An expert's episodes are not stored.
      if (rate >= 0.1 && !only) expect([...stops].some((stop) => /^failed|timeout/.test(stop))).toBe(true);
      for (const call of faulty.broken()) broken.add(call);
    });
  },
);

describe.each(RATES)('an environment of tools of whose code %d goes wrong', (rate) => {
  test('the run ends well, failures stay out of the loss, and everything is torn down', {
    timeout: 120_000,
  }, async () => {
    const at: Switch = { active: false };
    const faults = new Faults<string>(planned(at, rate, 'tools'));
    const open = new Set<object>();
    const look = defineTool({
      name: 'look',
      description: 'look',
      parameters: z.object({}),
      run: (_, { word }: { word: string }) => faults.perhaps('run', () => word),
    });
    const words = ['red', 'blue', 'green', 'white'];
    const world = defineTools({
      name: 'tools',
      description: 'say the word that is there',
      maxTurns: 3,
      tasks: () => ({
        size: words.length,
        at: (index) => faults.perhaps('at', () => words[index]!),
      }),
      tools: [look],
      setup: (word) =>
        faults.perhaps('setup', () => {
          const context = { word };
          open.add(context);
          return context;
        }),
      prompt: () => faults.perhaps('prompt', () => 'say'),
      score: ({ task, answer }) =>
        faults.perhaps(
          'score',
          () => ({ reward: answer === task ? 1 : 0, metrics: { answered: answer ? 1 : 0 } }),
          (work) => ({ ...(work() as object), metrics: { answered: 'yes' } }),
        ),
      teardown: (context) => {
        // What is no context came of a setup that went wrong.
        open.delete(context);
        return faults.perhaps('teardown', () => undefined);
      },
      solve: ({ calls }) => (calls.length === 0 ? { tool: 'look' } : { answer: calls[0]!.result }),
      scoreGroup: (episodes) => faults.perhaps('scoreGroup', () => episodes.map(() => 1)),
    });
    const name = `tools-${rate}`;
    const sinks = [whenTraining(at)];
    // A policy that writes calls of tools.
    const clone = { demonstrations: 32, steps: 60, batch: 8, learningRate: 2e-2 };
    const summary = await train({
      ...{ world, recipe: 'grpo', name, settings: { ...settings, clone }, runs: folder, sinks },
    });
    expect(summary.steps).toBe(STEPS);
    await faults.settled();
    await expect.poll(() => open.size).toBe(0);
    const stops = await stopsOf(name);
    for (const call of faults.broken) broken.add(`tools.${call}`);
    if (rate === 0.1) expect(stops).toContain('failed:grader');
  });
});

describe.each(RATES)('contexts and turn controls of whose code %d goes wrong', (rate) => {
  test.each([
    ['which asks', true],
    ['which does not', false],
  ])(
    'the run ends well, and failures stay out of the loss: a context %s',
    {
      timeout: 120_000,
    },
    async (_, asks) => {
      const at: Switch = { active: false };
      const faults = new Faults<string>(planned(at, rate, 'own', `${asks}`));
      const context = defineContext<object, { turns: number }>({
        name: 'faulty',
        summary: 'the latest turn',
        options: z.strictObject({}),
        start: () => faults.perhaps('context.start', () => ({ turns: 0 })),
        window: async ({ fresh, state }, ask) => {
          if (asks) {
            const purpose = faults.perhaps('context.purpose', () => 'plan');
            await faults.perhaps('context.ask', () => ask(purpose, { parts: fresh }));
          }
          return faults.perhaps(
            'context.window',
            () => ({ conversation: { parts: fresh }, state: { turns: state.turns + 1 } }),
            () => ({ conversation: { parts: [{ call: 99 }] }, state }),
          );
        },
        answer: () => faults.perhaps('context.answer', () => undefined),
        script: () => faults.perhaps('context.script', () => 'red'),
      });
      const turns = defineTurns({
        name: 'faulty',
        summary: 'as usual',
        limit: (_task, { usual }) => faults.perhaps('turns.limit', () => usual),
        after: () => faults.perhaps('turns.after', () => 'go on' as const),
      });
      const name = `own-${rate}-${asks}`;
      const summary = await train({
        world: echo,
        recipe: 'grpo',
        name,
        settings: { ...settings, context, turns },
        runs: folder,
        sinks: [whenTraining(at)],
      });
      expect(summary.steps).toBe(STEPS);
      await faults.settled();
      const stops = await stopsOf(name);
      if (rate >= 0.1) expect(stops).toContain('failed:policy');
      for (const call of faults.broken) broken.add(call);
    },
  );
});

describe.each(RATES)('an agent of whose code %d goes wrong', (rate) => {
  test('the run ends well, and failures stay out of the loss', { timeout: 120_000 }, async () => {
    const at: Switch = { active: false };
    const faults = new Faults<string>(planned(at, rate, 'agent'));
    const words = ['red', 'blue', 'green', 'white'];
    const world = defineAgent({
      name: 'speaker',
      tasks: () => ({ size: words.length, at: (index) => faults.perhaps('at', () => words[index]!) }),
      run: async ({ task, baseURL, apiKey, model, signal }) => {
        await faults.perhaps('before', () => undefined);
        const response = await fetch(`${baseURL}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: `say ${task}` }] }),
          signal,
        });
        const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
        return faults.perhaps(
          'result',
          () => ({ reward: choices[0].message.content === task ? 1 : 0 }),
          () => ({ reward: '1', success: 'yes' }),
        );
      },
      demonstrate: ({ task }) => ({ content: task }),
      scoreGroup: (episodes) => faults.perhaps('scoreGroup', () => episodes.map(() => 0)),
    });
    const name = `agent-${rate}`;
    const summary = await train({
      world,
      recipe: 'grpo',
      name,
      settings,
      runs: folder,
      sinks: [whenTraining(at)],
    });
    expect(summary.steps).toBe(STEPS);
    await faults.settled();
    const stops = await stopsOf(name);
    for (const call of faults.broken) broken.add(`agent.${call}`);
    if (rate >= 0.1) expect([...stops].some((stop) => /^failed|timeout/.test(stop))).toBe(true);
  });
});

test('every call has gone wrong in some run', () => {
  const calls = {
    world: [...FAULTY_CALLS, ...FAULTY_RUN_CALLS].filter((call) => call !== 'render'),
    tools: ['at', 'prompt', 'run', 'score', 'scoreGroup', 'setup', 'teardown'].map((call) => `tools.${call}`),
    agents: ['at', 'before', 'result', 'scoreGroup'].map((call) => `agent.${call}`),
    contexts: ['start', 'purpose', 'ask', 'window', 'answer'].map((call) => `context.${call}`),
    turns: ['limit', 'after'].map((call) => `turns.${call}`),
  };
  expect(
    Object.values(calls)
      .flat()
      .filter((call) => !broken.has(call)),
  ).toEqual([]);
});

test.each(['open', 'event', 'episodes', 'close'] as const)(
  'sinks of which %s goes wrong in every way: the run ends well',
  { timeout: 60_000 },
  async (call) => {
    const ways = [
      ...(['throws', 'throws something hostile', 'rejects', 'gives something wrong', 'comes late'] as const),
    ];
    const faults = ways.map(
      (fault) =>
        new Faults<string>({
          ...{ rate: 1, rng: Rng.of('sink', call, fault), lateMs: LATE_MS, calls: [call], faults: [fault] },
        }),
    );
    const sinks = faults.map(
      (faulty): Sink => ({
        open: () => faulty.perhaps('open', () => undefined),
        event: () => faulty.perhaps('event', () => undefined),
        episodes: () => faulty.perhaps('episodes', () => undefined),
        close: () => faulty.perhaps('close', () => undefined),
      }),
    );
    const summary = await train({ world: echo, name: `sink-${call}`, settings, runs: folder, sinks });
    expect(summary.steps).toBe(STEPS);
    for (const { injected } of faults) expect(injected).toBeGreaterThan(0);
    await stopsOf(`sink-${call}`);
  },
);

test('a run in which everything fails stops, and says how to go on', { timeout: 60_000 }, async () => {
  const at: Switch = { active: false };
  const faulty = faultyWorld(fromEnvironment(echo), {
    get rate() {
      return at.active ? 1 : 0;
    },
    ...{ rng: Rng.of('faults'), calls: ['open'] as const, faults: ['throws'] as const, lateMs: 0 },
  });
  const run = train({
    world: faulty.world,
    name: 'dead',
    settings: { ...settings, rollout: { ...settings.rollout, failureLimit: 2 } },
    runs: folder,
    sinks: [whenTraining(at)],
  });
  await expect(run).rejects.toThrow(
    /^Every episode of 2 steps in a row failed\. Seen: 16 × failed:environment: opening echo: open is broken in the last step, of 16 episodes\..*go on with: turnwise resume dead/,
  );
});
