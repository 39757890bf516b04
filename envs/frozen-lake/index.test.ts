import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import type { Split } from '../../src/env/environment.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { frozenLake, splitOf, world } from './index.ts';
import { distances, optimalSuccess } from './lake.ts';

const defaults = world.options.parse({});
const lake = frozenLake(defaults);
const map = ['S.O.', '....', '.O..', '...G'];
const { state } = lake.start({ map }, Rng.of(0));

describe('observation', () => {
  it('says how far the goal is and what lies on each side', () => {
    expect(lake.start({ map }, Rng.of(0)).messages[0]?.content).toMatchInlineSnapshot(
      `"rows+3 cols+3 left:edge right:free up:edge down:free"`,
    );
    expect(lake.step({ map, row: 3, column: 1 }, 'right', Rng.of(0)).observation).toMatchInlineSnapshot(
      `"rows+0 cols+1 left:free right:goal up:free down:edge"`,
    );
  });

  it('renders the map for people', () => {
    expect(lake.render?.({ map, row: 1, column: 1 })).toMatchInlineSnapshot(`
      "S.O.
      .@..
      .O..
      ...G"
    `);
  });
});

describe('guidance', () => {
  it('tells the first move, half of a shortest way, and all of it, which leads to the goal', () => {
    const said = [1, 2, 3, 4].map((level) => lake.guidance?.({ map }, level));
    expect(said.map((text) => text?.split(' ').length)).toEqual([1, 3, 6, undefined]);
    expect(said[2]?.startsWith(said[1]!)).toBe(true);
    let at = state;
    const steps = said[2]!.split(' ').map((move) => {
      const step = lake.step(at, move, Rng.of(0));
      at = step.state;
      return step;
    });
    expect(steps.at(-1)).toMatchObject({ reward: 1, done: true, success: true });
    expect(steps.slice(0, -1).every(({ done }) => !done)).toBe(true);
  });
});

describe('rules', () => {
  it('ends with 1 at the goal and 0 in a hole', () => {
    expect(lake.step({ map, row: 3, column: 2 }, 'right', Rng.of(0))).toMatchObject({
      reward: 1,
      done: true,
      success: true,
    });
    const drowned = lake.step({ map, row: 1, column: 1 }, 'down', Rng.of(0));
    expect(drowned).toMatchObject({ reward: 0, done: true });
    expect(drowned.success).toBeUndefined();
  });

  it('stops at the edge', () => {
    expect(lake.step(state, 'left', Rng.of(0))).toMatchObject({ state, valid: true, done: false });
  });

  it('tells the agent about an unknown word and leaves it where it is', () => {
    expect(lake.step(state, 'north', Rng.of(0))).toEqual({
      state,
      observation: 'invalid rows+3 cols+3 left:edge right:free up:edge down:free',
      reward: 0,
      done: false,
      valid: false,
      info: { credit: { dense: 0, effectiveActions: 0 } },
    });
  });

  it('slides sideways with the probability it was given', () => {
    const slippery = frozenLake({ ...defaults, slip: 0.5 });
    const counts = { right: 0, up: 0, down: 0 };
    for (let seed = 0; seed < 4000; seed++) {
      const { row, column } = slippery.step({ map, row: 1, column: 2 }, 'right', Rng.of(seed)).state;
      counts[column === 3 ? 'right' : row === 0 ? 'up' : 'down']++;
    }
    expect(counts.right / 4000).toBeCloseTo(0.5, 1);
    expect(counts.up / 4000).toBeCloseTo(0.25, 1);
  });
});

describe('tasks', () => {
  it('are the same for ever, of their split, solvable and long enough', () => {
    for (const split of ['train', 'validation', 'test'] as const satisfies Split[]) {
      const tasks = lake.tasks(split);
      for (let index = 0; index < 200; index++) {
        const task = tasks.at(index);
        expect(splitOf(task.map)).toBe(split);
        const flat = task.map.join('');
        const goal = flat.indexOf('G');
        const length = distances(task.map, [Math.floor(goal / 4), goal % 4])[flat.indexOf('S')]!;
        expect(length).toBeGreaterThanOrEqual(3);
        expect(length).toBeLessThanOrEqual(12);
      }
      expect(tasks.at(7)).toEqual(lake.tasks(split).at(7));
    }
    expect(lake.tasks('train').at(0).map).toMatchInlineSnapshot(`
      [
        "...S",
        "....",
        "G..O",
        "OOO.",
      ]
    `);
  });

  it('are mostly different maps', () => {
    const maps = new Set(Array.from({ length: 500 }, (_, i) => lake.tasks('test').at(i).map.join('/')));
    expect(maps.size).toBeGreaterThan(400);
  });

  it('says when no map fits the options', () => {
    const { wording: _, ...options } = world.options.parse({
      size: 2,
      minimumPath: 2,
      holes: 0.5,
      maxTurns: 1,
    });
    expect(() => frozenLake(options).tasks('train').at(0)).toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: No solvable map was found for these options of frozen-lake. Seen: 20000 draws with {"size":2,"holes":0.5,"slip":0,"maxTurns":1,"minimumPath":2}. Lower holes or minimumPath, or raise size or maxTurns.]`,
    );
    expect(() => world.options.parse({ size: 3, minimumPath: 9 })).toThrow(/at most 2 × \(size − 1\)/);
  });
});

describe('oracle', () => {
  it('the expert solves every map in the fewest moves', async () => {
    for (let index = 0; index < 300; index++) {
      const task = lake.tasks('test').at(index);
      const played = await playEpisode(world.create(defaults), task, index, 'expert');
      const flat = task.map.join('');
      const goal = flat.indexOf('G');
      expect(played.success).toBe(true);
      expect(played.turns).toHaveLength(
        distances(task.map, [Math.floor(goal / 4), goal % 4])[flat.indexOf('S')]!,
      );
      expect(optimalSuccess(task, defaults)).toBe(1);
    }
  });

  it('scripted players do as the README says', async () => {
    const game = world.create(defaults);
    expect({
      expert: await measurePlayer(game, 'expert', 500),
      beginner: await measurePlayer(game, 'beginner', 500),
      random: await measurePlayer(game, 'random', 500),
    }).toMatchInlineSnapshot(`
      {
        "beginner": {
          "outcome": 0.626,
          "success": 0.626,
          "turns": 2.82,
        },
        "expert": {
          "outcome": 1,
          "success": 1,
          "turns": 3.83,
        },
        "random": {
          "outcome": 0.12,
          "success": 0.12,
          "turns": 7.26,
        },
      }
    `);
  });

  it('value iteration gives the exact optimum of a map worked by hand', () => {
    // One row of ice between two edges: forward with 1 − slip, and a sideways slip stays in place at the edges.
    const corridor = { map: ['SG', 'OO'] };
    // A slip goes up (the edge, stays) or down (a hole): one try wins with 0.8, stays with 0.1.
    expect(optimalSuccess(corridor, { slip: 0.2, maxTurns: 1 })).toBeCloseTo(0.8, 12);
    expect(optimalSuccess(corridor, { slip: 0.2, maxTurns: 2 })).toBeCloseTo(0.8 + 0.1 * 0.8, 12);
    // Pressing up: never into the hole below, and slips right onto the goal half of the time.
    expect(optimalSuccess(corridor, { slip: 1, maxTurns: 1 })).toBeCloseTo(0.5, 12);
  });

  it('with slip, the expert comes near the exact optimum and does not beat it', async () => {
    const options = { ...defaults, slip: 1 / 3, maxTurns: 16 };
    const slippery = world.create(options);
    const tasks = Array.from({ length: 200 }, (_, index) => frozenLake(options).tasks('test').at(index));
    const optimum = tasks.reduce((sum, task) => sum + optimalSuccess(task, options), 0) / tasks.length;
    let solved = 0;
    for (let seed = 0; seed < 600; seed++) {
      if ((await playEpisode(slippery, tasks[seed % 200]!, seed, 'expert')).success) solved++;
    }
    expect(optimum).toBeGreaterThan(0.75);
    expect(optimum).toBeLessThan(0.9);
    expect(solved / 600).toBeGreaterThan(0.9 * optimum);
    expect(solved / 600).toBeLessThan(optimum + 0.03);
  });
});

describe('facts for credit', () => {
  it('the shares of the way sum to 1 at the goal, and a hole is the end of it', async () => {
    const game = world.create(defaults);
    let holes = 0;
    for (let seed = 0; seed < 60; seed++) {
      for (const player of ['expert', 'beginner', 'random'] as const) {
        const played = await playEpisode(game, lake.tasks('train').at(seed), seed, player);
        const facts = played.turns.map(({ info }) => factsOf(info, 'A turn').turn);
        const total = facts.reduce((sum, { dense }) => sum + dense![0]!, 0);
        const fell = played.done && !played.success;
        if (played.success) expect(total).toBeCloseTo(1, 12);
        else expect(total).toBeLessThan(1);
        if (fell) expect(facts.at(-1)!.dense).toEqual([-1]);
        if (player === 'expert') for (const { dense } of facts) expect(dense![0]).toBeGreaterThan(0);
        holes += fell ? 1 : 0;
      }
    }
    expect(holes).toBeGreaterThan(20);
  });

  it('a move into the edge changes nothing', () => {
    const { info } = lake.step(state, 'left', Rng.of(0));
    expect(info).toEqual({ credit: { dense: 0, effectiveActions: 0 } });
  });
});

it('keeps the laws with other numbers', () => environmentLaws(world, { options: [{ slip: 0.3 }] }));
