import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findEnvironment } from '../run/load/environments.ts';
import { makeProject } from '../run/load/project.test-helper.ts';
import type { Recipe } from '../train/recipes/recipe.ts';
import { findRecipe } from '../train/recipes/recipes.ts';
import { armsOf, parseArm } from './arm.ts';
import { parseBudget } from './budget.ts';
import { jobsOf } from './jobs.ts';
import { parseSeeds, seedsText } from './seed-list.ts';
import { prepareStudy, type StudyRequest } from './study.ts';

const factory = await findEnvironment('frozen-lake');
const request: StudyRequest = {
  worlds: [factory],
  arms: await armsOf(['ppo', 'rloo'], []),
  budget: { axis: 'steps', amount: 20 },
  set: ['rollout.group=4'],
  name: undefined,
  root: 'runs',
};
const seeds = [1, 2];

/** Hashes change with every module. */
const named = (text: string): string => text.replaceAll(/-[0-9a-f]{10}\b/g, '-HASH');

function messageOf(work: () => unknown): string {
  try {
    work();
    return 'accepted';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
}

test('each seed has one warm start, without a critic, and every arm begins with it', async () => {
  const study = prepareStudy(request);
  expect(study.name).toBe('frozen-lake-ppo-vs-rloo');
  const jobs = jobsOf(study, { seeds });
  expect(jobs.map((job) => [job.name, job.after ?? ''].map(named))).toEqual([
    ['frozen-lake-start-1-HASH', ''],
    ['frozen-lake-ppo-1-HASH', 'frozen-lake-start-1-HASH'],
    ['frozen-lake-rloo-1-HASH', 'frozen-lake-start-1-HASH'],
    ['frozen-lake-start-2-HASH', ''],
    ['frozen-lake-ppo-2-HASH', 'frozen-lake-start-2-HASH'],
    ['frozen-lake-rloo-2-HASH', 'frozen-lake-start-2-HASH'],
  ]);
  expect(named(jobs[0]!.words.join(' '))).toMatchInlineSnapshot(
    `"train frozen-lake --recipe rloo --name frozen-lake-start-1-HASH --runs runs/compared --set threads=1 --set rolloutLog=0 --set evaluation.every=2 --set steps=20 --set rollout.group=4 --set steps=0 --set seed=1"`,
  );
  expect(named(jobs[4]!.words.join(' '))).toMatchInlineSnapshot(
    `"train frozen-lake --recipe ppo --name frozen-lake-ppo-2-HASH --runs runs/compared --set threads=1 --set rolloutLog=0 --set evaluation.every=2 --set steps=20 --set rollout.group=4 --set start=frozen-lake-start-2-HASH --set seed=2"`,
  );
  expect(jobs[4]!.config).toMatchObject({ seed: 2, steps: 20, rollout: { group: 4 } });
});

test('recorded episodes, which are imitated, decide a warm start: a file by what is in it', async () => {
  const project = makeProject({ 'rows.jsonl': '{}\n' });
  const arms = await armsOf([], ['bc=filtered-bc']);
  const startWith = (set: readonly string[]): string =>
    jobsOf(prepareStudy({ ...request, arms, set }), { seeds: [1] })[0]!.name;
  const file = [`data=${project.path('rows.jsonl')}`];
  const names = [startWith([]), startWith(['data=some-run']), startWith(file)];
  expect(startWith(file)).toBe(names[2]);
  project.write('rows.jsonl', '{}\n{}\n');
  expect(new Set([...names, startWith(file)]).size).toBe(4);
  expect(startWith(['data=demonstrations'])).toBe(names[0]);
  project.remove();
});

test('arms with different contexts have a warm start for each context', async () => {
  const arms = await armsOf(
    ['rloo'],
    [
      'latest=rloo,context=latest',
      'critic=ppo,context=latest',
      'control=rloo,context=latest,context.trained=false',
    ],
  );
  const jobs = jobsOf(prepareStudy({ ...request, arms }), { seeds: [1] });
  const [full, latest] = jobs.map(({ name }) => name);
  expect(jobs.map(({ kind, arm, after }) => [kind, arm, after])).toEqual([
    ['start', 'rloo', undefined],
    ['start', 'latest', undefined],
    ['run', 'rloo', full],
    ['run', 'latest', latest],
    ['run', 'critic', latest],
    // Scripts write what a context asks for, so that it is imitated in any case.
    ['run', 'control', latest],
  ]);
});

test('arms with different turn controls have a warm start for each that demonstrations are played under', async () => {
  const startsOf = async (...arms: readonly string[]) =>
    jobsOf(prepareStudy({ ...request, arms: await armsOf([], arms) }), { seeds: [1] }).flatMap(
      ({ after }) => after ?? [],
    );
  const told = 'told=rloo,turns.name=extended';
  const starts = await startsOf(
    'usual=rloo',
    told,
    'schedule=rloo,turns.name=scaling-inter,turns.limits=[2,4]',
    'other=rloo,turns.name=retry',
  );
  expect(starts[2]).toBe(starts[0]);
  // A model has room for the longest limit, and the words that stages show.
  const [longer] = await startsOf('longer=rloo,turns.name=scaling-inter,turns.limits=[6,99]');
  const [staged] = await startsOf('staged=rloo,stages=[{"until":9,"set":{"rollout.maxTurns":4}},{"set":{}}]');
  expect(new Set([starts[0], longer, staged]).size).toBe(3);
  expect(new Set(starts).size).toBe(3);
  // What is measured before is stored with the start, and differs.
  const [measured] = await startsOf(`${told},evaluation.turnControl=true`);
  expect([await startsOf(told), measured === starts[1]]).toEqual([[starts[1]], false]);
});

test('a name says what decides the run: equal runs of different comparisons are one', async () => {
  const names = (change: Partial<StudyRequest>): string[] =>
    jobsOf(prepareStudy({ ...request, ...change }), { seeds: [1] }).map(({ name }) => name);
  const [start, ppo, rloo] = names({});
  expect(names({ arms: await armsOf(['rloo'], []), name: 'other' })).toEqual([start, rloo]);
  expect(names({ arms: await armsOf([], ['mine=ppo']) })).toEqual([start, ppo]);
  // A warm start does not know what comes after it.
  const [sameStart, otherPpo] = names({ set: ['rollout.group=8'] });
  expect(sameStart).toBe(start);
  expect(otherPpo).not.toBe(ppo);
  expect(names({ set: ['rollout.group=4', 'model.width=64'] })[0]).not.toBe(start);
});

test('arms have settings of their own, and a comparison several worlds', async () => {
  const arms = await armsOf(['grpo'], ['wide=grpo,rollout.group=16,objective.clipHigh=0.3']);
  const study = prepareStudy({ ...request, arms, worlds: [factory, await findEnvironment('maze')] });
  expect(study.name).toBe('frozen-lake+maze-grpo-vs-wide');
  const jobs = jobsOf(study, { seeds: [7] });
  expect(jobs.map(({ world, arm, kind }) => `${world} ${kind} ${arm}`)).toEqual([
    'frozen-lake start grpo',
    'frozen-lake run grpo',
    'frozen-lake run wide',
    'maze start grpo',
    'maze run grpo',
    'maze run wide',
  ]);
  expect(jobs[2]!.config).toMatchObject({ rollout: { group: 16 }, objective: { clipHigh: 0.3 } });
});

test('rates and validation tasks make runs of their own, and the arm’s own rate is the same run', async () => {
  const study = prepareStudy({ ...request, arms: await armsOf(['rloo'], []) });
  const own = study.worlds[0]!.cells[0]!.run.config.optimizer.learningRate;
  const [, plain] = jobsOf(study, { seeds: [1] });
  const [, same, other] = jobsOf(study, { seeds: [1], rates: () => [own, 2 * own] });
  expect(same!.name).toBe(plain!.name);
  expect(other!.config.optimizer.learningRate).toBe(2 * own);
  expect(other!.name).not.toBe(plain!.name);
  const [start, tuned] = jobsOf(study, { seeds: [1], split: 'validation' });
  expect(tuned!.config.evaluation.split).toBe('validation');
  expect(start!.name).not.toBe(plain!.after);
});

test('a budget other than steps ends runs whatever the number of steps, and is measured along the way', () => {
  const config = (budget: StudyRequest['budget']) =>
    jobsOf(prepareStudy({ ...request, budget }), { seeds: [1] })[1]!.config;
  expect(config({ axis: 'seconds', amount: 30 })).toMatchObject({
    budget: { minutes: 0.5 },
    evaluation: { every: 5 },
  });
  expect(config({ axis: 'seconds', amount: 30 }).steps).toBeGreaterThan(10_000);
  // 64 tasks of 4 episodes a step are 20 steps.
  expect(config({ axis: 'episodes', amount: 5120 })).toMatchObject({
    budget: { episodes: 5120 },
    evaluation: { every: 2 },
  });
  expect(config({ axis: 'turns', amount: 5000 })).toMatchObject({ budget: { turns: 5000 } });
  expect(config(undefined).steps).toBe(120);
});

test('a person may change what the comparison chooses, but not the seed and the start', () => {
  const jobs = jobsOf(prepareStudy({ ...request, set: ['threads=2', 'evaluation.every=3'] }), { seeds });
  expect(jobs[1]!.config).toMatchObject({ threads: 2, evaluation: { every: 3 } });
  expect(messageOf(() => prepareStudy({ ...request, set: ['seed=3'] }))).toMatchInlineSnapshot(
    `"comparison-setting: A comparison chooses "seed" itself: one for each seed. Use --seeds to say which."`,
  );
});

test('what no arm reads of the comparison’s own choices is left out: sft-rl stores all of its episodes', async () => {
  const arms = await armsOf(['sft-rl'], ['constant=sft-rl,objective.options.valley=0.9']);
  const [, job] = jobsOf(prepareStudy({ ...request, set: ['steps=20'], arms }), { seeds: [1] });
  expect(job!.words.join(' ')).toContain('threads=1');
  expect(job!.words.join(' ')).not.toContain('rolloutLog');
});

test('everything is refused before anything runs', async () => {
  const selfPlay = await armsOf(['self-play'], []);
  expect(messageOf(() => prepareStudy({ ...request, arms: selfPlay }))).toContain('recipe-unfit');
  expect(messageOf(() => prepareStudy({ ...request, set: ['rollout.gruop=4'] }))).toContain(
    'Did you mean "rollout.group"?',
  );
  const wide: Recipe = { ...findRecipe('rloo'), name: 'wide', settings: { model: { width: 256 } } };
  const arms = [...(await armsOf(['rloo'], [])), { name: 'wide', recipe: wide, source: 'wide', set: [] }];
  expect(messageOf(() => prepareStudy({ ...request, arms }))).toMatchInlineSnapshot(
    `"comparison-start: The arms "rloo" and "wide" cannot share a warm start: they differ in model.width. Seen: 128 and 256. Set it for all: --set model.width=256."`,
  );
  expect(messageOf(() => prepareStudy({ ...request, arms, set: ['model.width=128'] }))).toBe('accepted');
});

test('budgets', () => {
  expect(parseBudget('steps=20')).toEqual({ axis: 'steps', amount: 20 });
  expect(parseBudget('tokens=1.5M')).toEqual({ axis: 'tokens', amount: 1_500_000 });
  expect(parseBudget('episodes=5k')).toEqual({ axis: 'episodes', amount: 5000 });
  expect(parseBudget('minutes=0.5')).toEqual({ axis: 'seconds', amount: 30 });
  for (const text of ['steps', 'steps=0', 'turns=1.5', 'hours=2', '20']) {
    expect(messageOf(() => parseBudget(text))).toContain('option-value');
  }
  expect(messageOf(() => parseBudget('20'))).toMatchInlineSnapshot(
    `"option-value: The value of --budget is not allowed. Seen: 20. Allowed: steps=N, episodes=N, turns=N, tokens=N, seconds=N or minutes=N, above 0, such as steps=20, episodes=5k or minutes=1.5."`,
  );
});

test('arms as people type them', async () => {
  const arm = await parseArm('a=grpo,objective.clipHigh=0.3,environment.words=["x","y"]');
  expect(arm.set).toEqual(['objective.clipHigh=0.3', 'environment.words=["x","y"]']);
  const refused = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'accepted',
      (error: unknown) =>
        messageOf(() => {
          throw error;
        }),
    );
  for (const text of ['a=', '=grpo', 'a=grp', 'a=./absent.ts'])
    expect(await refused(parseArm(text))).not.toBe('accepted');
  expect(await refused(parseArm('grpo'))).toMatchInlineSnapshot(
    `"option-value: The value of --arm is not allowed. Seen: grpo. Allowed: NAME=RECIPE, then settings of that arm, such as --arm wide=grpo,model.width=256,rollout.group=16."`,
  );
  expect(await refused(armsOf(['grpo'], ['grpo=ppo']))).toContain('Seen: grpo twice');
});

test('the recipe of an arm may come from a file, and what the file says decides its runs', async () => {
  const project = makeProject({});
  const path = project.path('mine.ts');
  const own = readFileSync('examples/own-recipe.ts', 'utf8');
  const jobs = async (code: string) => {
    writeFileSync(path, code);
    const arms = await armsOf([], [`mine=${path}`, 'other=rloo']);
    return jobsOf(prepareStudy({ ...request, set: [], arms }), { seeds: [1] });
  };
  const [, mine] = await jobs(own);
  expect(mine!.words.join(' ')).toContain(`--recipe ${path} `);
  const [, changed] = await jobs(`${own}\n// another version\n`);
  expect(changed!.name).not.toBe(mine!.name);
  project.remove();
});

test('seeds', () => {
  expect(parseSeeds('3')).toEqual([1, 2, 3]);
  expect(parseSeeds('201..203')).toEqual([201, 202, 203]);
  expect(parseSeeds('7,3,11..12')).toEqual([7, 3, 11, 12]);
  expect(['1..5', '3,7', '4'].map((text) => seedsText(parseSeeds(text)))).toEqual(['1..5', '3,7', '1..4']);
  for (const text of ['', '0', 'x', '3,3', '5..1', '-1', '1..99999999']) {
    expect(
      messageOf(() => parseSeeds(text)),
      text,
    ).toContain('option-value');
  }
});
