import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSlipOf } from '../slip.ts';
import { parseRollouts, readRollouts } from './read-rollouts.ts';

const parse = (text: string) => parseRollouts(text, 'rollouts.jsonl');
const parseOne = (rollout: object) =>
  parse(JSON.stringify([{ groupId: 'g', id: 'a', turns: [], ...rollout }]))[0]!;
const parseTurn = (turn: object) => parseOne({ turns: [turn] }).turns[0]!;

describe('formats', () => {
  test('an array and lines are the same, and defaults are filled in', () => {
    const expected = [
      {
        id: 'a',
        groupId: 'g',
        role: 'agent',
        outcome: 3,
        turns: [
          { reward: 1, tokens: 1 },
          { reward: 2, tokens: 1 },
        ],
        excluded: false,
      },
      { id: 'b', groupId: '7', role: 'first', outcome: -1, turns: [], excluded: false },
    ];
    const a = '{"groupId":"g","id":"a","turns":[{"reward":1},{"reward":2}]}';
    const b = '{"groupId":7,"id":"b","role":"first","outcome":-1,"stop":"turn-limit","turns":[]}';
    expect(parse(`[${a},\n${b}]`)).toEqual(expected);
    expect(parse(`\uFEFF${a}\r\n\n${b}\n`)).toEqual(expected);
  });

  test('fields of a run directory that credit does not need are ignored', () => {
    const turn = {
      kind: 'act',
      anchor: 's',
      reward: 1,
      tokens: 2,
      ids: [1, 2],
      logprobs: [0, 0],
      text: 'x',
      valid: true,
      info: {},
    };
    const rollout = parseOne({ policyVersion: 3, success: true, step: 1, turns: [turn] });
    expect(rollout.turns).toEqual([{ anchor: 's', reward: 1, tokens: 2, valid: true }]);
  });

  test('failures, time-outs and cancellations are excluded', () => {
    const stops = ['done', 'turn-limit', 'invalid-action', 'timeout', 'cancelled', 'failed:tool'];
    expect(stops.map((stop) => parseOne({ stop }).excluded)).toEqual([false, false, false, true, true, true]);
  });
});

describe('tokens and values', () => {
  test('the number of tokens comes from tokens, mask, values, or is 1', () => {
    expect(parseTurn({ tokens: 3, values: [1, 2, 3] }).tokens).toBe(3);
    expect(parseTurn({ mask: [1, 0, 1] }).tokens).toBe(2);
    expect(parseTurn({ values: [1, 2, 3], observationTokens: 5 }).tokens).toBe(3);
    expect(parseTurn({}).tokens).toBe(1);
    expect(parseTurn({ tokens: 0 }).tokens).toBe(0);
  });

  test('values at observations are dropped by mask or from the end', () => {
    expect(parseTurn({ values: [1, 2, 3], mask: [0, 1, 1] }).values).toEqual([2, 3]);
    expect(parseTurn({ values: [2, 3], mask: [0, 1, 1] }).values).toEqual([2, 3]);
    expect(parseTurn({ values: [1, 2, 3], tokens: 2, observationTokens: 1 }).values).toEqual([1, 2]);
    expect(parseTurn({ values: [1, 2], tokens: 2, observationTokens: 1 }).values).toEqual([1, 2]);
  });

  test('lengths that do not fit are refused', () => {
    expect(() => parseTurn({ values: [1, 2, 3], tokens: 2 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: turns[0].values must have one number for each sampled token. Seen: 3 numbers. Allowed: 2.]`,
    );
    expect(() =>
      parseTurn({ values: [1], tokens: 2, observationTokens: 3 }),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: turns[0].values must have one number for each sampled token. Seen: 1 numbers. Allowed: 2, or 5 with observation tokens.]`,
    );
    expect(() => parseTurn({ mask: [1, 0], tokens: 2 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: turns[0].mask must have a 1 for each sampled token. Seen: 1 ones. Allowed: 2, as turns[].tokens says.]`,
    );
  });
});

describe('messages', () => {
  test('text that is not JSON, with its line', () => {
    expect(() =>
      parse('{"groupId":"g","id":"a","turns":[]}\n{"groupId":}'),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Line 2 of rollouts.jsonl is not JSON. Seen: {"groupId":}. Allowed: a JSON array of trajectories, or one trajectory per line.]`,
    );
    expect(() => parse('[\n{"groupId":"g",\n"id":"a",}\n]')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: Line 3 of rollouts.jsonl is not JSON. Seen: "id":"a",}. Allowed: a JSON array of trajectories, or one trajectory per line.]`,
    );
    expect(() => parse('[\n{"groupId":"g"},\n{"groupId"\n')).toThrow('Line 4 of');
    expect(() => parse('[1,\n2\n3,\n4]')).toThrow('Line 3 of');
  });

  test('nothing in it', () => {
    expect(() => parse(' \n')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl holds no trajectories. Allowed: a JSON array of trajectories, or one trajectory per line.]`,
    );
    expect(() => parse('[]')).toThrow('holds no trajectories');
  });

  test('fields', () => {
    expect(() => parse('{"id":"a","turns":[]}')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, line 1: groupId is not valid: Invalid input: expected a text or a number. Seen: nothing.]`,
    );
    expect(() =>
      parse('{"groupId":"g","id":"a","turns":[{"reward":"1"}]}'),
    ).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, line 1: turns[0].reward is not valid: Invalid input: expected number, received string. Seen: "1".]`,
    );
    expect(() => parse('{"groupId":"g","id":"a","turns":[{"reward":1e999}]}')).toThrow(
      'turns[0].reward is not valid',
    );
    expect(() => parseTurn({ rewrad: 1 })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: turns[0].rewrad is not a known field. Seen: "rewrad". Did you mean "reward"?]`,
    );
    expect(() => parseOne({ group_id: 'g', groupId: undefined })).toThrow('Did you mean "groupId"?');
    expect(() => parseOne({ stop: 'timed-out' })).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: stop is not valid: Invalid option: expected one of "done"|"turn-limit"|"token-limit"|"context-overflow"|"invalid-action"|"early-stop"|"timeout"|"cancelled"|"failed:policy"|"failed:environment"|"failed:tool"|"failed:grader"|"failed:engine". Seen: "timed-out".]`,
    );
    expect(() => parse('[3]')).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, item 1: the trajectory is not valid: Invalid input: expected object, received number. Seen: 3.]`,
    );
    expect(() => parse('[{"groupId":"g","id":"a","turns":[3]}]')).toThrow('turns[0] is not valid');
  });

  test('the same id twice in a group and role', () => {
    const line = '{"groupId":"g","id":"a","turns":[]}';
    expect(() => parse(`${line}\n${line}`)).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: rollouts.jsonl, line 2: id is used twice in group "g", first at line 1. Seen: a.]`,
    );
    expect(parse(`${line}\n${line.replace('"a"', '"a","role":"second"')}`).length).toBe(2);
  });
});

describe('files', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnwise-rollouts-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('reads one, and says which is missing', async () => {
    const path = join(folder, 'rollouts.jsonl');
    await writeFile(path, '{"groupId":"g","id":"a","outcome":1,"turns":[{}]}\n');
    expect((await readRollouts(path))[0]!.outcome).toBe(1);
    await expect(readRollouts('no/such/file.jsonl')).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: There is no such rollout file. Seen: no/such/file.jsonl. Pass a JSON or JSONL file, such as one of a run directory under rollouts/.]`,
    );
    await expect(readRollouts(folder)).rejects.toMatchObject({ code: 'rollouts-unreadable' });
  });
});

test('a slip is one letter, two swapped, or another way of joining words', () => {
  for (const slip of ['rewrad', 'rewad', 'rewards', 'rewarb', 'Reward'])
    expect(isSlipOf(slip, 'reward')).toBe(true);
  expect(isSlipOf('observation_tokens', 'observationTokens')).toBe(true);
  for (const other of ['answer', 'step', 'observation', 'raw']) expect(isSlipOf(other, 'anchor')).toBe(false);
  expect(isSlipOf('step', 'stop')).toBe(false);
  expect(isSlipOf('tokens', 'tokkens')).toBe(true);
});
