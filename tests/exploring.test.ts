/**
 * Runs whose prompts, bonuses, buffers and guidance remember: what they play, what is recorded, what evaluations read, and what a
 * resumed run does.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keyText } from '../src/core/episode-key.ts';
import type { Message } from '../src/core/messages.ts';
import {
  defineEnvironment,
  definePrompts,
  defineProposer,
  type Episode,
  type RunSettings,
  user,
} from '../src/exports/index.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-exploring-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const STEPS = 4;
const tiny = {
  seed: 3,
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 8, batch: 8 },
  rollout: { tasks: 3, group: 4, maxTurns: 6 },
  evaluation: { every: 2, tasks: 2, finalTasks: 2 },
  checkpoint: { every: 1, keep: 9 },
} satisfies RunSettings;

const WORDS = ['up', 'down', 'left', 'right'];

/** Writes another direction at each call; its third answer is none. */
const directions = () => {
  let calls = 0;
  return defineProposer({
    name: 'directions',
    propose: (messages: readonly Message[], { step }) => {
      if (++calls === 3) throw new Error('busy');
      expect(messages.at(-1)!.content).toContain('The instruction');
      return WORDS[(step + messages.length) % WORDS.length]!;
    },
  });
};

const shard = (name: string, file: string | number) => join(runs, name, 'rollouts', `${file}.jsonl.gz`);
const episodesOf = (name: string, file: string | number): Episode[] =>
  readEpisodeFile(shard(name, file))!.groups.flatMap(({ members }) => [...members]);
const eventsOf = (name: string) => readEvents(join(runs, name, 'events.jsonl'));
const stateOf = (name: string, step: number) =>
  (
    JSON.parse(readFileSync(join(runs, name, 'checkpoints', String(step), 'state.json'), 'utf8')) as {
      readonly state: {
        readonly memory: { readonly prompts: { all: { text: string }[] } };
        instruction: string;
      };
    }
  ).state;
const firstRead = ({ calls }: Episode): string[] => calls[0]!.messages.map(({ content }) => content);

test('prompts are played, recorded, told, and read in evaluations', { timeout: 300_000 }, async () => {
  const prompts = {
    ...{ name: 'population', initial: ['', 'left'], every: 1, trials: 1, size: 4 },
    proposer: directions(),
  };
  await train({ world: 'frozen-lake', recipe: 'grpo', name: 'told', runs, settings: { ...tiny, prompts } });
  const used = new Set<string>();
  for (let step = 1; step <= STEPS; step++) {
    const { groups } = readEpisodeFile(shard('told', step))!;
    for (const { members } of groups) {
      const texts = new Set(members.map(({ prompt = '' }) => prompt));
      expect(texts.size).toBe(1);
      const [text] = [...texts];
      used.add(text!);
      for (const episode of members) expect(firstRead(episode).at(-1) === text).toBe(text !== '');
    }
  }
  expect(used.size).toBeGreaterThan(2);
  const { memory, instruction } = stateOf('told', STEPS);
  expect(memory.prompts.all.map(({ text }) => text)).toContain(instruction);
  for (const episode of episodesOf('told', `evaluation-${STEPS}`))
    expect(episode.prompt ?? '').toBe(instruction);
  const warned = eventsOf('told').flatMap((event) =>
    event.type === 'warning' && event.code === 'proposer-failed' ? [event.message] : [],
  );
  expect(warned).toEqual([
    expect.stringMatching(
      /^step \d: 1 × the proposer of prompts gave no answer: Proposer "directions" threw an error/,
    ),
  ]);
  const writers = eventsOf('told').flatMap((event) => (event.type === 'prompts' ? (event.by ?? []) : []));
  expect(new Set(writers)).toEqual(new Set(['directions']));
  const metrics = eventsOf('told').flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  expect(metrics.every((one) => one['prompts/used']! >= 1 && one['prompts/proposals']! >= 0)).toBe(true);
});

test('whoever plays a checkpoint reads its best prompt', { timeout: 300_000 }, async () => {
  const always = definePrompts({ name: 'always', ask: () => 'down', best: () => 'up' });
  const settings = { ...tiny, steps: 1, prompts: { name: always } };
  const run = await start({ world: 'frozen-lake', recipe: 'rloo', name: 'best', runs, settings });
  await run.finished;
  const played = await run.play(0);
  expect([played.prompt, firstRead(played).at(-1)]).toEqual(['up', 'up']);
  expect(episodesOf('best', 1).map(({ prompt }) => prompt)).toEqual(episodesOf('best', 1).map(() => 'down'));
});

const everything = {
  ...tiny,
  // Small lakes, so that the policy succeeds at some and whole groups fail at others.
  environment: { size: 3, holes: 0.1, minimumPath: 1 },
  rollout: { tasks: 4, group: 3, maxTurns: 3 },
  credit: { shape: { 'exploration-bonus': { scope: 'product', steps: 3 }, novelty: { steps: 5 } } },
  objective: {
    entropyCoefficient: 0.01,
    entropySmoothing: 1,
    smoothing: { low: 0.5, high: 1.5, fades: false },
  },
  curation: { 'self-imitation': { warmupSteps: 2, batch: 4 }, 'void-turns': {} },
  tasks: { name: 'guidance', levels: 2 },
  prompts: { name: 'population', initial: ['up', 'left', 'down'], trials: 1 },
} satisfies RunSettings;

const timeless = (name: string) => {
  const steps = eventsOf(name).flatMap((event) =>
    event.type === 'step'
      ? [
          [
            event.step,
            Object.entries(event.metrics).filter(([path]) => !/^(time|speed|loop)\//.test(path)),
          ] as const,
        ]
      : [],
  );
  return [...new Map(steps)];
};

test('all of it goes on from a checkpoint bit for bit', { timeout: 300_000 }, async () => {
  await train({ world: 'frozen-lake', recipe: 'grpo', name: 'whole', runs, settings: everything });
  const run = await start({ world: 'frozen-lake', recipe: 'grpo', name: 'cut', runs, settings: everything });
  for await (const event of run.events) if (event.type === 'step' && event.step === 2) run.stop();
  await run.finished.catch(() => undefined);
  await (await resume('cut', { runs })).finished;
  expect(timeless('cut')).toEqual(timeless('whole'));
  expect(stateOf('cut', STEPS)).toEqual(stateOf('whole', STEPS));
  const { memory } = stateOf('whole', STEPS) as unknown as {
    memory: { credit: Record<string, object>; recipe: { entropies: unknown[] } };
  };
  expect(Object.keys(memory.credit).sort()).toEqual([
    ...['exploration-bonus/counts', 'exploration-bonus/step', 'novelty/counts', 'novelty/step'],
  ]);
  expect(memory.recipe.entropies.length).toBeGreaterThan(0);

  // Guided attempts read what the environment says before the first turn.
  const guided = [1, 2, 3, 4]
    .flatMap((step) => episodesOf('whole', step))
    .filter(({ calls }) => calls[0]!.messages.length > 2);
  expect(guided.length).toBeGreaterThan(0);
  for (const episode of guided) expect(firstRead(episode).at(-1)).toMatch(/^(left|right|up|down)( |$)/);
  // What is learned from them is without it.
  for (const { stripped, calls } of guided) expect(stripped).toEqual(calls[0]!.messages.slice(-1));
  const counts = eventsOf('whole').flatMap((event) => (event.type === 'step' ? [event.metrics] : []));
  const sum = (path: string) => counts.reduce((all, metrics) => all + (metrics[path] ?? 0), 0);
  expect(sum('guidance/episodes')).toBeGreaterThan(0);
  expect(sum('guidance/stripped')).toBe(sum('guidance/episodes'));

  // Replayed episodes have the advantage that the curation gave them, and no part in baselines.
  const replayed = [2, 3, 4].flatMap((step) =>
    episodesOf('whole', step).filter(({ key }) => key.step < step),
  );
  expect(replayed.length).toBeGreaterThan(0);
  for (const { key, credit } of replayed) {
    const own = credit?.agent;
    expect(own, keyText(key)).toMatchObject({ inBaseline: false, inLoss: true });
    expect(own!.advantage).toBeGreaterThan(0);
    expect(own!.advantages_K).toEqual(own!.advantages_K.map(() => own!.advantage));
  }
});

test.each<readonly [string, string, RunSettings, RegExp]>([
  ['experiences', 'grpo', { prompts: 'experiences' }, /needs somebody who writes prompts/],
  ['unknown proposer', 'grpo', { prompts: { proposer: 'nobody' } }, /no such proposer/],
  [
    'small learner',
    'grpo',
    { prompts: { name: 'population', proposer: 'learner' } },
    /writes words of its task/,
  ],
  [
    'unknown words',
    'grpo',
    { prompts: { name: 'population', initial: ['Think first.'] } },
    /does not know all words/,
  ],
  ['no plays', 'sft', { prompts: 'population' }, /does not read "prompts/],
  ['critic', 'ppo', { curation: { 'self-imitation': {} } }, /needs a recipe without a critic/],
  ['no credit', 'dpo', { curation: { 'self-imitation': {} } }, /needs a recipe that learns by credit/],
  [
    'parts',
    'grpo',
    { credit: { shape: { novelty: {} } }, batches: { parts: 2 } },
    /"novelty" looks at whole steps/,
  ],
  ['no bonus', 'grpo', { objective: { entropySmoothing: 1 } }, /needs an entropy bonus to smooth/],
])('refused: %s', { timeout: 120_000 }, async (_, recipe, settings, reason) => {
  const given = { ...(recipe === 'grpo' || recipe === 'ppo' ? tiny : { seed: 1 }), ...settings };
  await expect(train({ world: 'frozen-lake', recipe, runs, settings: given })).rejects.toThrow(reason);
});

test('guidance needs an environment that has some', { timeout: 120_000 }, async () => {
  const mute = defineEnvironment({
    name: 'mute',
    description: '',
    maxTurns: 1,
    tasks: () => ({ size: 2, at: () => ({}) }),
    start: () => ({ state: {}, messages: [user('go')] }),
    step: () => ({ state: {}, observation: '', reward: 0, done: true, valid: true }),
    actions: () => ['go'],
  });
  await expect(
    train({ world: mute, recipe: 'grpo', runs, settings: { ...tiny, tasks: 'guidance' } }),
  ).rejects.toThrow(/needs an environment that guides/);
});
