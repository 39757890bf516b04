/** A credit method, a shaping, a loss and a context of a user, a file each, outside the package; and the same as objects. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { evalCommand } from '../src/cli/commands/eval.ts';
import { resumeCommand } from '../src/cli/commands/resume.ts';
import { trainCommand } from '../src/cli/commands/train.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { defineCreditMethod, defineShaping, z } from '../src/exports/credit.ts';
import { multiply, negate, sum } from '../src/exports/graph.ts';
import { defineContext, type RunSettings, resume, type Sink, start, train } from '../src/exports/index.ts';
import { defineObjective } from '../src/exports/objective.ts';
import { makeProject, type Project } from '../src/run/load/project.test-helper.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const built = new URL('../dist/src/exports/credit.js', import.meta.url).pathname;
const root = mkdtempSync(join(tmpdir(), 'turnwise-definitions-'));
let project: Project;

/** They import the built package, so that every definition comes from another copy than the one that runs here. */
const files = {
  'centred.ts': `
    import { defineCreditMethod, z } from 'turnwise/credit';
    export const centred = defineCreditMethod(
      { name: 'centred', summary: 'outcome minus a constant' },
      z.strictObject({ centre: z.number().default(0.5).describe('What is subtracted') }),
      ({ centre }) => (trajectories, state) => ({
        credits: trajectories.map(({ id, outcome, turns }) => ({
          id,
          turnAdvantages_K: turns.map(() => outcome - centre),
        })),
        state: { batches: Number(state['batches'] ?? 0) + 1 },
      }),
    );
    const broken = (name: string, advantages: (turns: number) => number[]) =>
      defineCreditMethod({ name, summary: 'wrong' }, z.strictObject({}), () => (trajectories, state) => ({
        credits: trajectories.map(({ id, turns }) => ({ id, turnAdvantages_K: advantages(turns.length) })),
        state,
      }));
    export const short = broken('short', () => []);
    export const nan = broken('nan', (turns) => Array(turns).fill(Number.NaN));
    export const throws = broken('throws', () => { throw new Error('out of ideas'); });`,
  'hurry.ts': `
    import { defineShaping, z } from 'turnwise/credit';
    export const hurry = defineShaping(
      { name: 'hurry', summary: 'every turn costs' },
      z.strictObject({ cost: z.number().default(0.01).describe('Price of a turn') }),
      ({ cost }) => (trajectories, state) => ({
        trajectories: trajectories.map((trajectory) => ({
          ...trajectory,
          outcome: trajectory.outcome - cost * trajectory.turns.length,
          turns: trajectory.turns.map((turn) => ({ ...turn, reward: turn.reward - cost })),
        })),
        state,
      }),
    );`,
  'bounded.ts': `
    import { clamp, multiply, negate, sum } from 'turnwise/graph';
    import { defineObjective, z } from 'turnwise/objective';
    export const bounded = defineObjective(
      { name: 'bounded', summary: 'log-likelihood times bounded advantage' },
      z.strictObject({ bound: z.number().positive().default(2).describe('Largest advantage, either way') }),
      ({ bound }) => ({
        channels: ['advantages'],
        needs: {},
        build: ({ weight, logprobs, channel }) => ({
          loss: negate(sum(multiply(weight, multiply(clamp(channel('advantages'), -bound, bound), logprobs)))),
          metrics: {},
        }),
      }),
    );
    export const vector = defineObjective({ name: 'vector', summary: 'no sum' }, z.strictObject({}), () => ({
      channels: [],
      needs: {},
      build: ({ logprobs }) => ({ loss: logprobs, metrics: {} }),
    }));`,
  'opening.ts': `
    import { defineContext, z } from 'turnwise';
    export const opening = defineContext({
      name: 'opening',
      summary: 'the first message and the latest',
      options: z.strictObject({ messages: z.int().min(1).default(1).describe('How many of the first') }),
      start: () => null,
      window: ({ calls, fresh, state, options: { messages } }) => ({
        conversation: { parts: [...calls.flatMap((call) => call.messages).slice(0, messages), ...fresh] },
        state,
      }),
    });
    export const silent = defineContext({
      name: 'silent',
      summary: 'nothing',
      options: z.strictObject({}),
      start: () => null,
      window: () => ({ conversation: { parts: [] }, state: null }),
    });`,
};

const playFiles = {
  'hard.ts': `
    import { defineTasks, z } from 'turnwise';
    export const hard = defineTasks({
      name: 'hard',
      summary: 'fresh tasks, more episodes of them as fewer succeed',
      options: z.strictObject({ most: z.int().min(2).default(16).describe('Episodes of a task that nobody solves') }),
      start: () => ({ rate: 0 }),
      next: ({ wanted, tasks, memory, options }) =>
        tasks.fresh(wanted).map((index) => ({
          task: { split: 'train', index },
          members: Math.max(2, Math.round(options.most * (1 - memory.rate))),
        })),
      remember: (groups) => {
        const played = groups.flatMap(({ members }) => members);
        return { rate: played.filter(({ success }) => success.agent).length / Math.max(1, played.length) };
      },
    });`,
  'short.ts': `
    import { defineTurns, z } from 'turnwise';
    export const short = defineTurns({
      name: 'short',
      summary: 'few turns',
      options: z.strictObject({ most: z.int().min(1).default(3).describe('Turns') }),
      limit: (_task, { options, usual }) => Math.min(usual, options.most),
    });
    export const throws = defineTurns({ name: 'throws', after: () => { throw new Error('out of turns'); } });`,
  'over-turns.ts': `
    import { defineCuration, z } from 'turnwise';
    export const overTurns = defineCuration({
      name: 'over-turns',
      summary: 'episodes that ran out of turns are not learned from',
      options: z.strictObject({ least: z.int().default(1).describe('Turns that are enough') }),
      choose: () => ({
        choice: ({ stop }) => ({ inBaseline: true, inLoss: stop !== 'turn-limit', weight: 1 }),
      }),
    });`,
};

beforeAll(() => {
  if (!existsSync(built)) throw new Error(`${built} does not exist: run "npm run build" first`);
  project = makeProject({ ...files, ...playFiles });
});
afterAll(() => {
  project.remove();
  rmSync(root, { recursive: true, force: true });
});

const tiny: RunSettings = {
  steps: 1,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 20, steps: 2, batch: 8 },
  rollout: { tasks: 4, group: 4 },
  evaluation: { every: 0, tasks: 4, finalTasks: 4 },
  checkpoint: { every: 1 },
};

/** `key=value` of nested settings. */
const assignments = (settings: object, path = ''): string[] =>
  Object.entries(settings).flatMap(([key, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null
      ? assignments(value, `${path}${key}.`)
      : ['--set', `${path}${key}=${String(value)}`],
  );

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

async function command(...words: string[]): Promise<Ended> {
  const console = memoryConsole({ columns: 10_000 });
  const code = await runCommandLine(words, {
    commands: [trainCommand, resumeCommand, evalCommand, creditCommand],
    version: '0',
    console,
    interrupts: noInterrupts,
  });
  return { code, output: console.output(), errors: console.errors().replaceAll(/\s+/g, ' ') };
}

const configOf = (name: string): { readonly config: Record<string, Record<string, unknown>> } =>
  JSON.parse(readFileSync(join(root, name, 'config.json'), 'utf8')) as {
    config: Record<string, Record<string, unknown>>;
  };

const trainWith = (name: string, ...set: string[]): Promise<Ended> =>
  command(
    ...['train', 'frozen-lake', '--recipe', 'rloo', '--name', name, '--runs', root],
    ...assignments(tiny),
    ...set.flatMap((assignment) => ['--set', assignment]),
  );

const refusal = async (name: string, ...set: string[]): Promise<string> => {
  const { code, errors } = await trainWith(name, ...set);
  expect(code).toBeGreaterThan(0);
  return errors;
};

/** A run that has one step of two, made by a program. */
async function stopped(name: string, settings: RunSettings): Promise<void> {
  const event: Sink['event'] = ({ type }) => {
    if (type === 'step') run.stop();
  };
  const options = { world: 'frozen-lake', recipe: 'rloo', runs: root, sinks: [{ event }] };
  const run = await start({ ...options, name, settings: { ...settings, steps: 2 } });
  await expect(run.finished).rejects.toThrow('asked to stop');
}

describe('files', () => {
  test('train, resume, eval and credit use what files define', async () => {
    const set = [
      `credit.method=${project.path('centred.ts')}#centred`,
      'credit.centre=0.25',
      `credit.shape={"${project.path('hurry.ts')}":{"cost":0.02}}`,
      `objective.name=${project.path('bounded.ts')}#bounded`,
      'objective.options.bound=1',
      `context=${project.path('opening.ts')}#opening`,
      'context.messages=2',
    ];
    expect(await trainWith('files', ...set)).toMatchObject({ code: 0, errors: '' });
    const { config } = configOf('files');
    expect(config).toMatchObject({
      context: { name: `${project.path('opening.ts')}#opening`, trained: true, messages: 2 },
      credit: {
        method: `${project.path('centred.ts')}#centred`,
        centre: 0.25,
        shape: { [project.path('hurry.ts')]: { cost: 0.02 } },
      },
      objective: { name: `${project.path('bounded.ts')}#bounded`, options: { bound: 1 } },
    });

    const shard = join(root, 'files', 'rollouts', '1.jsonl.gz');
    const asTrained = await command('credit', '--rollouts', shard, '--json');
    const mine = await command(
      ...['credit', '--rollouts', shard, '--json', '--method', `${project.path('centred.ts')}#centred`],
      ...['--shape', project.path('hurry.ts'), '--set', 'centre=0.25', '--set', 'hurry.cost=0.02'],
    );
    const { asTrained: _, ...report } = JSON.parse(asTrained.output) as Record<string, unknown>;
    expect(JSON.parse(mine.output)).toEqual(report);

    expect(await command('eval', 'files', '--runs', root, '--tasks', '4', '--json')).toMatchObject({
      code: 0,
      errors: '',
    });
  });

  test('tasks, turns and curations of files, with their options, one after another', async () => {
    const over = project.path('over-turns.ts');
    const set = [
      `tasks=${project.path('hard.ts')}`,
      'tasks.most=5',
      `turns=${project.path('short.ts')}#short`,
      'turns.most=2',
      `curation={"${over}":{}}`,
      'curation.varied.share=0.5',
    ];
    expect(await trainWith('played', ...set, 'steps=2')).toMatchObject({ code: 0, errors: '' });
    expect(configOf('played').config).toMatchObject({
      tasks: { name: project.path('hard.ts'), most: 5 },
      turns: { name: `${project.path('short.ts')}#short`, most: 2 },
      curation: { [over]: {}, varied: { share: 0.5 } },
    });
    expect(Object.keys(configOf('played').config.curation!)).toEqual([over, 'varied']);
    const { groups } = readEpisodeFile(join(root, 'played', 'rollouts', '1.jsonl.gz'))!;
    const members = groups.flatMap((group) => group.members);
    expect(groups.map((group) => group.members.length)).toEqual([5, 5, 5, 5]);
    expect(Math.max(...members.map(({ transitions }) => transitions.length))).toBe(2);
    const credits = members.flatMap(({ credit }) => credit?.agent ?? []);
    expect(credits).toHaveLength(10);
    expect(credits.some(({ inLoss }) => !inLoss)).toBe(true);
    expect(await refusal('none', `turns=${project.path('short.ts')}#short`, 'turns.mots=2')).toContain(
      'Did you mean "turns.most"?',
    );
    expect(await refusal('none', 'curation../over-turns.ts={}')).toContain(
      `--set 'curation={"./over-turns.ts":{}}', with the options inside`,
    );
    const { output } = await command(
      ...['train', 'frozen-lake', '--recipe', 'rloo', '--help', '--set', `tasks=${project.path('hard.ts')}`],
    );
    expect(output).toMatch(/tasks\.most=16 +Episodes of a task that nobody solves/);
  });

  test('help lists the options of each curation, shaping, turn control and context that is named', async () => {
    const over = project.path('over-turns.ts');
    const help = async (...set: string[]): Promise<string> => {
      const words = set.flatMap((assignment) => ['--set', assignment]);
      const { code, output } = await command('train', 'frozen-lake', '--recipe', 'rloo', '--help', ...words);
      expect(code).toBe(0);
      return output.replaceAll(/\s+/g, ' ');
    };
    expect(await help()).not.toMatch(/curation\.varied|turns\.most|context\.threshold|shape\.ufo/);
    const named = await help(
      ...['curation.varied={}', 'curation.dynamic-sampling.rounds=3', 'credit.shape.ufo={}'],
      ...['tasks=revisit', `turns=${project.path('short.ts')}#short`, 'context=summary'],
    );
    expect(named).toContain('curation.varied.share=0.5 Share of groups that are learned from');
    expect(named).toContain('curation.dynamic-sampling.rounds=');
    expect(named).toContain('curation.* NAME.OPTION=VALUE');
    expect(named).toContain('credit.shape.ufo.lambda=');
    expect(named).toContain('credit.shape.* Reward shapings');
    expect(named).toMatch(/tasks\.share=.* turns\.most=/);
    expect(named).toContain('context.threshold=');
    expect(await help('curation.varied=false')).not.toContain('curation.varied.');
    // The options of a file as they are written, since dots divide keys.
    expect(await help(`curation={"${over}":{}}`)).toContain(
      `curation={"${over}":{"least":1}} Turns that are enough`,
    );
  });

  test('options of curations and shapings are read as their type', async () => {
    expect(await refusal('none', 'curation.varied.share=much')).toContain(
      '"curation.varied.share" is not allowed',
    );
    expect(await refusal('none', 'curation.varied.shar=0.5')).toContain(
      'Did you mean "curation.varied.share"?',
    );
    expect(await refusal('none', 'credit.shape.ufo.lambda=much')).toContain(
      '"credit.shape.ufo.lambda" is not allowed',
    );
  });

  test('a turn control that fails ends its episodes, and then the run says so', async () => {
    const errors = await refusal('broken-turns', `turns=${project.path('short.ts')}#throws`, 'steps=5');
    expect(errors).toContain('failed:policy');
    expect(errors).toContain('out of turns');
  });

  test('a run goes on with the files that it began with, and says which of them is gone or has changed', async () => {
    const file = project.write('moving.ts', files['centred.ts'].replaceAll("'centred'", "'moving'"));
    await stopped('going', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
    const again = () => command('resume', 'going', '--runs', root);

    project.write('moving.ts', files['centred.ts'].replaceAll('centre:', 'middle:'));
    expect((await again()).errors).toContain(
      `Credit method "centred" of ${file}#centred has no setting "centre"`,
    );
    project.write('moving.ts', files['hurry.ts']);
    expect((await again()).errors).toMatch(
      /Run "going" was trained with the credit method of .*moving\.ts#centred, which cannot be loaded any more: .* has no export "centred"/,
    );
    rmSync(file);
    expect((await again()).errors).toMatch(
      /cannot be loaded any more: There is no file .*\(definition-lost\)/,
    );
    // Something that it imports is part of it.
    project.write('half.ts', 'export const half = 0.5;');
    project.write('moving.ts', `import './half.ts';\n${files['centred.ts']}`);
    const changed = (name: string) =>
      readEvents(join(root, name, 'events.jsonl')).flatMap((event) =>
        event.type === 'warning' && event.code === 'code-changed' ? [event.message] : [],
      );
    const line = await again();
    expect(line.code).toBe(0);
    expect(line.output).toContain('has changed');
    expect(changed('going')).toEqual([expect.stringContaining(`${file} has changed since this run began`)]);

    project.write('moving.ts', `import './half.ts';\n${files['centred.ts']}`);
    await stopped('same', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
    expect((await command('resume', 'same', '--runs', root)).code).toBe(0);
    expect(changed('same')).toEqual([]);
    await stopped('other', { ...tiny, credit: { method: `${file}#centred`, centre: 0.25 } });
    const half = project.write('half.ts', 'export const half = 1 / 2;');
    expect((await command('resume', 'other', '--runs', root)).code).toBe(0);
    expect(changed('other')).toEqual([expect.stringContaining(`${half} has changed since this run began`)]);
  });

  test('help lists the options of what a file defines', async () => {
    const { output } = await command(
      ...['train', 'frozen-lake', '--recipe', 'rloo', '--help'],
      ...['--set', `credit.method=${project.path('centred.ts')}#centred`],
      ...['--set', `objective.name=${project.path('bounded.ts')}#bounded`],
    );
    expect(output).toMatch(/credit\.centre=0\.5 +What is subtracted/);
    expect(output).toMatch(/objective\.options\.bound=2 +Largest advantage/);
    const credit = await command('credit', '--method', `${project.path('centred.ts')}#centred`, '--help');
    expect(credit.output).toMatch(/centre=0\.5 +What is subtracted/);
  });

  test('what a file lacks is said, and what it does not read is refused', async () => {
    const method = `credit.method=${project.path('centred.ts')}`;
    expect(await refusal('none', method)).toMatch(
      /must export one credit method\. Seen: centred, nan, short, throws\./,
    );
    expect(await refusal('none', `credit.method=${project.path('hurry.ts')}`)).toContain(
      'must export one credit method. Seen: none (exports: hurry (a reward shaping)). Allowed: what defineCreditMethod returns.',
    );
    expect(await refusal('none', `${method}#centred`, 'credit.center=1')).toContain(
      'Did you mean "credit.centre"?',
    );
    expect(
      await refusal('none', `objective.name=${project.path('bounded.ts')}#bounded`, 'objective.clipLow=0.1'),
    ).toContain('does not read "objective.clipLow"');
    expect(await refusal('none', 'credit.shape../hurry.ts.cost=1')).toContain(
      `The path of a file cannot be part of a key, since dots divide keys.`,
    );
    expect(existsSync(join(root, 'none'))).toBe(false);
  });

  test.each([
    [
      'short',
      /must return \d+ turnAdvantages_K for trajectory .* Seen: an array of 0.*\(definition-invalid\)/,
    ],
    ['nan', /a number that is not finite: an advantage of trajectory .*\(credit-not-finite\)/],
    ['throws', /threw an error\. Seen: out of ideas.*\(definition-failed\)/],
  ])('a method that is wrong ends the run with its name and file: %s', async (name, message) => {
    const errors = await refusal(`wrong-${name}`, `credit.method=${project.path('centred.ts')}#${name}`);
    expect(errors).toMatch(message);
    expect(errors).toContain(`Credit method "${name}" of ${project.path('centred.ts')}#${name}`);
  });

  test('a loss without a sum and a context without tokens are told in the same way', async () => {
    expect(
      await refusal(
        'vector',
        `objective.name=${project.path('bounded.ts')}#vector`,
        `credit.method=${project.path('centred.ts')}#centred`,
      ),
    ).toMatch(
      /Objective "vector" of .*bounded\.ts#vector must build one loss\. Seen: \[.*\]\. Allowed: a scalar tensor/,
    );
    expect(await refusal('silent', `context=${project.path('opening.ts')}#silent`)).toMatch(
      /Context "silent" of .*opening\.ts#silent must give a conversation/,
    );
  });
});

describe('objects', () => {
  const halves = defineCreditMethod(
    { name: 'halves', summary: 'half of the outcome' },
    z.strictObject({ share: z.number().default(0.5).describe('What share of the outcome') }),
    ({ share }) =>
      (trajectories, state) => ({
        credits: trajectories.map(({ id, outcome, turns }) => ({
          id,
          turnAdvantages_K: turns.map(() => share * outcome),
        })),
        state,
      }),
  );
  const same = defineShaping(
    { name: 'same', summary: 'nothing' },
    z.strictObject({}),
    () => (all, state) => ({
      trajectories: all,
      state,
    }),
  );
  const plain = defineObjective(
    { name: 'plain', summary: 'log-likelihood times advantage' },
    z.strictObject({}),
    () => ({
      channels: ['advantages'],
      needs: {},
      build: ({ weight, logprobs, channel }) => ({
        loss: negate(sum(multiply(weight, multiply(channel('advantages'), logprobs)))),
        metrics: {},
      }),
    }),
  );
  const last = defineContext({
    name: 'last',
    summary: 'the latest turn',
    options: z.strictObject({}),
    start: () => null,
    window: ({ fresh, state }) => ({ conversation: { parts: fresh }, state }),
  });
  const settings: RunSettings = {
    ...tiny,
    credit: { method: halves, share: 0.75, shape: new Map([[same, {}]]) },
    objective: { name: plain },
    context: last,
  };

  test('train takes definitions in place of names; the command line says why it cannot go on, and resume can', async () => {
    await stopped('code', settings);
    expect(configOf('code').config).toMatchObject({
      context: { name: 'code:last', trained: true },
      credit: { method: 'code:halves', share: 0.75, shape: { 'code:same': {} } },
      objective: { name: 'code:plain' },
    });
    const { code, errors } = await command('resume', 'code', '--runs', root);
    expect(code).toBe(2);
    expect(errors).toContain(
      `Run "code" was trained with the context "last", an object made in code, which cannot be loaded from here. Go on in that program with resume('code', { definitions: [...] }), or define it in a file.`,
    );
    const run = await resume('code', { runs: root, definitions: [halves, same, plain, last] });
    expect((await run.finished).steps).toBe(2);
    expect((await run.evaluate({ tasks: 2 })).sampled.episodes).toBe(2);
  });

  test('a run whose method only a program has is evaluated by the command line, and its credit is not computed', async () => {
    await stopped('method', { ...tiny, credit: { method: halves } });
    expect(await command('eval', 'method', '--runs', root, '--tasks', '4')).toMatchObject({
      code: 0,
      errors: '',
    });
    const shard = join(root, 'method', 'rollouts', '1.jsonl.gz');
    expect((await command('credit', '--rollouts', shard)).errors).toContain('(definition-in-code)');
    expect(await command('credit', '--rollouts', shard, '--method', 'grpo')).toMatchObject({ code: 0 });
  });

  test('an object of another kind is refused', async () => {
    const wrong = { ...tiny, credit: { method: same as never } };
    await expect(train({ world: 'frozen-lake', runs: root, settings: wrong })).rejects.toThrow(
      '"credit.method" is not a credit method. Seen: a reward shaping. Allowed: a name, a file, or what defineCreditMethod returns.',
    );
  });
});
