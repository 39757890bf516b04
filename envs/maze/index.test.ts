import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { maze, STARTS, world } from './index.ts';

const defaults = world.options.parse({});
const environment = maze(defaults);
const rng = Rng.of(0);

describe('oracle', () => {
  it('the expert reaches the goal from every start: mean return -6.84, 12 moves at most', async () => {
    const episodes = await Promise.all(
      STARTS.map((start) => playEpisode(world.create(defaults), start, 0, 'expert')),
    );
    expect(episodes).toHaveLength(25);
    expect(episodes.every((episode) => episode.success && episode.done)).toBe(true);
    expect(episodes.reduce((sum, episode) => sum + episode.outcome, 0) / 25).toBe(-6.84);
    expect(Math.max(...episodes.map((episode) => episode.turns.length))).toBe(12);
    expect(episodes.reduce((sum, episode) => sum + episode.turns.length, 0)).toBe(196);
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
          "outcome": -37.576,
          "success": 0.138,
          "turns": 37.714,
        },
        "expert": {
          "outcome": -6.84,
          "success": 1,
          "turns": 7.84,
        },
        "random": {
          "outcome": -37.576,
          "success": 0.138,
          "turns": 37.714,
        },
      }
    `);
  });

  it('the standard start is worth -11', async () => {
    const played = await playEpisode(world.create(defaults), { row: 1, column: 1 }, 0, 'expert');
    expect(played.outcome).toBe(-11);
  });

  it('100 moves that never arrive return -101', async () => {
    const hundred = world.create({ ...defaults, maxTurns: 100 });
    const played = await playEpisode(hundred, { row: 1, column: 1 }, 0, () => 'left');
    expect(played).toMatchObject({ outcome: -101, done: true, success: false });
    expect(played.closing).toEqual([{ role: 'user', content: 'failure' }]);
  });

  it('the goal may be reached with the last allowed move, and not with the one after', async () => {
    const start = { row: 1, column: 1 };
    expect((await playEpisode(world.create({ ...defaults, maxTurns: 12 }), start, 0, 'expert')).success).toBe(
      true,
    );
    expect((await playEpisode(world.create({ ...defaults, maxTurns: 11 }), start, 0, 'expert')).success).toBe(
      false,
    );
  });
});

describe('rules', () => {
  const start = { row: 1, column: 1, turn: 0 };

  it('a word that is no move costs 4, is told, and moves nobody', () => {
    expect(environment.step(start, 'north', rng)).toEqual({
      state: { row: 1, column: 1, turn: 1 },
      observation: 'invalid row1 column1 left:wall right:free up:wall down:wall',
      reward: -4,
      done: false,
      valid: false,
      info: { credit: { dense: 0, effectiveActions: 0 } },
    });
  });

  it('a wall costs 1 and moves nobody', () => {
    expect(environment.step(start, 'up', rng)).toMatchObject({
      state: { row: 1, column: 1 },
      reward: -1,
      valid: true,
    });
  });

  it("reads LMRL-Gym's verbs", () => {
    expect(environment.step(start, 'move right', rng)).toMatchObject({
      state: { row: 1, column: 2 },
      observation: 'row1 column2 left:free right:free up:wall down:wall',
      reward: -1,
    });
  });

  it('arriving pays 0', () => {
    expect(environment.step({ row: 7, column: 6, turn: 3 }, 'down', rng)).toMatchObject({
      observation: 'success',
      reward: 0,
      done: true,
      success: true,
    });
  });

  it('states met at different times share an anchor', () => {
    expect(environment.anchor?.({ ...start, turn: 9 })).toBe(environment.anchor?.(start));
  });
});

describe('tasks', () => {
  it('are the 25 free cells', () => {
    expect(environment.tasks('train').size).toBe(25);
    expect(environment.tasks('test').at(0)).toEqual({ row: 1, column: 1 });
  });

  it('keep held-out starts from training', () => {
    const split = maze({ ...defaults, heldOutStarts: 5 });
    const starts = (name: 'train' | 'test') =>
      Array.from({ length: split.tasks(name).size }, (_, index) => split.tasks(name).at(index));
    expect(starts('train')).toHaveLength(20);
    expect(starts('test')).toHaveLength(5);
    for (const start of starts('test')) expect(starts('train')).not.toContainEqual(start);
  });
});

describe('random play', () => {
  it('ends within the turns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), fc.constantFrom(1, 12, 40), async (seed, maxTurns) => {
        const played = await playEpisode(world.create({ ...defaults, maxTurns }), STARTS[0]!, seed, 'random');
        expect(played.done).toBe(true);
      }),
      { numRuns: 60, seed: 1 },
    );
  });
});

describe('facts for credit', () => {
  it('what moves came nearer sums to the way that was made, and a move counts where the agent moved', async () => {
    const game = world.create(defaults);
    const length = new Map(
      await Promise.all(
        STARTS.map(
          async (start): Promise<[string, number]> => [
            `${start.row},${start.column}`,
            (await playEpisode(game, start, 0, 'expert')).turns.length,
          ],
        ),
      ),
    );
    for (const [seed, start] of STARTS.entries()) {
      const session = await game.open(start, Rng.of(seed));
      const choices = Rng.of('facts', seed);
      let nearer = 0;
      for (let turn = 0; turn < 30 && session.toMove() !== undefined; turn++) {
        const before = session.anchor('agent');
        const action = choices.pick(['left', 'right', 'up', 'down', 'north']);
        const { info } = await session.step(action, new AbortController().signal);
        const { dense, effectiveActions } = factsOf(info, 'A turn').turn;
        nearer += dense![0]!;
        const after = session.anchor('agent');
        expect(effectiveActions).toBe(after === before ? 0 : 1);
        expect(nearer).toBe(length.get(`${start.row},${start.column}`)! - (length.get(after) ?? 0));
      }
    }
  });
});

it('partially observed, only walls are told, and rules stay as they are', async () => {
  const partial = maze({ ...defaults, observed: 'partially' });
  const opening = (row: number, column: number): string =>
    partial.start({ row, column }, rng).messages[0]!.content;
  expect(opening(5, 7)).toBe('left:free right:free up:wall down:wall');
  expect(opening(6, 6)).toBe(opening(7, 6));
  // The goal below looks like any free cell.
  expect(opening(7, 6)).toBe('left:wall right:wall up:free down:free');
  expect(new Set(STARTS.map(({ row, column }) => opening(row, column))).size).toBeLessThan(25);
  expect(partial.natural!.observe({ row: 7, column: 6, turn: 0 })).toBe('There are walls: left, right.');
  expect(partial.natural!.instructions).not.toMatch(/row|column/);
  const games = STARTS.map((start) =>
    playEpisode(world.create({ ...defaults, observed: 'partially' }), start, 0, 'expert'),
  );
  const returns = (await Promise.all(games)).map(({ outcome }) => outcome);
  expect(returns.reduce((sum, one) => sum + one, 0) / 25).toBe(-6.84);
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, {
    options: [{ observed: 'partially' }, { maxTurns: 1 }, { maxTurns: 12 }, { heldOutStarts: 3 }],
  }));
