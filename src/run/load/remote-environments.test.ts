import { afterEach, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../cli/command-line.ts';
import { envCommand } from '../../cli/commands/env.ts';
import { envsCommand } from '../../cli/commands/envs.ts';
import { trainCommand } from '../../cli/commands/train.ts';
import type { Interrupts } from '../../cli/interrupts.ts';
import { memoryConsole, noInterrupts } from '../../cli/testing-console.test-helper.ts';
import { closeServers, counter, serve } from '../../server/environment/server.test-helper.ts';

afterEach(closeServers);

async function turnwise(
  line: readonly string[],
  interrupts: Interrupts = noInterrupts,
  console = memoryConsole(),
): Promise<{ code: number; output: string; errors: string }> {
  const commands = [trainCommand, envsCommand, envCommand];
  const code = await runCommandLine(line, { commands, version: '0.1.0', console, interrupts });
  return { code, output: console.output(), errors: console.errors().replaceAll('\n', ' ') };
}

describe('addresses', () => {
  test('that cannot be read', async () => {
    const addresses = [
      'opnenv:ws://x',
      'openenv:ftp://x',
      'openenv:',
      'agentgym:http://x',
      'agentgym:http://x#textcrft',
    ];
    const results = await Promise.all(addresses.map((address) => turnwise(['train', address])));
    expect(results.map(({ code }) => code)).toEqual(addresses.map(() => 2));
    expect(results.map(({ errors }) => errors)).toMatchInlineSnapshot(`
      [
        "error: The address of the environment cannot be read. Seen: opnenv:ws://x. Allowed: turnwise:…, openenv:…, agentgym:…, nemo:…. For example: openenv:ws://127.0.0.1:8000. (environment-address) ",
        "error: The address of the environment cannot be read. Seen: openenv:ftp://x. Allowed: openenv:ws://…, openenv:wss://…, openenv:http://…, openenv:https://…. For example: openenv:ws://127.0.0.1:8000. (environment-address) ",
        "error: The address of the environment cannot be read. Seen: openenv:. Allowed: openenv:ws://…, openenv:wss://…, openenv:http://…, openenv:https://…. For example: openenv:ws://127.0.0.1:8000. (environment-address) ",
        "error: An AgentGym address must say which environment it serves. Seen: nothing after #. Allowed: textcraft, babyai, sciworld, alfworld, maze, wordle, webshop, sqlgym, searchqa, weather, movie, todo, sheet, academia, webarena. Write it as agentgym:http://host:port#textcraft. (environment-unknown) ",
        "error: AgentGym has no "textcrft". Seen: #textcrft. Allowed: textcraft, babyai, sciworld, alfworld, maze, wordle, webshop, sqlgym, searchqa, weather, movie, todo, sheet, academia, webarena. Did you mean "#textcraft"? (environment-unknown) ",
      ]
    `);
  });

  test('a server that is not there', async () => {
    const { code, errors } = await turnwise(['train', 'turnwise:http://127.0.0.1:1']);
    expect(code).toBe(1);
    expect(errors).toMatchInlineSnapshot(
      `"error: GET http://127.0.0.1:1/v1/environment could not be reached, or broke off. Seen: connect ECONNREFUSED 127.0.0.1:1. Check the address, and that the server is running. (remote-unreachable) "`,
    );
  });

  test('an environment that nobody can demonstrate is refused before anything runs', async () => {
    const { script: _, ...mute } = counter;
    const { port } = await serve({ world: mute });
    const { errors } = await turnwise(['train', `openenv:ws://127.0.0.1:${port}`]);
    expect(errors.replaceAll(String(port), 'PORT')).toMatchInlineSnapshot(
      `"error: counter has no scripted player, so there is nothing that a new model could learn its words from. Train a model that can read already (--model), record a model that can play (turnwise eval ENVIRONMENT --policy openai:URL --record FILE) and train with --set data=FILE, or give the environment solve() and actions(); a remote one takes recorded actions: --set environment.demonstrations=FILE. (no-script) "`,
    );
  });

  test('are described as other environments are', async () => {
    const { port } = await serve();
    const { output } = await turnwise(['envs', `turnwise:http://127.0.0.1:${port}`]);
    const shown = output.replaceAll(String(port), 'PORT');
    expect(shown).toMatchInlineSnapshot(`
      "counter
      say up three times

        turns    at most 10
        tasks    5 train, 5 validation, 5 test
        actions  the text as it is

      Options  --set key=value here, --set environment.key=value in a run
        timeoutMs=30000  Longest wait for one answer of the server (integer ≥ 1)

      One episode of the expert
        1  {"at":0}
           at 0
           › up
        2  {"at":1}
           at 1 38
           › up
        3  {"at":2}
           at 2 13
           › up   +1
           at 3 57
           ✓ solved  3 turns, return 1.00

      Next
        turnwise train turnwise:http://127.0.0.1:PORT
        turnwise play turnwise:http://127.0.0.1:PORT
      "
    `);
  });
});

describe('turnwise env serve', () => {
  test('serves until it is interrupted', async () => {
    const controller = new AbortController();
    const console = memoryConsole();
    const serving = turnwise(
      ['env', 'serve', 'frozen-lake', '--port', '0', '--json'],
      { ...noInterrupts, signal: controller.signal },
      console,
    );
    while (console.output() === '') await new Promise((resolve) => setTimeout(resolve, 10));
    const { metrics } = JSON.parse(console.output()) as { metrics: string };
    expect(await (await fetch(metrics)).text()).toContain('sessions_open{environment="frozen-lake"} 0');
    controller.abort();
    expect((await serving).code).toBe(0);
    await expect(fetch(metrics)).rejects.toThrow();
  });

  test('knows no other action', async () => {
    expect((await turnwise(['env', 'sevre', 'maze'])).errors).toMatchInlineSnapshot(
      `"error: There is no action "sevre" of turnwise env. Allowed: new, check, play, serve. Did you mean "turnwise env serve maze"? (command-unknown) "`,
    );
  });
});
