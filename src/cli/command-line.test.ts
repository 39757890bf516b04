import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TurnwiseError } from '../core/errors.ts';
import { type Command, defineCommand } from './command.ts';
import { runCommandLine } from './command-line.ts';
import { memoryConsole, noInterrupts } from './testing-console.test-helper.ts';

function commandThat(behave: () => void): Command {
  return defineCommand({
    name: 'work',
    summary: 'Do something useful',
    arguments: [{ name: 'thing', description: 'what to work on', required: false }],
    options: z.strictObject({
      times: z
        .int()
        .min(1)
        .default(3)
        .describe('How often it is done, which may take a while if the number is large'),
      mode: z.enum(['quick', 'careful']).default('quick').describe('How'),
      json: z.boolean().default(false).describe('Print JSON'),
    }),
    settings: async () =>
      z.strictObject({
        seed: z.int().default(1).describe('Names all randomness'),
        model: z
          .strictObject({
            width: z.int().min(1).default(64).describe('Width of the residual stream'),
            context: z.enum(['full', 'latest']).default('full').describe('What the policy sees'),
          })
          .prefault({}),
        environment: z.looseObject({}).prefault({}).describe('Options of the environment'),
      }),
    examples: ['turnwise work well'],
    run: async () => behave(),
  }) as unknown as Command;
}

async function run(line: string[], behave: () => void = () => undefined) {
  const console = memoryConsole();
  const surroundings = {
    commands: [commandThat(behave)],
    version: '1.2.3',
    console,
    interrupts: noInterrupts,
  };
  const code = await runCommandLine(line, surroundings);
  return { code, output: console.output(), errors: console.errors() };
}

const fail = (error: unknown) => () => {
  throw error;
};

describe('exit codes', () => {
  it.each([
    ['success', 0, undefined],
    ['a failure', 1, new TurnwiseError('disk-full', { what: 'The disk is full' })],
    ['a usage error', 2, new TurnwiseError('run-unknown', { what: 'No such run' })],
    ['an interruption', 130, new TurnwiseError('interrupted', { what: 'Stopped' })],
    ['an aborted wait', 130, new DOMException('Aborted', 'AbortError')],
    ['a mistake of the program', 1, new TypeError('x is undefined')],
  ])('%s is %i', async (_, code, error) => {
    expect((await run(['work'], error && fail(error))).code).toBe(code);
  });

  it('is 2 for an unknown command, and names the nearest', async () => {
    expect(await run(['wrok'])).toMatchInlineSnapshot(`
      {
        "code": 2,
        "errors": "error: There is no command "wrok". Allowed: work. Did you mean "turnwise work"?
      (command-unknown)
      ",
        "output": "",
      }
    `);
  });

  it('is 2 for an unknown option', async () => {
    expect(await run(['work', '--tmes', '4'])).toMatchInlineSnapshot(`
      {
        "code": 2,
        "errors": "error: turnwise work has no option --tmes. Did you mean --times?
      (option-unknown)
      ",
        "output": "",
      }
    `);
  });
});

describe('errors', () => {
  it('are wrapped, with their code below', async () => {
    const error = new TurnwiseError('run-busy', {
      what: 'Run "first" is being written by another process',
      seen: 'process 12',
      next: 'Wait until it ends or stop it',
    });
    expect((await run(['work'], fail(error))).errors).toMatchInlineSnapshot(`
      "error: Run "first" is being written by another process. Seen: process 12. Wait
      until it ends or stop it.
      (run-busy)
      "
    `);
  });

  it('are JSON for programs', async () => {
    const error = new TurnwiseError('disk-full', { what: 'The disk is full', fields: { path: 'runs/a' } });
    expect((await run(['work', '--json'], fail(error))).errors).toMatchInlineSnapshot(`
      "{"error":{"code":"disk-full","message":"The disk is full.","fields":{"path":"runs/a"}}}
      "
    `);
  });

  it('of the program itself come with their stack', async () => {
    const { errors } = await run(['work'], fail(new TypeError('x is undefined')));
    expect(errors).toMatch(/^internal error TypeError: x is undefined\n +at /);
  });
});

describe('help', () => {
  it('lists the commands', async () => {
    const { code, output } = await run([]);
    expect(code).toBe(0);
    expect(output).toMatchInlineSnapshot(`
      "turnwise 1.2.3  multi-turn reinforcement learning for LLM agents

      Usage  turnwise COMMAND [options]

      Commands
        work  Do something useful

      Start here
        turnwise train frozen-lake

      turnwise COMMAND --help says more about one command.
      "
    `);
    expect((await run(['--help'])).output).toBe(output);
  });

  it('of a command comes from its schemas', async () => {
    const { code, output } = await run(['work', '--help', '--unknown']);
    expect(code).toBe(0);
    expect(output).toMatchInlineSnapshot(`
      "Do something useful

      Usage  turnwise work [THING] [options]

      Arguments
        THING  what to work on

      Options
        --times N             How often it is done, which may take a while if the
                              number is large [3]
        --mode quick|careful  How [quick]
        --json                Print JSON
        --help                Show this help

      Settings (--set key=value)
        seed=1              Names all randomness (integer)

        model.width=64      Width of the residual stream (integer ≥ 1)
        model.context=full  What the policy sees (full | latest)

        environment.*       Options of the environment

      Examples
        turnwise work well
      "
    `);
    expect(Math.max(...output.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect((await run(['help', 'work'])).output).toBe(output);
  });

  it('tells the version', async () => {
    expect((await run(['--version'])).output).toBe('1.2.3\n');
  });
});
