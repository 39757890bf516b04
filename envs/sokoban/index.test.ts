import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { sokoban, world } from './index.ts';
import { movesLeft, readRoom } from './room.ts';

const defaults = world.options.parse({});
const environment = sokoban(defaults);
const rng = Rng.of(0);
const ROOM = ['######', '#P___#', '#_X__#', '#__O_#', '######'];
const at = (...room: readonly string[]) => ({ room, way: 4 });

/** Fewest moves by deepening, with the steps of the environment alone. */
function fewest(room: readonly string[], most: number): number | undefined {
  const start = { room, way: 1 };
  let layer = [start];
  const seen = new Set([room.join()]);
  for (let moves = 1; moves <= most; moves++) {
    const next: (typeof start)[] = [];
    for (const state of layer) {
      for (const side of ['up', 'down', 'right', 'left']) {
        const step = environment.step(state, side, rng);
        if (step.done) return moves;
        if (!seen.has(step.state.room.join())) next.push(step.state);
        seen.add(step.state.room.join());
      }
    }
    layer = next;
  }
  return undefined;
}

describe('oracle', () => {
  it.each([1, 2])(
    'with %i boxes the expert earns 10 + boxes − 0.1 for each move, in the fewest moves',
    async (boxes) => {
      const game = world.create({ ...defaults, boxes, minimumMoves: 4 });
      for (let index = 0; index < (boxes === 1 ? 40 : 10); index++) {
        const task = game.tasks('test').at(index) as { room: string[] };
        const played = await playEpisode(game, task, index, 'expert');
        const already = readRoom(task.room).boxes.filter((box) =>
          readRoom(task.room).targets.includes(box),
        ).length;
        expect(played.success).toBe(true);
        expect(played.turns.length).toBe(fewest(task.room, 12));
        expect(played.outcome).toBeCloseTo(10 + boxes - already - 0.1 * played.turns.length, 10);
      }
    },
  );

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 100)).toMatchInlineSnapshot(`
      [
        "expert 1.000 10.382 6.18",
        "beginner 0.800 7.624 11.76",
        "random 0.080 -1.066 19.46",
      ]
    `);
  });
});

describe('rules', () => {
  it('pushes a box, and never pulls or pushes two', () => {
    const step = (room: readonly string[], side: string) => environment.step({ room, way: 4 }, side, rng);
    expect(step(['#####', '#PX_#', '#####'], 'right').state.room[1]).toBe('#_PX#');
    expect(step(['#####', '#XP_#', '#####'], 'right').state.room[1]).toBe('#X_P#');
    expect(step(['######', '#PXX_#', '######'], 'right').state.room[1]).toBe('#PXX_#');
    expect(step(['####', '#PX#', '####'], 'right').state.room[1]).toBe('#PX#');
    expect(step(['####', '#PO#', '####'], 'right').state.room[1]).toBe('#_S#');
    expect(step(['#####', '#S√_#', '#####'], 'right').state.room[1]).toBe('#OSX#');
  });

  it('pays 1 for a box on a target, takes it back, and pays 10 at the end', () => {
    const two = at('########', '#PX_O__#', '#__X_O_#', '########');
    const near = environment.step(two, 'right', rng);
    const on = environment.step(near.state, 'right', rng);
    const off = environment.step(on.state, 'right', rng);
    expect([near, on, off].map(({ reward, done }) => [Math.round(reward * 10) / 10, done])).toEqual([
      [-0.1, false],
      [0.9, false],
      [-1.1, false],
    ]);
    expect(environment.step(at('#####', '#PXO#', '#####'), 'right', rng)).toMatchObject({
      ...{ reward: 10.9, done: true, success: true, observation: 'solved' },
    });
  });

  it('says where boxes and targets are, and what a move would meet', () => {
    expect(environment.start({ room: ROOM }, rng).messages[0]!.content).toMatchInlineSnapshot(
      `"boxrows+1 boxcols+1 goalrows+1 goalcols+1 left:wall right:free up:wall down:free"`,
    );
    const beside = environment.step(at('######', '#P_XX#', '#__OO#', '######'), 'right', rng);
    expect(beside.observation).toMatchInlineSnapshot(
      `"boxrows+0 boxcols+1 goalrows+1 goalcols+0 boxrows+0 boxcols+2 goalrows+1 goalcols+0 left:free right:stuck up:wall down:free"`,
    );
    expect(environment.step(at(...ROOM), 'jump', rng)).toMatchObject({
      valid: false,
      reward: -0.1,
      state: { room: ROOM },
    });
  });
});

it('the shares of the way sum to 1, and a dead end is −1', async () => {
  const game = world.create({ ...defaults, maxTurns: 60 });
  let dead = 0;
  for (let seed = 0; seed < 30; seed++) {
    const task = game.tasks('train').at(seed) as { room: string[] };
    const played = await playEpisode(game, task, seed, 'beginner');
    const shares = played.turns.map(({ info }) => factsOf(info, 'A turn').turn.dense![0]!);
    if (played.success) expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
    else dead += shares.filter((share) => share === -1).length;
  }
  expect(dead).toBeGreaterThan(3);
});

it('rooms are solvable in the moves that were asked for, of one split, and the same for ever', () => {
  const seen = new Map<string, string>();
  for (const split of ['train', 'validation', 'test'] as const) {
    for (let index = 0; index < 30; index++) {
      const { room } = environment.tasks(split).at(index);
      const moves = movesLeft(readRoom(room))!;
      expect(moves).toBeGreaterThanOrEqual(3);
      expect(moves).toBeLessThanOrEqual(12);
      expect(seen.get(room.join()) ?? split).toBe(split);
      seen.set(room.join(), split);
    }
  }
  expect(environment.tasks('train').at(0).room).toMatchInlineSnapshot(`
    [
      "######",
      "#O_X_#",
      "##P__#",
      "#____#",
      "#_#__#",
      "######",
    ]
  `);
  expect(() => world.options.parse({ maximumMoves: 30 })).toThrow(/at most maxTurns/);
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, { options: [{ size: 7, boxes: 2, walls: 0.1 }], episodes: 5 }));
