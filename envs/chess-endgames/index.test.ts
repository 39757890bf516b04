import { Chess } from 'chess.js';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { endgameTable } from './endgame-table.ts';
import { chessEndgames, pliesToMate, world } from './index.ts';

const defaults = world.options.parse({});
const game = chessEndgames(defaults);
const rng = Rng.of(0);

/** Whether White mates within `moves`, by nothing but the rules of chess.js. */
function mates(chess: Chess, moves: number): boolean {
  if (moves === 0) return false;
  return chess.moves().some((move) => {
    chess.move(move);
    const done =
      chess.isCheckmate() ||
      (!chess.isGameOver() &&
        chess.moves().every((reply) => {
          chess.move(reply);
          const still = mates(chess, moves - 1);
          chess.undo();
          return still;
        }));
    chess.undo();
    return done;
  });
}

describe('oracle', () => {
  test('a queen mates in at most 10 moves, a rook in at most 16', () => {
    expect(endgameTable('q').longest).toBe(2 * 10 - 1);
    expect(endgameTable('r').longest).toBe(2 * 16 - 1);
  });

  test('mates in one and two are those that a search with chess.js finds', () => {
    const games = (['queen', 'rook'] as const).map((piece) => chessEndgames({ ...defaults, piece }));
    const counts = [0, 0, 0];
    for (let index = 0; index < 400 && Math.min(counts[1]!, counts[2]!) < 4; index++) {
      const fen = games[index % 2]!.tasks('train').at(index);
      const moves = (pliesToMate(fen)! + 1) / 2;
      if (moves > 3 || counts[Math.min(2, moves)]! >= 8) continue;
      counts[Math.min(2, moves)]!++;
      expect(mates(new Chess(fen), 1)).toBe(moves === 1);
      if (moves > 1) expect(mates(new Chess(fen), 2)).toBe(moves === 2);
    }
    expect(counts[1]).toBeGreaterThan(0);
    expect(counts[2]).toBeGreaterThan(3);
  });

  test.each(['queen', 'rook'] as const)(
    'with a %s the expert mates the best defence in as many moves as the table says',
    async (piece) => {
      const options = { ...defaults, piece, opponent: 'best' as const };
      const best = world.create(options);
      for (let index = 0; index < 6; index++) {
        const fen = chessEndgames(options).tasks('test').at(index);
        const played = await playEpisode(best, fen, index, 'expert');
        expect(played).toMatchObject({ outcome: 1, success: true });
        expect(played.turns).toHaveLength((pliesToMate(fen)! + 1) / 2);
      }
    },
  );
});

describe('rules', () => {
  const mateInOne = { fen: 'k7/8/1K6/8/8/8/8/7Q w - - 0 1', turn: 0 };

  test('mate pays 1 and ends the game, with or without its mark and with spaces', () => {
    for (const move of ['Qh8#', 'Qh8', 'Q h 8'])
      expect(game.step(mateInOne, move, rng)).toMatchObject({
        reward: 1,
        done: true,
        success: true,
        observation: 'mate',
      });
  });

  test('an illegal move costs 1 and moves nothing', () => {
    for (const move of ['Qb9', 'Ka8', 'e4', 'queen']) {
      const step = game.step(mateInOne, move, rng);
      expect(step).toMatchObject({
        reward: -1,
        done: false,
        valid: false,
        state: { fen: mateInOne.fen, turn: 1 },
      });
      expect(step.observation).toBe('invalid king:b6 queen:h1 black:a8');
    }
  });

  test('stalemate is a draw without reward', () => {
    const step = game.step({ fen: 'k7/8/8/1K6/8/8/2Q5/8 w - - 0 1', turn: 0 }, 'Qc7', rng);
    expect(step).toMatchObject({ reward: 0, done: true, success: false, observation: 'drawn' });
  });

  test('the best defence takes a queen that nobody guards', () => {
    const best = chessEndgames({ ...defaults, opponent: 'best' });
    const step = best.step({ fen: '8/8/8/3k4/8/8/8/K6Q w - - 0 1', turn: 0 }, 'Qe4+', rng);
    expect(step).toMatchObject({ reward: 0, done: true, success: false, observation: 'drawn' });
  });

  test('positions of one split are in no other', () => {
    const fens = (split: 'train' | 'test') =>
      Array.from({ length: 100 }, (_, index) => game.tasks(split).at(index));
    const trained = new Set(fens('train'));
    expect(fens('test').filter((fen) => trained.has(fen))).toEqual([]);
    expect(fens('train')).toEqual(fens('train'));
  });
});
