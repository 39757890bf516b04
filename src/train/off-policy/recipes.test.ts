/** Every recipe that does not learn by policy gradient from fresh groups: tiny runs that learn, stop and go on. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { defineCuration } from '../../curation/curation.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { resume, start, train } from '../../exports/train.ts';
import { readSafetensors } from '../../model/checkpoint/safetensors.ts';
import { readEvents } from '../../store/log-lines.ts';
import type { TrainSettings } from '../config/config.ts';
import { readBy } from '../config/run-schema.ts';
import type { TrainState } from '../loop/state.ts';
import { findRecipe, recipes } from '../recipes/recipes.ts';
import type { Remembered } from './replay.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-off-policy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORDS = ['red', 'green', 'blue', 'black'] as const;

/** Three times: say the word that was said. Each time pays a third. */
const echo = defineEnvironment<
  number,
  { readonly said: number; readonly turn: number; readonly right: number }
>({
  name: 'echo',
  description: 'say the word that was said',
  maxTurns: 3,
  tasks: () => ({ size: WORDS.length, at: (index) => index }),
  start: (task) => ({ state: { said: task, turn: 0, right: 0 }, messages: [user(`say:${WORDS[task]!}`)] }),
  step: ({ said, turn, right }, action, rng) => {
    const isRight = action === WORDS[said];
    const next = { said: rng.int(WORDS.length), turn: turn + 1, right: right + (isRight ? 1 : 0) };
    const done = turn === 2;
    return {
      state: next,
      observation: done ? '' : `say:${WORDS[next.said]!}`,
      reward: isRight ? 1 / 3 : 0,
      done,
      success: done && next.right === 3,
      valid: WORDS.some((word) => word === action),
    };
  },
  actions: () => WORDS,
  solve: ({ said }) => WORDS[said]!,
});

/** The same, where the word is thought before it is said. */
const thoughtful = defineEnvironment({
  ...echo,
  correctThought: ({ said }: { readonly said: number }) => `it:${WORDS[said]!}`,
});

const placeOf = (recipe: string) => (recipe === 'gtr' ? thoughtful : echo);

const common: TrainSettings = {
  seed: 3,
  steps: 3,
  teacher: 'teacher',
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 48, steps: 4, batch: 16 },
  rollout: { tasks: 4, group: 4, minimumMembers: 1 },
  replay: { size: 40, updates: 2, batch: 8 },
  critic: { updates: 2, warmupSteps: 1 },
  objective: { valueWarmup: 1 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1 },
};

// Who teaches is another warm start, with the same words.
beforeAll(async () => {
  const settings = readBy(findRecipe('rloo'), { ...common, seed: 4, steps: 0 });
  await train({ world: echo, recipe: 'rloo', settings, name: 'teacher', runs: folder });
});

/** Whatever earned anything is good enough, after so few steps. */
const lenient: TrainSettings = { objective: { options: { alpha: 0, finalAlpha: 0, beta: 0 } } };

const settingsOf = (recipe: string, own: TrainSettings = {}): TrainSettings =>
  readBy(findRecipe(recipe), { ...common, ...(recipe === 'agent-r' && lenient), ...own });

const offPolicy = recipes.filter(({ learn }) => learn !== undefined);

const LEARNS_FROM_FRESH = [
  ...['dpo', 'kto', 'rebel', 'refuel', 'eto', 'agent-q'],
  ...['archer', 'spear-sil', 'sft-rl', 'gtr', 'distillation'],
];

/** The run's history without what time changes. */
function historyOf(name: string): Record<string, unknown>[] {
  return readEvents(join(folder, name, 'events.jsonl'))
    .filter(({ type }) => type === 'step' || type === 'evaluation')
    .map((event) => JSON.parse(JSON.stringify(event, withoutTimes)) as Record<string, unknown>);
}

function withoutTimes(key: string, value: unknown): unknown {
  return key === 'time' || key === 'seconds' || /^(time|speed|loop)\//.test(key) ? undefined : value;
}

describe.each(offPolicy.map(({ name }) => name))('%s', (recipe) => {
  test('updates are finite and applied, and a run that was stopped goes on as if it had not been', async () => {
    const environment = placeOf(recipe);
    const settings = settingsOf(recipe);
    await train({ world: environment, recipe, settings, name: recipe, runs: folder });
    const whole = historyOf(recipe);
    const steps = whole
      .filter(({ type }) => type === 'step')
      .map(({ metrics }) => metrics as Record<string, number>);
    expect(steps).toHaveLength(3);
    for (const metrics of steps) {
      for (const [name, value] of Object.entries(metrics)) expect(value, name).toSatisfy(Number.isFinite);
      expect(metrics['tokens/trained']).toBeGreaterThanOrEqual(0);
      expect(metrics['optim/refused_updates'] ?? 0).toBe(0);
    }
    // Sampler and trainer are compared where fresh tokens are learned from, and nowhere else.
    const gaps = steps.flatMap((metrics) => metrics['policy/kl_sample_train'] ?? []);
    for (const gap of gaps) expect(Math.abs(gap)).toBeLessThan(1e-6);
    if (LEARNS_FROM_FRESH.includes(recipe)) expect(steps[2]!['policy/kl_sample_train']).toBeDefined();
    // Digi-Q imitates what it samples only where the critic prefers it to what was recorded.
    else if (recipe !== 'digi-q') expect(gaps).toEqual([]);
    // After the warm-up of a critic, every recipe here trains the policy.
    expect(steps[2]!['tokens/trained']).toBeGreaterThan(0);
    expect(steps[2]!['optim/gradient_norm']).toBeGreaterThan(0);

    const name = `${recipe}-stopped`;
    const stopped = await start({
      world: environment,
      recipe,
      settings,
      name,
      runs: folder,
      sinks: [
        {
          event: (event) => {
            if (event.type === 'step' && event.step === 2) stopped.stop();
          },
        },
      ],
    });
    await expect(stopped.finished).rejects.toThrow('asked to stop');
    await (await resume(name, { world: environment, runs: folder })).finished;
    expect(historyOf(name)).toEqual(whole);
  });
});

test('a run learns from the episodes that another run stored', async () => {
  const stored = settingsOf('rloo', { rolloutLog: 1 });
  await train({ world: echo, recipe: 'rloo', settings: stored, name: 'source', runs: folder });
  const from = settingsOf('kto', { data: 'source' });
  const summary = await train({
    world: echo,
    recipe: 'kto',
    settings: from,
    name: 'reader',
    runs: folder,
  });
  expect(summary.episodes).toBe(0);
  expect(summary.tokens.trained).toBeGreaterThan(0);
});

test('SPEAR remembers nothing of episodes that a curation leaves out of the loss', async () => {
  const compared = defineCuration({
    name: 'compared',
    summary: 'episodes set baselines, and none is learned from',
    choose: () => ({ choice: () => ({ inBaseline: true, inLoss: false, weight: 1 }) }),
  });
  const settings = { ...settingsOf('spear-sil'), curation: new Map([[compared, {}]]) };
  await train({ world: echo, recipe: 'spear-sil', settings, name: 'compared', runs: folder });
  const kept = historyOf('compared')
    .filter(({ type }) => type === 'step')
    .map(({ metrics }) => (metrics as Record<string, number>)['replay/episodes']);
  expect(kept).toEqual([0, 0, 0]);
});

test('recipes that must play refuse recorded episodes, before anything runs', async () => {
  const from = settingsOf('rebel', { data: 'demonstrations' });
  await expect(train({ world: echo, recipe: 'rebel', settings: from, runs: folder })).rejects.toThrow(
    'The recipe "rebel" cannot be used for echo: it needs episodes that it plays itself (data names recorded ones). The nearest that can is',
  );
});

test('GTR is refused where nobody can say what should have been thought', async () => {
  const run = train({ world: echo, recipe: 'gtr', settings: settingsOf('gtr'), runs: folder });
  await expect(run).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The recipe "gtr" cannot be used for echo: it needs an environment that corrects thoughts (correctThought). The nearest that can is "turn-gae", which does not read replay.batch: advantages of whole turns from a value head, so that discounts count turns; clipped policy gradient.]`,
  );
  // A corrector that is given beside the environment, whose actions cannot be told from thoughts.
  const raw = { ...fromEnvironment(echo), correctThought: () => 'red' };
  const other = train({ world: raw, recipe: 'gtr', settings: settingsOf('gtr'), runs: folder });
  await expect(other).rejects.toThrow('an action protocol that tells thoughts from actions, such as tags');
});

test('GTR imitates what the corrector says: thoughts that were wrong become right', async () => {
  const shares: number[] = [];
  await train({
    // Demonstrations think of any word.
    world: {
      ...echo,
      correctThought: ({ said }, thought, rng) => `it:${thought === '' ? rng.pick(WORDS) : WORDS[said]!}`,
    },
    recipe: 'gtr',
    runs: folder,
    settings: {
      ...settingsOf('gtr'),
      steps: 9,
      clone: { demonstrations: 48, steps: 60, batch: 16, learningRate: 1e-2, randomRate: 0 },
      // No advantage reaches the thoughts, so that nothing else can make them right.
      objective: { valueWarmup: 0, options: { thoughtWeight: 0 } },
      optimizer: { learningRate: 1e-2, warmupSteps: 0, epochs: 4 },
      replay: { batch: 64 },
    },
    sinks: [
      {
        event: (event) => {
          if (event.type === 'step') shares.push(event.metrics['thoughts/corrected_share']!);
        },
      },
    ],
  });
  expect(shares[0]).toBeGreaterThan(0.7);
  expect((shares[6]! + shares[7]! + shares[8]!) / 3).toBeLessThan(0.5);
});

test.each(['spear-sil', 'gtr'])(
  '%s remembers as many steps as it says, however much a step plays',
  async (recipe) => {
    const remembered: number[] = [];
    const replayAge = 3;
    await train({
      world: placeOf(recipe),
      recipe,
      runs: folder,
      settings: readBy(findRecipe(recipe), {
        ...common,
        steps: 7,
        // Nothing is learned, so that every step is like the first: more than a count of 40 could hold.
        rollout: { ...common.rollout, tasks: 8, group: 8 },
        optimizer: { learningRate: 1e-9 },
        objective: { ...common.objective, options: { replayAge } },
        checkpoint: { every: 100 },
      }),
      sinks: [
        {
          event: (event) => {
            if (event.type === 'step') remembered.push(event.metrics['replay/episodes']!);
          },
        },
      ],
    });
    const mostOfAStep = 64;
    expect(remembered[3]).toBeGreaterThan(40);
    expect(Math.max(...remembered)).toBeLessThanOrEqual((replayAge + 1) * mostOfAStep);
    // It grows until the first step is too old, and then no more.
    expect(remembered[2]).toBeGreaterThan(remembered[1]!);
    expect(remembered[6]! / remembered[3]!).toBeLessThan(1.5);
  },
);

test('SPEAR remembers good episodes only', async () => {
  const checkpoints = join(folder, 'spear-sil', 'checkpoints');
  const [last] = readdirSync(checkpoints).sort().reverse();
  const { state } = JSON.parse(readFileSync(join(checkpoints, last!, 'state.json'), 'utf8')) as {
    readonly state: TrainState;
  };
  const { kept } = state.memory.recipe as unknown as Remembered;
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.every(({ advantage = 0 }) => advantage > 0)).toBe(true);
});

test('a critic of its own begins with what the policy has imitated', async () => {
  const settings = settingsOf('archer', { steps: 0 });
  await train({ world: echo, recipe: 'archer', settings, name: 'archer-begins', runs: folder });
  const checkpoint = join(folder, 'archer-begins', 'checkpoints', '0');
  const weightsIn = async (place: string) =>
    (await readSafetensors(join(checkpoint, place, 'model.safetensors'))).tensors;
  const [policy, critic] = [await weightsIn(''), await weightsIn('critic')];
  for (const [name, weight] of policy) expect(critic.get(name), name).toEqual(weight);
  expect(critic.size).toBeGreaterThan(policy.size);
});
