import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chess } from 'chess.js';
import { afterAll, describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import { goodMoves, START } from '../chess-board/board.ts';
import { ChessEngine } from './engine.ts';
import { chess, world } from './index.ts';

const options = { opponent: 'random', opening: 2, maxTurns: 60 } as const;
const game = chess(options);
const rng = Rng.of(0);
const aborted = new AbortController().signal;

describe('rules', () => {
  // Fool's mate, with colours changed.
  const mateInOne = { fen: 'rnbqkbnr/ppppp2p/8/5pp1/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3', turn: 0 };

  test('mate pays 1 and ends the game, with or without its mark and with spaces', () => {
    for (const move of ['Qh5#', 'Qh5', 'Q h 5'])
      expect(game.step(mateInOne, move, rng)).toMatchObject({
        ...{ reward: 1, done: true, success: true, observation: 'mate' },
      });
  });

  test('being mated costs 1 and ends the game', () => {
    const fen = 'rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2';
    const material = chess({ ...options, opponent: 'material' });
    expect(material.step({ fen, turn: 1 }, 'g4', rng)).toMatchObject({
      ...{ reward: -1, done: true, success: false, observation: 'mated', valid: true },
    });
    expect(game.natural!.observe({ fen, turn: 1 }, material.step({ fen, turn: 1 }, 'g4', rng))).toBe(
      'You are mated.',
    );
  });

  test('an illegal move costs 1 and moves nothing, not even Black', () => {
    for (const move of ['e5', 'Ke2', 'O-O', 'resign', '']) {
      expect(game.step({ fen: START, turn: 4 }, move, rng)).toMatchObject({
        ...{ reward: -1, done: false, valid: false, state: { fen: START, turn: 5 } },
        observation: expect.stringMatching(/^invalid r n b q k b n r \/ p/),
      });
    }
  });

  test('stalemate is a draw without reward, and the last turn ends the game', () => {
    const stuck = game.step({ fen: '7k/8/8/6Q1/8/8/8/K7 w - - 0 1', turn: 0 }, 'Qg6', rng);
    expect(stuck).toMatchObject({ reward: 0, done: true, success: false, observation: 'drawn' });
    const last = game.step({ fen: START, turn: 59 }, 'e4', rng);
    expect(last).toMatchObject({ reward: 0, done: true, success: false, observation: 'over' });
  });

  test('material that a turn won or lost is a fact', () => {
    // A queen that nobody guards, and a king too far to take back.
    const step = game.step({ fen: '7k/8/8/8/3q4/8/8/K2R4 w - - 0 1', turn: 0 }, 'Rxd4', rng);
    expect(step.info).toMatchObject({ credit: { dense: 9, effectiveActions: 1 } });
  });

  test('castling, taking in passing and promotion are moves as any other', () => {
    for (const [fen, move, after] of [
      ['r3k2r/8/8/8/8/8/8/R3K2R w KQ - 0 1', 'O - O - O', '2KR3R'],
      ['4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1', 'e x d 6', '8/8'],
      ['8/4P2k/8/8/8/8/8/4K3 w - - 0 1', 'e 8 = N', '4N'],
    ] as const) {
      const step = game.step({ fen, turn: 0 }, move, rng);
      expect(step.valid).toBe(true);
      expect(step.state.fen).toContain(after);
    }
  });
});

describe('players', () => {
  test('a good move mates where it can, takes what is free, and leaves nothing to be taken', () => {
    expect(goodMoves('6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1')).toEqual(['Re8#']);
    expect(goodMoves('7k/8/8/3q4/8/8/8/K2R4 w - - 0 1')).toEqual(['Rxd5']);
    // The pawn is guarded: a queen for it is no gain.
    expect(goodMoves('7k/8/2p5/3p4/8/8/8/K2Q4 w - - 0 1')).not.toContain('Qxd5');
    // One queen move would be stalemate.
    expect(goodMoves('7k/8/8/6Q1/8/8/8/K7 w - - 0 1')).not.toContain('Qg6');
  });

  test('every task is a position in which White is to move, and no test task is one of training', () => {
    const fens = (split: 'train' | 'test') =>
      Array.from({ length: 60 }, (_, index) => game.tasks(split).at(index));
    const trained = new Set(fens('train'));
    expect(trained.size).toBeGreaterThan(55);
    for (const fen of fens('test')) {
      expect(trained.has(fen)).toBe(false);
      expect(new Chess(fen).turn()).toBe('w');
    }
    expect(
      chess({ ...options, opening: 0 })
        .tasks('test')
        .at(0),
    ).toBe(START);
  });

  test('the expert wins most games against random moves, in both wordings', async () => {
    for (const wording of ['compact', 'natural'] as const) {
      const played = await Promise.all(
        [0, 1, 2].map((index) =>
          playEpisode(
            world.create(world.options.parse({ wording })),
            game.tasks('test').at(index),
            index,
            'expert',
          ),
        ),
      );
      expect(played.filter(({ success }) => success).length).toBeGreaterThanOrEqual(2);
      for (const { turns } of played) for (const { valid } of turns) expect(valid).toBe(true);
    }
  });
});

describe('an engine as a process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-chess-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Speaks UCI; `move` is a line of JavaScript that gives its move. */
  function engineOf(
    name: string,
    move: string,
    greeting = "say('id name made');say('option name UCI_Elo type spin');say('uciok')",
  ) {
    const path = join(folder, name);
    writeFileSync(
      path,
      `#!${process.execPath}
const say = (line) => console.log(line);
let fen = '';
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'uci') { ${greeting} }
  if (line === 'isready') say('readyok');
  if (line.startsWith('position fen ')) fen = line.slice(13);
  if (line.startsWith('setoption')) require('node:fs').appendFileSync(__filename + '.log', line + '\\n');
  if (line.startsWith('go ')) { say('info depth 1'); ${move} }
});`,
    );
    chmodSync(path, 0o755);
    return path;
  }
  const against = (engine: string) => world.create(world.options.parse({ engine, moveMs: 5, elo: 1500 }));
  const open = (engine: string) => against(engine).open(START, rng, rng, aborted);

  test('replies, is limited to the strength that was asked for, and ends with the episode', async () => {
    const path = engineOf('replying', "say('bestmove ' + (fen.includes('4P3') ? 'e7e5' : 'b8c6'))");
    const session = await open(path);
    expect(session.observe('agent')[0]?.content).toMatch(/^r n b q k b n r/);
    const step = await session.step('e 4', aborted);
    expect(step).toMatchObject({ rewards: { agent: 0 }, done: false, valid: true });
    expect(session.observe('agent')[0]?.content).toContain('p p p p 1 p p p / 8 / 4 p 3 / 4 P 3');
    expect(await session.step('e 4', aborted)).toMatchObject({ rewards: { agent: -1 }, valid: false });
    await session.close();
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(`${path}.log`, 'utf8')).toContain('UCI_Elo value 1500');
  });

  test('what is wrong with it is told, and is a failure of the environment', async () => {
    await expect(open(join(folder, 'missing'))).rejects.toThrow(/cannot be started: .*ENOENT/);
    await expect(open(engineOf('leaving', '', 'process.exit(3)'))).rejects.toThrow(/ended with code 3/);
    const cheating = await open(engineOf('cheating', "say('bestmove e7e4')"));
    await expect(cheating.step('e 4', aborted)).rejects.toThrow(/e7e4/);
    await cheating.close();
    const dying = await open(engineOf('dying', 'process.exit(1)'));
    await expect(dying.step('e 4', aborted)).rejects.toThrow(/ended with code 1/);
    await expect(dying.step('d 4', aborted)).rejects.toThrow(/ended with code 1/);
    await dying.close();
  });

  test('an episode that is given up does not wait for it', async () => {
    const engine = await ChessEngine.start(
      { command: engineOf('thinking', ''), elo: 1350, moveMs: 5 },
      aborted,
    );
    const stop = new AbortController();
    const move = engine.bestMove(START, stop.signal);
    stop.abort(new Error('given up'));
    await expect(move).rejects.toThrow('given up');
    engine.close();
  });
});
