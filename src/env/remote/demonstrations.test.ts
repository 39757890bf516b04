import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { defineEnvironment } from '../environment.ts';
import { fromEnvironment } from '../from-environment.ts';
import { playEpisode } from '../play.ts';
import { tagProtocol } from '../tag-protocol.ts';
import { toolProtocol } from '../tool-protocol.ts';
import type { World } from '../world.ts';
import { withDemonstrations } from './demonstrations.ts';

/** Solved by saying the number of the task, then "end". */
const plain = fromEnvironment(
  defineEnvironment<Json, { task: number; said: boolean }>({
    name: 'say',
    description: 'say the number',
    maxTurns: 6,
    tasks: () => ({ size: 4, at: (index) => index }),
    start: (task) => ({ state: { task: task as number, said: false }, messages: [user(`task ${task}`)] }),
    step: ({ task, said }, action) => {
      const done = said && action === 'end';
      return {
        state: { task, said: said || action === `${task}` },
        observation: 'on',
        reward: done ? 1 : 0,
        done,
        success: done,
        valid: true,
      };
    },
  }),
);
const { script: _, ...world } = plain;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnwise-demonstrations-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(folder, 'recorded.jsonl');
  writeFileSync(path, text);
  return path;
}

const good = '{"task":3,"actions":["3","end"]}\n\n{"task":1,"actions":["1","end"]}\n';

test('the tasks of the file are the train split, and its actions solve them', async () => {
  const shown = withDemonstrations(world, file(good));
  const train = shown.tasks('train');
  expect([train.size, train.at(0), train.at(1), shown.tasks('test').size]).toEqual([2, 3, 1, 4]);
  for (const index of [0, 1, 0]) {
    const played = await playEpisode(shown, train.at(index), 1, 'expert');
    expect(played).toMatchObject({ success: true, outcome: 1 });
    expect(played.turns.map(({ action }) => action)).toEqual([`${train.at(index)}`, 'end']);
  }
});

test('a random action in between delays the plan; its last action is repeated; other tasks have no expert', async () => {
  const shown = withDemonstrations(world, file(good));
  const session = await shown.open(shown.tasks('train').at(0), Rng.of(1));
  const other = await shown.open(shown.tasks('test').at(0), Rng.of(1));
  const ask = (kind: 'expert' | 'random' | 'beginner'): unknown => shown.script!(session, kind, Rng.of(kind));
  expect(ask('expert')).toBe('3');
  expect(['3', '1', 'end']).toContain(ask('random'));
  expect([ask('beginner'), ask('expert'), ask('expert')]).toEqual([undefined, 'end', 'end']);
  expect(shown.script!(other, 'expert', Rng.of(1))).toBeUndefined();
});

test('actions are written bare, as the agent writes them, or as calls', async () => {
  const first = async (protocol: World['protocol'], action: unknown): Promise<unknown> => {
    const shown = withDemonstrations(
      { ...world, protocol },
      file(JSON.stringify({ task: 0, actions: [action] })),
    );
    return shown.script!(await shown.open(shown.tasks('train').at(0), Rng.of(1)), 'expert', Rng.of(1));
  };
  expect(await first(tagProtocol, 'go')).toBe('go');
  expect(await first(tagProtocol, 'I think <action>go</action>')).toBe('go');
  const tools = toolProtocol([{ name: 'add', description: '', parameters: z.strictObject({ a: z.int() }) }]);
  const call = { name: 'add', arguments: { a: 1 } };
  expect(await first(tools, call)).toBe('{"arguments":{"a":1},"name":"add"}');
  expect(await first(tools, `<tool_call>${JSON.stringify(call)}</tool_call>`)).toBe(
    '{"arguments":{"a":1},"name":"add"}',
  );
  await expect(first(tools, { name: 'add', arguments: { a: 'x' } })).rejects.toThrow('cannot be read');
  await expect(first(tools, 'go')).rejects.toThrow('No tool was called');
});

describe('files that cannot be used', () => {
  test('are refused with the line', () => {
    const message = (path: string): string => {
      try {
        withDemonstrations(world, path);
        return 'read';
      } catch (error) {
        return (error as Error).message.replaceAll(folder, '');
      }
    };
    const texts = ['', 'x', '{"task":0}', '{"task":9,"actions":["a"]}', '{"task":0,"actions":["a"],"x":1}'];
    expect(
      [join(folder, 'none'), ...texts].map((text) => message(text.startsWith('/') ? text : file(text))),
    ).toMatchInlineSnapshot(`
      [
        "The file of demonstrations cannot be read. Seen: /none.",
        "The file of demonstrations is empty. Seen: /recorded.jsonl.",
        "A line of the demonstrations is not JSON. Seen: /recorded.jsonl, line 1.",
        "A line of the demonstrations cannot be used: Invalid input: expected array, received undefined at "actions". Seen: /recorded.jsonl, line 1. Allowed: {"task": 0, "actions": ["…"]}.",
        "There is no train task 9. Seen: /recorded.jsonl, line 1. Allowed: 0 to 3.",
        "A line of the demonstrations cannot be used: Unrecognized key: "x" at "". Seen: /recorded.jsonl, line 1. Allowed: {"task": 0, "actions": ["…"]}.",
      ]
    `);
  });

  test('no file leaves the world as it is', () => {
    expect(withDemonstrations(world, '')).toBe(world);
  });
});
