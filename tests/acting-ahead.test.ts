/** Acting ahead: a run that was stopped drops what was under way, counts it, and plays it again with the same start and chance. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { defineEnvironment } from '../src/env/environment.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import type { World } from '../src/env/world.ts';
import { defineRecipe } from '../src/exports/index.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import type { StoredEvent } from '../src/train/loop/events.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-ahead-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** Says a number that its start drew and, after any word, one that chance drew. */
const dice = defineEnvironment<number, { readonly drawn: number; readonly turn: number }>({
  name: 'dice',
  description: 'Say low or high.',
  maxTurns: 2,
  tasks: () => ({ size: 6, at: (index) => index }),
  start: (_, rng) => {
    const drawn = rng.int(1000);
    return { state: { drawn, turn: 0 }, messages: [{ role: 'user', content: `n${drawn}` }] };
  },
  step: ({ drawn, turn }, action, rng) => {
    const next = rng.int(1000);
    const success = action === (drawn < 500 ? 'low' : 'high');
    return {
      state: { drawn: next, turn: turn + 1 },
      observation: `n${next}`,
      reward: success ? 1 : 0,
      done: turn === 1,
      success,
      valid: true,
    };
  },
  anchor: ({ drawn, turn }) => `${turn}:${drawn}`,
  actions: () => ['low', 'high'],
  solve: ({ drawn }) => (drawn < 500 ? 'low' : 'high'),
});

/** Dice whose episodes of a task take as long as `waits` says. */
function slowDice(waits: (task: number) => Promise<unknown> | undefined): World {
  const { pure: _, environment: __, ...live } = fromEnvironment(dice);
  return {
    ...live,
    tasks: () => ({ size: 64, at: (index) => index }),
    open: async (task, ...chance) => {
      const session = await live.open(task, ...chance);
      const step = session.step.bind(session);
      return Object.assign(session, {
        step: async (action: string, signal: AbortSignal) => {
          await waits(task as number);
          return step(action, signal);
        },
      });
    },
  };
}

const STEPS = 6;
const EPISODES = 4 * 4;
const settings: TrainSettings = {
  seed: 3,
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 20, steps: 2, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  batches: { maxStaleness: 1 },
  evaluation: { every: 0, finalTasks: 4 },
  checkpoint: { every: 1, keep: 9 },
  rolloutLog: 1,
};

const eventsOf = (name: string) => readEvents(join(runs, name, 'events.jsonl'));

/** The training episodes that count, by their keys. */
function episodesOf(name: string): Map<string, Episode> {
  const all = Array.from({ length: STEPS }, (_, step) =>
    readEpisodeFile(join(runs, name, 'rollouts', `${step + 1}.jsonl.gz`))!.groups.flatMap(
      ({ members }) => members,
    ),
  ).flat();
  const byKey = new Map(all.map((episode) => [keyText(episode.key), episode]));
  expect(byKey.size).toBe(all.length);
  return byKey;
}

/** The groups that were learned from up to a step, by the step that asked for them and their number. */
const groupsOf = (name: string, steps: number): string[] =>
  Array.from({ length: steps }, (_, step) =>
    readEpisodeFile(join(runs, name, 'rollouts', `${step + 1}.jsonl.gz`))!.groups.map(
      ({ step, group }) => `${step}/${group}`,
    ),
  ).flat();

/** What start and chance decided, as far as it does not depend on what the policy did. */
const fateOf = ({ task, calls, transitions }: Episode): unknown => [
  task,
  calls[0]!.messages.map(({ content }) => content),
  transitions.map(({ anchor }) => anchor),
  calls[1]!.messages.at(-1)!.content,
];

test('a run that goes on plays the dropped episodes again, under their keys, with their start and chance', async () => {
  await train({ world: dice, recipe: 'grpo', settings, name: 'alone', runs });
  const run = await start({ world: dice, recipe: 'grpo', settings, name: 'stopped', runs });
  for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
  await expect(run.finished).rejects.toMatchObject({ code: 'cancelled' });
  await (await resume('stopped', { world: dice, runs })).finished;

  const events = eventsOf('stopped');
  const stopped = events.findLast(
    (event, index) => event.type === 'step' && events.slice(index).some(({ type }) => type === 'resume'),
  );
  const resumed = events.find(({ type }) => type === 'resume');
  const underWay = stopped?.type === 'step' ? stopped.metrics['episodes/under_way'] : undefined;
  // The step after the last was asked for, and nothing else.
  expect(underWay).toBe(EPISODES);
  expect(resumed).toMatchObject({ dropped: underWay });

  const [alone, again] = [episodesOf('alone'), episodesOf('stopped')];
  expect([...again.keys()]).toEqual([...alone.keys()]);
  expect(alone.size).toBe(STEPS * EPISODES);
  for (const [key, episode] of alone) expect(fateOf(again.get(key)!)).toEqual(fateOf(episode));
  // It was stale, and never by more than was allowed.
  const staleness = events.flatMap((event) =>
    event.type === 'step' ? [event.metrics['policy/staleness']!] : [],
  );
  expect(Math.max(...staleness)).toBe(1);
});

test('nothing is under way, and nothing is dropped, where a step is played at a time', async () => {
  const own = { ...settings, batches: { maxStaleness: 0 } };
  const run = await start({ world: dice, recipe: 'grpo', settings: own, name: 'in-turn', runs });
  for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
  await expect(run.finished).rejects.toMatchObject({ code: 'cancelled' });
  await (await resume('in-turn', { world: dice, runs })).finished;
  const resumed = eventsOf('in-turn').find(({ type }) => type === 'resume');
  expect(resumed).toBeDefined();
  expect(resumed).not.toHaveProperty('dropped');
});

test('a step that is learned in parts takes an update for each, and learns from every group once', async () => {
  const own = { ...settings, batches: { parts: 2 }, optimizer: { minibatches: 1 } };
  await train({ world: dice, recipe: 'grpo', settings: own, name: 'parts', runs });
  const whole = { ...settings, batches: {}, optimizer: { minibatches: 1 } };
  await train({ world: dice, recipe: 'grpo', settings: whole, name: 'whole', runs });
  const [parts, once] = [episodesOf('parts'), episodesOf('whole')];
  expect([...parts.keys()]).toEqual([...once.keys()]);
  for (const [key, episode] of parts) expect(fateOf(episode)).toEqual(fateOf(once.get(key)!));
  // The first step is played by the same weights, so its credit is the same, however it is learned.
  const credits = (all: Map<string, Episode>): unknown[] =>
    [...all.values()].filter(({ key }) => key.step === 1).map(({ credit }) => credit?.agent?.advantages_K);
  expect(credits(parts)).toEqual(credits(once));
  for (const event of eventsOf('parts')) {
    if (event.type === 'step') expect(event.metrics['policy/staleness']).toBe(0);
  }
});

test('where groups are learned from as they end, a run that goes on plays those that were under way, and each is learned once', async () => {
  const own: TrainSettings = { ...settings, batches: { maxStaleness: 2, order: 'ended' } };
  // The first task of the first step takes until the run was stopped.
  let isArmed = false;
  let slow: number | undefined;
  let goOn = (): void => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const world = slowDice((task) => {
    if (isArmed) slow ??= task;
    return task === slow ? held : undefined;
  });
  const arm = (event: StoredEvent): void => {
    isArmed ||= event.type === 'phase' && event.phase === 'train';
  };
  const run = await start({
    ...{ world, recipe: 'grpo', settings: own, name: 'slow', runs },
    sinks: [{ event: arm }],
  });
  for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
  await expect(run.finished).rejects.toMatchObject({ code: 'cancelled' });
  goOn();
  const learned = groupsOf('slow', 2);
  expect(learned).not.toContain('1/0');
  expect(learned.some((name) => name.startsWith('3/'))).toBe(true);

  await (await resume('slow', { world, runs })).finished;
  const all = Array.from({ length: STEPS }, (_, step) => [0, 1, 2, 3].map((group) => `${step + 1}/${group}`));
  expect(groupsOf('slow', STEPS).sort()).toEqual(all.flat());
});

test('a run that fails ends what it plays ahead before it says so', async () => {
  let isArmed = false;
  const quick = new Set<number>();
  // The tasks of the first step end; those of the second never would.
  const world = slowDice((task) => {
    if (!isArmed || (quick.size < 4 && quick.add(task)) || quick.has(task)) return undefined;
    return new Promise(() => {});
  });
  let opened = 0;
  const watched: World = {
    ...world,
    open: async (...asked) => {
      const session = await world.open(...asked);
      const close = session.close.bind(session);
      opened++;
      return Object.assign(session, {
        close: async () => {
          await close();
          opened--;
        },
      });
    },
  };
  let ahead = 0;
  const recipe = defineRecipe({
    name: 'failing',
    learn: () => async () => {
      ahead = opened;
      throw new Error('There is nothing to learn');
    },
  });
  const event = (one: StoredEvent): void => {
    isArmed ||= one.type === 'phase' && one.phase === 'train';
  };
  const failing = { world: watched, recipe, settings, name: 'failing', runs, sinks: [{ event }] };
  await expect(train(failing)).rejects.toThrow('There is nothing to learn');
  expect(ahead).toBe(EPISODES);
  expect(opened).toBe(0);
});
