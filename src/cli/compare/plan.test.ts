import { expect, test } from 'vitest';
import { findEnvironment } from '../../run/load/environments.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { findRecipe } from '../../train/recipes/recipes.ts';
import { parseBudget } from './budget-text.ts';
import { type PlanRequest, planComparison } from './plan.ts';

const factory = await findEnvironment('frozen-lake');
const request: PlanRequest = {
  factory,
  recipes: ['ppo', 'rloo'].map(findRecipe),
  seeds: 2,
  budget: { unit: 'steps', amount: 20 },
  set: ['rollout.group=4'],
  name: undefined,
  root: 'runs',
};

function messageOf(work: () => unknown): string {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

test('each seed has one warm start, without a critic, and every recipe begins with it', () => {
  const { jobs, name } = planComparison(request);
  expect(name).toBe('frozen-lake-ppo-vs-rloo');
  expect(jobs.map((job) => [job.name, job.after])).toEqual([
    ['start-1', undefined],
    ['ppo-1', 'start-1'],
    ['rloo-1', 'start-1'],
    ['start-2', undefined],
    ['ppo-2', 'start-2'],
    ['rloo-2', 'start-2'],
  ]);
  expect(jobs[0]!.words.join(' ')).toMatchInlineSnapshot(
    `"train frozen-lake --recipe rloo --name start-1 --runs runs/frozen-lake-ppo-vs-rloo --set threads=1 --set rolloutLog=0 --set evaluation.every=2 --set steps=20 --set rollout.group=4 --set steps=0 --set seed=1"`,
  );
  expect(jobs[4]!.words.join(' ')).toMatchInlineSnapshot(
    `"train frozen-lake --recipe ppo --name ppo-2 --runs runs/frozen-lake-ppo-vs-rloo --set threads=1 --set rolloutLog=0 --set evaluation.every=2 --set steps=20 --set rollout.group=4 --set start=start-2 --set seed=2"`,
  );
  expect(jobs[4]!.config).toMatchObject({ seed: 2, start: 'start-2', steps: 20, rollout: { group: 4 } });
});

test('a budget of tokens or minutes ends runs whatever the number of steps', () => {
  const { jobs } = planComparison({ ...request, budget: { unit: 'minutes', amount: 0.5 } });
  expect(jobs[1]!.config).toMatchObject({ budget: { minutes: 0.5 }, evaluation: { every: 5 } });
  expect(jobs[1]!.config.steps).toBeGreaterThan(10_000);
  expect(planComparison({ ...request, budget: undefined }).jobs[1]!.config.steps).toBe(120);
});

test('a person may change what the comparison chooses, but not the seed and the start', () => {
  const { jobs } = planComparison({ ...request, set: ['threads=2', 'evaluation.every=3'] });
  expect(jobs[1]!.config).toMatchObject({ threads: 2, evaluation: { every: 3 } });
  expect(messageOf(() => planComparison({ ...request, set: ['seed=3'] }))).toMatchInlineSnapshot(
    `"comparison-setting: A comparison chooses "seed" itself: one for each seed. Use --seeds to say how many."`,
  );
});

test('everything is refused before anything runs', () => {
  const selfPlay = [findRecipe('self-play')];
  expect(messageOf(() => planComparison({ ...request, recipes: selfPlay }))).toContain('recipe-unfit');
  expect(messageOf(() => planComparison({ ...request, set: ['rollout.gruop=4'] }))).toContain(
    'Did you mean "rollout.group"?',
  );
  const wide: Recipe = { ...findRecipe('rloo'), name: 'wide', settings: { model: { width: 256 } } };
  const recipes = [findRecipe('rloo'), wide];
  expect(messageOf(() => planComparison({ ...request, recipes }))).toMatchInlineSnapshot(
    `"comparison-start: The recipes "rloo" and "wide" cannot share a warm start: they differ in model.width. Seen: 128 and 256. Set it for all: --set model.width=256."`,
  );
  expect(messageOf(() => planComparison({ ...request, recipes, set: ['model.width=128'] }))).toBe('accepted');
});

test('budgets', () => {
  expect(parseBudget('steps=20')).toEqual({ unit: 'steps', amount: 20 });
  expect(parseBudget('tokens=1.5M')).toEqual({ unit: 'tokens', amount: 1_500_000 });
  expect(parseBudget('minutes=0.5')).toEqual({ unit: 'minutes', amount: 0.5 });
  for (const text of ['steps', 'steps=0', 'steps=1.5', 'hours=2', '20']) {
    expect(messageOf(() => parseBudget(text))).toContain('option-value');
  }
  expect(messageOf(() => parseBudget('20'))).toMatchInlineSnapshot(
    `"option-value: The value of --budget is not allowed. Seen: 20. Allowed: steps=N, tokens=N or minutes=N, above 0, such as steps=20, tokens=500k or minutes=1.5."`,
  );
});
