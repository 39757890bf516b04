import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { environmentNames, loadEnvironments } from '../../run/load/environments.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { type Command, defineCommand } from '../command.ts';
import { runCommandLine } from '../command-line.ts';
import { exampleEvents, writeExampleRun } from '../example-run.test-helper.ts';
import { playAsPerson } from '../terminal/person-play.ts';
import { watchRun } from '../terminal/watch-run.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { creditCommand } from './credit.ts';
import { envCommand } from './env.ts';
import { envsCommand } from './envs.ts';
import { evalCommand } from './eval.ts';
import { exportCommand } from './export.ts';
import { playCommand } from './play.ts';
import { resumeCommand } from './resume.ts';
import { runsCommand } from './runs.ts';
import { trainCommand } from './train.ts';

const commands = [
  trainCommand,
  resumeCommand,
  evalCommand,
  playCommand,
  exportCommand,
  envsCommand,
  envCommand,
  runsCommand,
  creditCommand,
];

let root: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'turnwise-cli-'));
  await writeExampleRun(root, 'first');
  await writeExampleRun(root, 'second', false);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine(line, { commands, version: '0.1.0', console, interrupts: noInterrupts });
  return {
    code,
    output: console.output(),
    errors: console.errors().replaceAll('\n', ' ').replaceAll(root, 'runs'),
  };
}

describe('every command', () => {
  it.each(commands.map((command) => command.name))(
    '%s has help within 80 columns, with every option described',
    async (name) => {
      const { code, output } = await turnwise(name, '--help');
      expect(code).toBe(0);
      const [, options] = output.split('\nExamples\n')[0]!.split('\nOptions\n');
      for (const line of options!.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      const command = commands.find((candidate) => candidate.name === name) as Command;
      for (const field of Object.values(command.options.shape)) {
        expect((field as { description?: string }).description).toBeTruthy();
      }
    },
  );
});

describe('runs', () => {
  it('lists', async () => {
    const { output } = await turnwise('runs', '--runs', root);
    expect(output.replaceAll(/ \d\.\d+s$/gm, ' 0.0s')).toMatchInlineSnapshot(`
      "  run     seed           steps  before  after  success    time
        first      1               4    0.42   0.94  ▄▇█      2m 43s
        second     1  2 (unfinished)    0.42   0.75  ▄▇         0.0s
      "
    `);
    const { output: json } = await turnwise('runs', 'list', '--json', '--runs', root);
    expect(JSON.parse(json)[0]).toEqual({
      name: 'first',
      environment: 'frozen-lake',
      recipe: 'rloo',
      seed: 1,
      steps: 4,
      finished: true,
      successBefore: 0.42,
      successAfter: 0.94,
    });
  });

  it('shows one, with its example episodes', async () => {
    const { output } = await turnwise('runs', 'show', 'first', '--runs', root);
    expect(output).toContain('The agent learned: success 0.42 → 0.94');
    expect(output).toContain('› jump   invalid −0.1');
    const { output: json } = await turnwise('runs', 'show', 'first', '--json', '--runs', root);
    expect(JSON.parse(json)).toMatchObject({
      name: 'first',
      config: { config: { steps: 4 } },
      summary: { steps: 4 },
    });
  });

  it('compares two, and names the settings that differ', async () => {
    const { output } = await turnwise('runs', 'compare', 'first', 'second', '--runs', root);
    expect(output).toMatch(/success after +0\.94 \(0\.90 to 0\.97\) +0\.75 \(0\.71 to 0\.78\)/);
    expect(output).toMatch(/config\.steps +4 +8/);
    expect(output).toContain('first ends with higher success.');
    const { output: json } = await turnwise('runs', 'compare', 'first', 'second', '--json', '--runs', root);
    expect(JSON.parse(json).differences).toEqual([{ key: 'config.steps', values: [4, 8] }]);
  });

  it('refuses what it does not know', async () => {
    const unknown = await turnwise('runs', 'show', 'frist', '--runs', root);
    expect(unknown.code).toBe(2);
    expect(unknown.errors).toContain('There is no run named "frist"');
    expect(unknown.errors).toContain('Did you mean "first"?');
    expect((await turnwise('runs', 'shwo')).errors).toContain('Did you mean "show"?');
    expect((await turnwise('runs', 'compare', 'first', '--runs', root)).errors).toContain('argument-missing');
  });

  it('says how to begin where there are none', async () => {
    expect((await turnwise('runs', '--runs', join(root, 'none'))).output).toContain(
      'turnwise train frozen-lake',
    );
  });
});

describe('envs', () => {
  it('lists them all', async () => {
    const { output } = await turnwise('envs', '--json');
    expect((JSON.parse(output) as { name: string }[]).map(({ name }) => name)).toEqual(environmentNames);
    for (const { name } of await loadEnvironments()) expect((await turnwise('envs')).output).toContain(name);
  });

  it('describes one with options and an example episode', async () => {
    const { output } = await turnwise('envs', 'frozen-lake');
    expect(output).toContain('slip=0 ');
    expect(output).toContain('One episode of the expert');
    expect(output).toContain('✓ solved');
    const { output: json } = await turnwise('envs', 'frozen-lake', '--json', '--set', 'slip=0.1');
    expect(JSON.parse(json)).toMatchObject({
      name: 'frozen-lake',
      tasks: { train: null },
      example: { stop: 'done' },
    });
  });

  it('names the nearest environment and option', async () => {
    expect(await turnwise('envs', 'frozen-lak')).toMatchObject({ code: 2 });
    expect((await turnwise('envs', 'frozen-lak')).errors).toContain('Did you mean "frozen-lake"?');
    expect((await turnwise('envs', 'frozen-lake', '--set', 'slipp=1')).errors).toContain(
      'Did you mean "slip"?',
    );
    expect(await turnwise('envs', 'frozen-lake', '--set', 'slip=7')).toMatchObject({ code: 2 });
  });
});

describe('credit', () => {
  it('prints advantages in full precision, and a table for people', async () => {
    const file = join(root, 'rollouts.json');
    const rollouts = [3, 1, 1].map((outcome, id) => ({
      groupId: 'g',
      id: `${id}`,
      outcome,
      turns: [{ reward: outcome }],
    }));
    writeFileSync(file, JSON.stringify(rollouts));
    const { output } = await turnwise('credit', '--method', 'rloo', '--rollouts', file, '--json');
    const report = JSON.parse(output) as { trajectories: { turns: { advantage: number }[] }[] };
    expect(report.trajectories.map(({ turns }) => turns[0]!.advantage)).toEqual([2, -1, -1]);
    expect((await turnwise('credit', '--method', 'rloo', '--rollouts', file)).output).toContain('2.0000');
  });

  it('shapes rewards first', async () => {
    const file = join(root, 'attempts.json');
    const turns = [{ answer: '3' }, { answer: '3' }, { answer: '4', correct: true }];
    writeFileSync(file, JSON.stringify([{ groupId: 'g', id: 'a', turns }]));
    const run = (...more: string[]) =>
      turnwise('credit', '--method', 'reinforce', '--rollouts', file, '--json', '--shape', 'ufo', ...more);
    const shaped = async (...more: string[]): Promise<number> => {
      const report = JSON.parse((await run(...more)).output) as { trajectories: { shapedOutcome: number }[] };
      return report.trajectories[0]!.shapedOutcome;
    };
    expect(await shaped()).toBeCloseTo(0.0833, 4);
    expect(await shaped('--set', 'ufo.lambda=0', '--set', 'gamma=0.5')).toBe(0.25);
    expect((await run('--set', 'ufo.lamda=0')).errors).toContain('Did you mean');
    expect((await run('--shape', 'uffo')).errors).toContain('unknown-reward-shaping');
  });

  it('lists the options of a method, and names the nearest', async () => {
    expect((await turnwise('credit', '--method', 'gae', '--help')).output).toContain('lambda=0.95');
    const wrong = await turnwise('credit', '--method', 'gae', '--rollouts', 'x', '--set', 'lamda=1');
    expect(wrong.errors).toContain('Did you mean "lambda"?');
    expect(wrong.code).toBe(2);
  });
});

describe('train', () => {
  it.each([
    [['no-such-place'], 'environment-unknown'],
    [['frozen-lake', '--recipe', 'rlo'], 'Did you mean "rloo"?'],
    [['frozen-lake', '--set', 'stesp=4'], 'Did you mean "steps"?'],
    [['frozen-lake', '--set', 'environment.slpi=1'], 'Did you mean "environment.slip"?'],
    [['frozen-lake', '--set', 'credit.metod=grpo'], 'Did you mean "credit.method"?'],
    [['frozen-lake', '--recipe', 'ppo', '--set', 'credit.lamda=1'], 'Did you mean "credit.lambda"?'],
    [['frozen-lake', '--set', 'steps=many'], 'an integer at least 0'],
  ])('%j is a usage error', async (line, text) => {
    const { code, errors } = await turnwise('train', '--runs', join(root, 'none'), ...line);
    expect(errors).toContain(text);
    expect(code).toBe(2);
    expect(existsSync(join(root, 'none'))).toBe(false);
  });

  it('refuses an existing name before anything is done', async () => {
    const { code, errors } = await turnwise('train', 'frozen-lake', '--name', 'first', '--runs', root);
    expect(code).toBe(2);
    expect(errors).toContain('run-exists');
    expect(
      readFileSync(join(root, 'first', 'events.jsonl'), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(10);
  });
});

describe('a watched run', () => {
  const options = () => ({ json: false, runs: root });

  it('ends with the summary and the curve', async () => {
    const console = memoryConsole();
    const run = RunDirectory.openForReading({ root, name: 'first', version: '0.1.0' });
    await watchRun(
      { arguments: {}, words: [], options: options(), console, interrupts: noInterrupts },
      async ({ report }) => {
        for (const event of exampleEvents()) report(event, run);
      },
    );
    expect(console.output()).toContain('The agent learned');
    expect(readFileSync(join(run.path, 'curve.svg'), 'utf8')).toContain('frozen-lake · rloo');
  });

  it.each([
    [0.5, '50% of these tasks failed before'],
    [0, undefined],
  ])('where a share of %s of the tasks failed before, says: %s', async (share, note) => {
    const console = memoryConsole();
    const config = { tasks: { name: 'revisit', share } };
    const name = `revisits-${share}`;
    const settings = { root: join(root, 'elsewhere'), name, version: '0.1.0', config };
    const run = RunDirectory.create({
      ...settings,
      world: { name: 'frozen-lake', source: 'frozen-lake' },
      recipe: 'rloo',
    });
    const invocation = { arguments: {}, words: [], options: options(), console, interrupts: noInterrupts };
    await watchRun(invocation, async ({ report }) => {
      report({ type: 'phase', phase: 'train', steps: 4 }, run);
      for (const event of exampleEvents()) {
        run.events.append(event);
        report(event, run);
      }
    });
    await run.close();
    const lines = console.output().split('\n');
    expect(lines[0]).toBe('reinforcing, 4 steps');
    expect(lines[1]!.length).toBeLessThanOrEqual(80);
    if (note === undefined) expect(console.output()).not.toContain('failed before');
    else expect(lines[1]).toContain(note);
  });

  it('that is interrupted says how to go on', async () => {
    const run = RunDirectory.openForReading({ root, name: 'second', version: '0.1.0' });
    const command = defineCommand({
      ...resumeCommand,
      run: (invocation) =>
        watchRun(invocation, async ({ report, stopRequested }) => {
          report({ type: 'resume', step: 2 }, run);
          expect(stopRequested()).toBe(true);
          throw new Error('stopped');
        }),
    });
    const console = memoryConsole();
    const soften = (tell: () => void): (() => boolean) => {
      tell();
      return () => true;
    };
    const interrupts = { ...noInterrupts, soften };
    const surroundings = { commands: [command], version: '0.1.0', console, interrupts };
    expect(await runCommandLine(['resume', 'second', '--runs', root], surroundings)).toBe(130);
    expect(console.errors().replaceAll(root, 'elsewhere')).toMatchInlineSnapshot(`
      "Run "second" was stopped. Go on from its beginning with: turnwise resume second --runs elsewhere.
      "
    `);
  });

  it.each(['clone', 'train'] as const)('whose engine fails in phase %s says how to go on', async (phase) => {
    const what = 'The embedded engine failed.';
    const run = RunDirectory.openForReading({ root, name: 'second', version: '0.1.0' });
    const fails = watchRun(
      { arguments: {}, words: [], options: options(), console: memoryConsole(), interrupts: noInterrupts },
      async ({ report }) => {
        report({ type: 'phase', phase, steps: 4 }, run);
        throw new TurnwiseError('engine-failed', { what, fields: { model: 'a' } });
      },
    );
    const next = `Go on from its beginning with: turnwise resume second --runs ${root}.`;
    await expect(fails).rejects.toMatchObject({
      code: 'engine-failed',
      message: `${what} ${next}`,
      fields: { model: 'a' },
    });
  });

  it('whose engine fails before anything was kept is not said to go on', async () => {
    const place = { root: join(root, 'elsewhere'), name: 'refused', version: '0.1.0', config: {} };
    const run = RunDirectory.create({
      ...place,
      world: { name: 'frozen-lake', source: 'frozen-lake' },
      recipe: 'rloo',
    });
    const what = 'The embedded engine failed.';
    const fails = watchRun(
      { arguments: {}, words: [], options: options(), console: memoryConsole(), interrupts: noInterrupts },
      async ({ report }) => {
        report({ type: 'phase', phase: 'demonstrate', steps: 4 }, run);
        run.remove();
        throw new TurnwiseError('engine-failed', { what });
      },
    );
    await expect(fails).rejects.toMatchObject({
      message: `${what} Nothing of the run was kept: give the same command again.`,
    });
  });

  it('whose error says how to go on, or that never began to learn, says no more', async () => {
    const run = RunDirectory.openForReading({ root, name: 'second', version: '0.1.0' });
    for (const [phase, message] of [
      ['train', 'Correct it, then go on with: turnwise resume second'],
      ['clone', 'A setting is wrong'],
    ] as const) {
      const fails = watchRun(
        { arguments: {}, words: [], options: options(), console: memoryConsole(), interrupts: noInterrupts },
        async ({ report }) => {
          report({ type: 'phase', phase, steps: 4 }, run);
          throw new TurnwiseError('config-invalid', { what: message });
        },
      );
      await expect(fails).rejects.toMatchObject({ message: `${message}.` });
    }
  });
});

describe('play', () => {
  it('lets a person play to the end, tells invalid actions and asks the expert', async () => {
    const [frozenLake] = await loadEnvironments();
    const world = frozenLake!.create({ size: 4, holes: 0.2, slip: 0, maxTurns: 12, minimumPath: 3 });
    const console = memoryConsole();
    const answers = ['', '  ', 'fly', ...new Array<string>(11).fill('?')];
    const ask = async (): Promise<string | undefined> => answers.shift();
    const finished = await playAsPerson(
      world,
      world.tasks('test').at(0),
      1,
      ask,
      console,
      noInterrupts.signal,
    );
    expect(finished).toBe(true);
    expect(console.output()).toContain('not accepted here');
    // Empty lines were no turns, and what can be done is listed.
    expect(console.output()).toMatch(
      /turn 1 of 12\n(?:(?!turn 2).)*possible: left, right, up, down\n(?:(?!turn 2).)*not accepted here\n/s,
    );
    expect(console.output().match(/turn 1 of 12/g)).toHaveLength(1);
    expect(console.output()).toContain('the expert plays');
    expect(console.output()).toContain('✓ solved, return 1.00');
    expect(
      await playAsPerson(
        world,
        world.tasks('test').at(0),
        1,
        async () => undefined,
        console,
        noInterrupts.signal,
      ),
    ).toBe(false);
  });

  it('refuses a task that does not exist', async () => {
    expect(await turnwise('play', 'kuhn-poker', '--task', '99')).toMatchObject({ code: 2 });
  });
});
