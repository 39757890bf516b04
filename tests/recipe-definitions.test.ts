/** Recipes that bring definitions along in their settings: from a file and in code, set, gone on with, played, refused. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { defineCreditMethod, defineShaping, z } from '../src/exports/credit.ts';
import { type Recipe, type RunSettings, resume, type Sink, start, train } from '../src/exports/index.ts';
import { defineRecipe, grpo } from '../src/exports/recipes.ts';
import { makeProject } from '../src/run/load/project.test-helper.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-recipe-definitions-'));

const definitions = `
  import { defineContext, defineCuration, defineTasks, defineTurns, z } from 'turnwise';
  import { defineCreditMethod, defineShaping } from 'turnwise/credit';
  import { multiply, negate, sum } from 'turnwise/graph';
  import { defineObjective } from 'turnwise/objective';
  export const centred = defineCreditMethod(
    { name: 'centred', summary: 'outcome minus a constant' },
    z.strictObject({ centre: z.number().default(0.5).describe('What is subtracted') }),
    ({ centre }) => (trajectories, state) => ({
      credits: trajectories.map(({ id, outcome, turns }) => ({
        id,
        turnAdvantages_K: turns.map(() => outcome - centre),
      })),
      state,
    }),
  );
  export const hurry = defineShaping(
    { name: 'hurry', summary: 'every episode costs' },
    z.strictObject({ cost: z.number().default(0.01).describe('Price') }),
    ({ cost }) => (all, state) => ({
      trajectories: all.map((one) => ({ ...one, outcome: one.outcome - cost })),
      state,
    }),
  );
  export const plain = defineObjective(
    { name: 'plain', summary: 'log-likelihood times advantage' },
    z.strictObject({ scale: z.number().default(1).describe('Factor') }),
    ({ scale }) => ({
      channels: ['advantages'],
      needs: {},
      build: ({ weight, logprobs, channel }) => ({
        loss: multiply(negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))), scale),
        metrics: {},
      }),
    }),
  );
  export const last = defineContext({
    name: 'last',
    summary: 'the latest messages',
    options: z.strictObject({}),
    start: () => null,
    window: ({ fresh, state }) => ({ conversation: { parts: fresh }, state }),
  });
  export const three = defineTasks({
    name: 'three',
    summary: 'groups of three',
    options: z.strictObject({ members: z.int().default(3).describe('Episodes of a group') }),
    next: ({ wanted, tasks, options }) =>
      tasks.fresh(wanted).map((index) => ({ task: { split: 'train', index }, members: options.members })),
  });
  export const few = defineTurns({
    name: 'few',
    summary: 'few turns',
    options: z.strictObject({ most: z.int().default(2).describe('Turns') }),
    limit: (_task, { options }) => options.most,
  });
  export const all = defineCuration({ name: 'all', summary: 'everything is learned from', choose: () => ({}) });`;

const recipe = (credit: string) => `
  import { defineRecipe } from 'turnwise/recipes';
  import { all, centred, few, hurry, last, plain, three } from './definitions.ts';
  export const bringing = defineRecipe({
    name: 'bringing',
    settings: {
      credit: ${credit},
      objective: { name: plain, options: { scale: 0.5 } },
      context: last,
      tasks: { name: three, members: 5 },
      turns: few,
      curation: new Map([[all, {}]]),
    },
  });`;
const whole = '{ method: centred, centre: 0.25, shape: new Map([[hurry, { cost: 0.02 }]]) }';

const project = makeProject({ 'definitions.ts': definitions, 'bringing.ts': recipe(whole) });
afterAll(() => {
  rmSync(runs, { recursive: true, force: true });
  project.remove();
});

const small = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 2, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1 },
} satisfies RunSettings;

const assignments = Object.entries(small).flatMap(([key, value]) =>
  typeof value === 'number'
    ? [`${key}=${value}`]
    : Object.entries(value).map(([leaf, number]) => `${key}.${leaf}=${number}`),
);

async function command(...words: string[]) {
  const console = memoryConsole({ columns: 10_000 });
  const code = await runCommandLine(words, {
    commands: [trainCommand, resumeCommand, evalCommand, creditCommand],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  const text = (written: string): string => written.replaceAll(/\s+/g, ' ');
  return { code, output: text(console.output()), errors: text(console.errors()) };
}

const trainFile = (name: string, ...set: string[]) =>
  command(
    ...['train', 'guess-number', '--recipe', project.path('bringing.ts'), '--name', name, '--runs', runs],
    ...[...assignments, ...set].flatMap((assignment) => ['--set', assignment]),
  );

const configOf = (name: string): Record<string, Record<string, unknown>> =>
  (JSON.parse(readFileSync(join(runs, name, 'config.json'), 'utf8')) as { config: never }).config;

/** A run that has one step of two. */
async function stopped(name: string, recipe: Recipe | string): Promise<void> {
  const event: Sink['event'] = ({ type }) => {
    if (type === 'step') run.stop();
  };
  const run = await start({
    ...{ world: 'guess-number', recipe, settings: small, runs, name },
    sinks: [{ event }],
  });
  await expect(run.finished).rejects.toThrow('asked to stop');
}

const shardOf = (name: string): string => join(runs, name, 'rollouts', '1.jsonl.gz');

describe('a recipe of a file', () => {
  test('brings a definition of every kind, and a run names each by the recipe', async () => {
    expect(await trainFile('file')).toMatchObject({ code: 0, errors: '' });
    expect(configOf('file')).toMatchObject({
      credit: { method: 'recipe:centred', centre: 0.25, shape: { 'recipe:hurry': { cost: 0.02 } } },
      objective: { name: 'recipe:plain', options: { scale: 0.5 } },
      context: { name: 'recipe:last' },
      tasks: { name: 'recipe:three', members: 5 },
      turns: { name: 'recipe:few', most: 2 },
      curation: { 'recipe:all': {} },
    });
    const { groups, header } = readEpisodeFile(shardOf('file'))!;
    const episodes = groups.flatMap(({ members }) => members);
    expect(groups.map(({ members }) => members.length)).toEqual([5, 5, 5, 5]);
    expect(Math.max(...episodes.map(({ transitions }) => transitions.length))).toBe(2);
    expect(header.credit).toMatchObject({ method: 'recipe:centred', options: { centre: 0.25 } });
    for (const { outcome, credit } of episodes)
      expect(credit?.agent?.advantages_K[0]).toBeCloseTo(outcome.agent! - 0.02 - 0.25, 12);
  });

  test('another process evaluates it, and goes on from a checkpoint to the same end', async () => {
    expect(await command('eval', 'file', '--runs', runs, '--tasks', '4')).toMatchObject({
      code: 0,
      errors: '',
    });
    await stopped('half', project.path('bringing.ts'));
    expect(await command('resume', 'half', '--runs', runs)).toMatchObject({ code: 0, errors: '' });
    const advantages = (name: string): unknown =>
      readEpisodeFile(join(runs, name, 'rollouts', '2.jsonl.gz'))!.groups.flatMap(({ members }) =>
        members.map(({ credit }) => credit),
      );
    expect(advantages('half')).toEqual(advantages('file'));
  });

  test('its options are settings, help lists them, and another name puts another in its place', async () => {
    expect(await trainFile('set', 'steps=1', 'credit.centre=0.75', 'tasks.members=2')).toMatchObject({
      code: 0,
    });
    expect(configOf('set')).toMatchObject({ credit: { centre: 0.75 }, tasks: { members: 2 } });
    expect(await trainFile('other', 'steps=1', 'credit.method=rloo')).toMatchObject({ code: 0, errors: '' });
    expect(configOf('other').credit).toEqual({
      method: 'rloo',
      rewardScale: 1,
      shape: { 'recipe:hurry': { cost: 0.02 } },
    });
    expect((await trainFile('none', 'credit.center=1')).errors).toContain('Did you mean "credit.centre"?');
    const help = await command(
      ...['train', 'guess-number', '--help', '--recipe', project.path('bringing.ts')],
    );
    expect(help.output).toContain('credit.centre=0.5 What is subtracted');
    expect(help.output).toContain('turns.most=2 Turns');
  });

  test('stored credit is computed by the file that has the method, and says so where none is named', async () => {
    const { code, errors } = await command('credit', '--rollouts', shardOf('file'));
    expect(code).toBeGreaterThan(0);
    expect(errors).toContain('was computed with "centred", a definition of its recipe');
    const named = [`--method`, project.path('definitions.ts'), '--shape', project.path('definitions.ts')];
    expect(await command('credit', '--rollouts', shardOf('file'), ...named)).toMatchObject({ code: 0 });
  });

  test('a recipe that lost one is reported, and goes on where it is put back', async () => {
    await stopped('lost', project.path('bringing.ts'));
    project.write('bringing.ts', recipe('{}'));
    expect((await command('resume', 'lost', '--runs', runs)).errors).toContain(
      'Run "lost" was trained with the credit method "centred" of its recipe, which "bringing" no longer has in its settings. Put it back there',
    );
    project.write('bringing.ts', recipe(whole));
    expect(await command('resume', 'lost', '--runs', runs)).toMatchObject({ code: 0 });
  });
});

describe('a recipe of a program', () => {
  const method = (name: string, value: number) =>
    defineCreditMethod({ name, summary: 'constant' }, z.strictObject({}), () => (trajectories, state) => ({
      credits: trajectories.map(({ id, turns }) => ({ id, turnAdvantages_K: turns.map(() => value) })),
      state,
    }));
  const shaping = (name: string) =>
    defineShaping({ name, summary: 'as it is' }, z.strictObject({}), () => (trajectories, state) => ({
      trajectories,
      state,
    }));
  const advantagesIn = (name: string): unknown[] =>
    readEpisodeFile(shardOf(name))!.groups.flatMap(({ members }) =>
      members.map(({ credit }) => credit?.agent?.advantages_K[0]),
    );

  test('is all that resume is given', async () => {
    const own = defineRecipe({ name: 'constant', settings: { credit: { method: method('one', 0.125) } } });
    await stopped('code', own);
    expect(new Set(advantagesIn('code'))).toEqual(new Set([0.125]));
    await (await resume('code', { runs, definitions: [own] })).finished;
  });

  test('a recipe made of it keeps what it brought', async () => {
    const own = defineRecipe({ name: 'constant', settings: { credit: { method: method('one', 0.25) } } });
    const more = defineRecipe({ ...own, name: 'more' });
    await train({
      world: 'guess-number',
      recipe: more,
      settings: { ...small, steps: 1 },
      runs,
      name: 'more',
    });
    expect(new Set(advantagesIn('more'))).toEqual(new Set([0.25]));
  });

  test('a built-in recipe takes definitions in the settings that it is chosen with, beside those of the run', async () => {
    const [first, second] = [shaping('first'), shaping('second')];
    const chosen = grpo({ credit: { method: method('two', 0.5), shape: new Map([[first, {}]]) } });
    const settings: RunSettings = { ...small, steps: 1, credit: { shape: new Map([[second, {}]]) } };
    const run = await start({ world: 'guess-number', recipe: chosen, settings, runs, name: 'chosen' });
    await run.finished;
    expect(configOf('chosen').credit).toMatchObject({
      method: 'code:two',
      shape: { 'code:first': {}, 'code:second': {} },
    });
    expect((await run.evaluate({ tasks: 2 })).sampled.episodes).toBe(2);
  });

  test('what its settings cannot hold is refused where it is defined', () => {
    const defined = (settings: object) => () => defineRecipe({ name: 'wrong', settings });
    expect(defined({ credit: { method: shaping('first') } })).toThrow(
      'Recipe "wrong" has no credit method under "credit.method". Seen: reward shaping. Allowed: a name, or what defineCreditMethod returns.',
    );
    expect(defined({ context: 3 })).toThrow('Recipe "wrong" has no context under "context.name". Seen: 3');
    expect(defined({ turns: './few.ts' })).toThrow(
      'Recipe "wrong" names a file in its settings, under "turns.name". Seen: ./few.ts. Allowed: a name, or the turn control itself: import it from that file.',
    );
    const twice = new Map([
      [shaping('first'), {}],
      [shaping('first'), {}],
    ]);
    expect(defined({ credit: { shape: twice } })).toThrow('Seen: "first" twice');
  });
});
