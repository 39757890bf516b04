import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { type PlayedEpisode, playEpisode } from '../../src/env/play.ts';
import { Board, worths } from './board.ts';
import { connectFourGame, world } from './index.ts';

/** A solver of its own on bits: a column is `rows` bits and an empty one above them. Boards of at most 31 bits. */
function solver(columns: number, rows: number) {
  const height = rows + 1;
  const bottom = Array.from({ length: columns }, (_, column) => 1 << (column * height));
  const floor = bottom.reduce((mask, bit) => mask | bit, 0);
  const column = bottom.map((bit) => bit * (2 ** rows - 1));
  const full = column.reduce((mask, bits) => mask | bits, 0);
  const middleFirst = [...bottom.keys()].sort(
    (a, b) => Math.abs(2 * a - columns + 1) - Math.abs(2 * b - columns + 1),
  );
  const isFour = (stones: number): boolean => {
    for (const shift of [1, rows, height, height + 1]) {
      const pairs = stones & (stones >>> shift);
      if ((pairs & (pairs >>> (2 * shift))) !== 0) return true;
    }
    return false;
  };
  const mirrored = (stones: number): number =>
    bottom.reduce(
      (mask, _, index) =>
        mask | (((stones >>> (index * height)) & (2 ** height - 1)) << ((columns - 1 - index) * height)),
      0,
    );
  // Positions by their name, in places that later ones may take: what is known of "at least 0" and "at least 1".
  const names = new Int32Array(2 ** 22);
  const answers = new Int8Array(2 ** 22);
  const isAtLeast = (own: number, all: number, bound: 0 | 1): boolean => {
    if (all === full) return bound === 0;
    // The sum names a position: the mover's stones, and the first free place of each column. Its mirror image is worth the same.
    const name = Math.min(own + all + floor, mirrored(own) + mirrored(all) + floor);
    const place = Math.imul(name, 0x9e3779b1) >>> 10;
    const known = names[place] === name ? answers[place]! : 0;
    const asked = bound === 0 ? 1 : 4;
    if (known & asked) return (known & (2 * asked)) !== 0;
    const drops = middleFirst
      .map((index) => (all + bottom[index]!) & column[index]! & ~all)
      .filter((drop) => drop !== 0);
    const threats = drops.filter((drop) => isFour((all ^ own) | drop));
    const result =
      drops.some((drop) => isFour(own | drop)) ||
      // Whoever faces a four has to take its place.
      (threats.length < 2 &&
        (threats.length === 1 ? threats : drops).some(
          (drop) => !isAtLeast(all ^ own, all | drop, bound === 0 ? 1 : 0),
        ));
    if (names[place] !== name) [names[place], answers[place]] = [name, 0];
    answers[place]! |= result ? 3 * asked : asked;
    return result;
  };
  const value = (own: number, all: number): number =>
    isAtLeast(own, all, 1) ? 1 : isAtLeast(own, all, 0) ? 0 : -1;
  return { value, isFour };
}

describe('oracles', () => {
  test.each([
    [4, 4],
    [4, 5],
  ])('a board of %i columns and %i rows is drawn, by both solvers', (columns, rows) => {
    expect(0 + solver(columns, rows).value(0, 0)).toBe(0);
    expect(Math.max(...worths({ columns, rows }, []).values())).toBe(0);
  });

  test('a board of 5 columns and 5 rows is drawn', () => {
    expect(solver(5, 5).value(0, 0)).toBe(0);
  });

  test('a board of 5 columns and 4 rows is drawn', () => {
    expect(solver(5, 4).value(0, 0)).toBe(0);
  });

  test('positions have the same values in both', () => {
    const size = { columns: 5, rows: 4 };
    const other = solver(5, 4);
    const game = connectFourGame(size, 4);
    let ends = 0;
    for (let index = 0; index < 80; index++) {
      let moves = game.tasks('train').at(index % game.tasks('train').size);
      const rng = Rng.of('positions', index);
      for (let more = index % 16; more > 0 && game.toMove({ moves }); more--)
        moves = [...moves, rng.pick(new Board(size, moves).open())];
      const sides = [0, 0];
      const heights = [0, 0, 0, 0, 0];
      for (const [turn, column] of moves.entries())
        sides[turn % 2]! |= 1 << (column * 5 + heights[column]!++);
      const isOver = sides.some(other.isFour);
      ends += isOver ? 1 : 0;
      // Slanting rows are among them.
      const mover = moves.length % 2 === 0 ? 'first' : 'second';
      expect(game.toMove({ moves })).toBe(isOver ? undefined : mover);
      if (isOver) continue;
      const own = sides[moves.length % 2]!;
      expect(0 + other.value(own, sides[0]! | sides[1]!)).toBe(Math.max(...worths(size, moves).values()));
    }
    expect(ends).toBeGreaterThan(5);
  });
});

describe('rules', () => {
  const size = { columns: 5, rows: 4 };
  const game = connectFourGame(size, 0);
  const play = (moves: string): PlayedEpisode['turns'][number]['rewards'] => {
    let state = game.start([], Rng.of(0));
    let rewards = {};
    for (const move of moves) {
      const next = game.step(state, game.toMove(state)!, move, Rng.of(0));
      [state, rewards] = [next.state, next.rewards];
    }
    expect(game.toMove(state)).toBeUndefined();
    return rewards;
  };

  test('four in a column win', () => {
    expect(play('1212121')).toEqual({ first: 1, second: -1 });
    expect(play('21315151')).toEqual({ first: -1, second: 1 });
  });

  test('four on a level win', () => {
    expect(play('1122334')).toEqual({ first: 1, second: -1 });
  });

  test('a full column or anything else loses', () => {
    const state = { moves: [0, 0, 0, 0] };
    expect(game.actions!(state, 'first')).toEqual(['2', '3', '4', '5']);
    for (const action of ['1', '6', '0', 'left']) {
      expect(game.step(state, 'first', action, Rng.of(0))).toMatchObject({
        valid: false,
        done: true,
        rewards: { first: -1 },
      });
    }
  });
});

test('the expert keeps a drawn game against itself, and loses to no random player', async () => {
  const plain = world.create(world.options.parse({ opening: 0, columns: 4 }));
  for (let seed = 0; seed < 20; seed++) {
    expect((await playEpisode(plain, [], seed, 'expert')).outcome).toBe(0);
    const played = await playEpisode(
      plain,
      [],
      seed,
      async (of, rng) => (await plain.script!(of, of.toMove() === 'second' ? 'expert' : 'random', rng))!,
    );
    expect(played.outcome).toBeLessThanOrEqual(0);
  }
});

test('the board of the shops is played, too', async () => {
  const shop = world.create(world.options.parse({ columns: 7, rows: 6 }));
  const played = await playEpisode(
    shop,
    shop.tasks('test').at(0),
    0,
    async (of, rng) => (await shop.script!(of, of.toMove() === 'first' ? 'expert' : 'random', rng))!,
  );
  expect(played.done).toBe(true);
  expect(played.outcome).toBe(1);
}, 20_000);

test('the openings of one split are in no other', () => {
  const game = connectFourGame({ columns: 5, rows: 4 }, 4);
  const all = (['train', 'validation', 'test'] as const).flatMap((split) => {
    const { size, at } = game.tasks(split);
    return Array.from({ length: size }, (_, index) => at(index).join());
  });
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThan(250);
});

test('it is read in a word for each stone, or in a picture', async () => {
  const compact = await world.create(world.options.parse({})).open([2, 2, 0, 1], Rng.of(0));
  expect(compact.observe('first')[0]!.content).toBe('1a:me 2a:foe 3a:me 3b:foe');
  const natural = await world
    .create(world.options.parse({ wording: 'natural' }))
    .open([2, 2, 0, 1], Rng.of(0));
  expect(natural.observe('first').at(-1)!.content).toBe(
    'You are X.\n1 2 3 4 5\n. . . . .\n. . . . .\n. . O . .\nX O X . .',
  );
});
