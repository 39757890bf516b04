import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { tasksRegistry } from '../registry.ts';
import type { GroupRequest, Tasks } from './task-source.ts';

const open = (name: string, options: object = {}): Tasks => tasksRegistry.find(name).create(options);
const now = (step: number, memory: Json) => ({
  ...{ step, memory, rng: Rng.of('test', step) },
  ...{ roles: ['agent'], players: [] },
});

/** The tasks 100 and up are fresh. */
const asked = (
  source: Tasks,
  step: number,
  memory: Json,
  { wanted = 4, round = 0 } = {},
): readonly GroupRequest[] =>
  source.next({
    ...now(step, memory),
    ...{ round, wanted, members: 8, groups: [], latest: [] },
    tasks: { size: 999, fresh: (count) => Array.from({ length: count }, (_, index) => 100 + index) },
  });

const indices = (requests: readonly GroupRequest[]): number[] =>
  requests.map(({ task }) => (task as { readonly index: number }).index);

/** A group of a task: the turns of its episodes; those with a negative number failed. */
const played = (step: number, task: number, ...turns: readonly number[]): Group => ({
  step,
  group: task,
  members: turns.map((count, member) =>
    playedEpisode(member, Array<object>(Math.abs(count)).fill({}), {
      key: madeKey({ step, task, group: task, member }),
      success: { agent: count > 0 },
    }),
  ),
});

describe('failure-replay', () => {
  const source = open('failure-replay', { every: 5, share: 0.5 });
  const failed = source.remember(
    [played(1, 0, -1, -1), played(1, 1, -1, 1), played(1, 2, -2, -2)],
    now(1, []),
  );

  test('tasks at which whole groups failed come again every five steps, in the first round', () => {
    expect(failed).toEqual([0, 2]);
    expect(indices(asked(source, 4, failed))).toEqual([100, 101, 102, 103]);
    expect(new Set(indices(asked(source, 5, failed)))).toEqual(new Set([0, 2, 102, 103]));
    expect(indices(asked(source, 5, failed, { round: 1 }))).toEqual([100, 101, 102, 103]);
  });

  test('a task leaves the pool when it does better, and fails up to a rate', () => {
    expect(source.remember([played(5, 0, 1, -1)], now(5, failed))).toEqual([2]);
    const lenient = open('failure-replay', { rate: 0.5 });
    expect(lenient.remember([played(5, 0, 1, -1), played(5, 9, 1, 1, -1)], now(5, failed))).toEqual([2, 0]);
  });
});

describe('curriculum', () => {
  test('tasks near a success rate of a half come again, beside fresh ones, none twice', () => {
    const source = open('curriculum', { temperature: 0.01 });
    const memory = [
      [0, 0],
      [1, 0.5],
      [2, 0.9],
      [3, 0.55],
    ];
    expect(indices(asked(source, 1, memory))).toEqual([1, 3, 102, 103]);
    expect(indices(asked(source, 1, memory, { round: 1 }))).toEqual([100, 101, 102, 103]);
    expect(indices(asked(source, 1, []))).toEqual([100, 101, 102, 103]);
    const all = indices(asked(open('curriculum', { fresh: 0 }), 1, memory, { wanted: 6 }));
    expect([...all].sort()).toEqual([0, 1, 104, 105, 2, 3]);
  });

  test('tasks are drawn in proportion to exp(−|s − target| / τ)', () => {
    const source = open('curriculum', { temperature: 0.25, target: 0.5 });
    const memory = [
      [0, 0.5],
      [1, 0.25],
      [2, 1],
    ];
    const drawn = Array.from(
      { length: 3000 },
      (_, step) => indices(asked(source, step, memory, { wanted: 2 }))[0]!,
    );
    const weights = [1, Math.exp(-1), Math.exp(-2)];
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const [task, weight] of weights.entries()) {
      const share = drawn.filter((own) => own === task).length / drawn.length;
      // Four standard deviations of a share of 3,000.
      expect(Math.abs(share - weight / total)).toBeLessThan(4 * Math.sqrt(0.25 / 3000));
    }
  });

  test('a rate is a mean in which later groups count more', () => {
    const source = open('curriculum');
    const first = source.remember([played(1, 7, 1, 1, -1, -1)], now(1, []));
    expect(first).toEqual([[7, 0.5]]);
    expect(source.remember([played(2, 7, 1, 1), played(2, 8, -1)], now(2, first))).toEqual([
      [7, 0.75],
      [8, 0],
    ]);
  });
});

describe('dart', () => {
  const source = open('dart');

  test('above a rate of .6 there are fewer episodes, down to two, and as many turns as successes took', () => {
    const memory = [
      [100, 0.8, 7],
      [101, 1, 3],
      [102, 0.6, 0],
    ];
    const requests = asked(source, 1, memory).map(({ members, maxTurns }) => [members, maxTurns]);
    expect(requests).toEqual([
      [4, 7],
      [2, 3],
      [8, undefined],
      [8, undefined],
    ]);
    const free = asked(open('dart', { turns: false }), 1, memory);
    expect(free.every(({ maxTurns }) => maxTurns === undefined)).toBe(true);
    const full = asked(open('dart', { episodes: false }), 1, memory);
    expect(full.map(({ members, maxTurns }) => [members, maxTurns])).toEqual([
      [8, 7],
      [8, 3],
      [8, undefined],
      [8, undefined],
    ]);
  });

  test('the rate is a moving average, and the longest success counts; what was inserted does not', () => {
    const first = source.remember([played(1, 5, 4, -9, -9, -9)], now(1, source.start()));
    expect(first).toEqual([[5, 0.25, 4]]);
    const inserted = { ...played(1, 6, 30), step: 2 };
    expect(source.remember([played(2, 5, 3, 2), inserted], now(2, first))).toEqual([[5, 0.625, 4]]);
  });
});

describe('guidance', () => {
  const round = (
    number: number,
    groups: readonly Group[],
    latest: readonly Group[],
    { wanted = 0, ...options }: { readonly wanted?: number; readonly share?: number } = {},
  ) =>
    open('guidance', { levels: 2, ...options })
      .next({
        ...now(1, null),
        ...{ round: number, wanted, members: 8, groups: [...groups, ...latest], latest },
        tasks: {
          size: 9,
          fresh: (count) => Array.from({ length: count }, (_, index) => 100 + index),
          guidance: (task, level) => (task === 3 ? undefined : `task ${task}, level ${level}`),
        },
      })
      .map(({ task, say, strip }) => {
        expect(strip).toBe(say && true);
        return [(task as { index: number }).index, say?.[0]?.content];
      });
  const guided = (task: number, ...turns: readonly number[]): Group => {
    const group = played(1, task, ...turns);
    return { ...group, members: group.members.map((one) => ({ ...one, stripped: [user('a hint')] })) };
  };

  test('whole failures are attempted again, level after level, until one succeeds or nothing more is said', () => {
    expect(round(0, [], [], { wanted: 2 })).toEqual([
      [100, undefined],
      [101, undefined],
    ]);
    const first = [played(1, 1, -1, -1), played(1, 2, -1, 1), played(1, 3, -1, -1), played(1, 4, -1, -1)];
    expect(new Map(round(1, [], first) as [number, string][])).toEqual(
      new Map([
        [1, 'task 1, level 1'],
        [4, 'task 4, level 1'],
      ]),
    );
    const second = [guided(1, 1, -1), guided(4, -1, -1)];
    expect(round(2, first, second)).toEqual([[4, 'task 4, level 2']]);
    expect(round(3, [...first, ...second], [guided(4, -1, -1)])).toEqual([]);
  });

  test('a further round that a curation wants has fresh tasks besides, which begin at the first level', () => {
    const first = [played(1, 1, -1, -1)];
    expect(round(1, [], first, { wanted: 1 })).toEqual([
      [1, 'task 1, level 1'],
      [100, undefined],
    ]);
    const second = [guided(1, -1, -1), played(1, 5, -1, -1)];
    const asked = round(2, first, second);
    expect(new Map(asked as [number, string][])).toEqual(
      new Map([
        [1, 'task 1, level 2'],
        [5, 'task 5, level 1'],
      ]),
    );
    // Its levels are not over when those of the first are.
    expect(round(3, [...first, ...second], [guided(1, -1, -1), guided(5, -1, -1)])).toEqual([
      [5, 'task 5, level 2'],
    ]);
  });

  test('a share is drawn once: those that were drawn go on, the others are not attempted again', () => {
    const first = [1, 2, 4, 5].map((task) => played(1, task, -1, -1));
    const drawn = round(1, [], first, { share: 0.5 }) as [number, string][];
    expect(drawn.map(([task, said]) => said === `task ${task}, level 1`)).toEqual([true, true]);
    const second = drawn.map(([task]) => guided(task, -1, -1));
    const asked = round(2, first, second, { share: 0.5 }) as [number, string][];
    expect(new Set(asked)).toEqual(new Set(drawn.map(([task]) => [task, `task ${task}, level 2`])));
  });

  test('a guided group of which no episode was played through leaves no level behind, and is not asked for without end', () => {
    const first = [played(1, 1, -1, -1), played(1, 2, -1, -1)];
    // Of task 1 nothing came back.
    expect(round(2, first, [guided(2, -1, -1)])).toEqual([[2, 'task 2, level 2']]);
    expect(round(2, first, [])).toEqual([]);
  });
});

test.each(['failure-replay', 'curriculum', 'dart'])(
  '%s: resumed after any step, it asks for the same',
  (name) => {
    const steps = fc.array(fc.array(fc.constantFrom(-3, 2, 4), { minLength: 2, maxLength: 4 }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(steps, fc.nat(), (turns, cut) => {
        const told = (resumeAt: number) => {
          let memory = open(name).start();
          return turns.map((own, index) => {
            if (index === resumeAt) memory = JSON.parse(JSON.stringify(memory)) as Json;
            const source = open(name, name === 'failure-replay' ? { every: 2 } : {});
            const requests = asked(source, index + 1, memory);
            memory = source.remember([played(index + 1, 100 + (index % 3), ...own)], now(index + 1, memory));
            return requests;
          });
        };
        expect(told(cut % turns.length)).toEqual(told(-1));
      }),
      { numRuns: 50 },
    );
  },
);
