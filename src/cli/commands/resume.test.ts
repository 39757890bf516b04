/** A run with a player elsewhere stops at its limit, and goes on with a limit and a price of its own. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../command-line.ts';
import { memoryConsole, noInterrupts } from '../testing-console.test-helper.ts';
import { resumeCommand } from './resume.ts';
import { trainCommand } from './train.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-resume-'));
let server: Server;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const message = { role: 'assistant', content: 'check' };
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: 10, completion_tokens: 1 },
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.close();
  rmSync(runs, { recursive: true, force: true });
});

test('limits and prices of what models elsewhere cost', async () => {
  const console = memoryConsole();
  const turnwise = (...line: string[]) =>
    runCommandLine([...line, '--runs', runs], {
      commands: [trainCommand, resumeCommand],
      version: '0',
      console,
      interrupts: noInterrupts,
    });
  const settings = {
    'players.far': `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#m`,
    'seats.first': 'far',
    ...{ steps: 3, threads: 1 },
    ...{ 'model.width': 16, 'model.layers': 1, 'model.heads': 2, 'model.hidden': 32 },
    ...{ 'clone.demonstrations': 16, 'clone.steps': 1, 'clone.batch': 4 },
    ...{ 'rollout.tasks': 2, 'rollout.group': 2 },
    ...{ 'evaluation.every': 0, 'evaluation.tasks': 1, 'evaluation.finalTasks': 1 },
  };
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const steps = () =>
    readFileSync(join(runs, 'poker', 'events.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; step: number; metrics: Record<string, number> })
      .filter(({ type }) => type === 'step');
  expect(await turnwise('train', 'kuhn-poker', '--name', 'poker', ...set, '--max-calls', '5')).not.toBe(0);
  expect(steps().map(({ step }) => step)).toEqual([1]);
  expect(await turnwise('resume', 'poker', '--max-calls', '3', '--price', '1,2')).not.toBe(0);
  expect(steps().map(({ step }) => step)).toEqual([1, 2]);
  expect(steps()[1]!.metrics).toMatchObject({ 'spend/calls': 3, 'spend/cost': expect.closeTo(3 * 12e-6) });
  expect(await turnwise('resume', 'poker')).toBe(0);
  expect(steps().map(({ step }) => step)).toEqual([1, 2, 3]);
}, 60_000);
