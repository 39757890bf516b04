/** A whole game of chess (LMRL-Gym, arXiv 2311.18232): White against a scripted player, or against an engine. Rules by chess.js. */

import { Chess } from 'chess.js';
import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import type { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { goodMoves, legalMoves, moved, plain, START } from '../chess-board/board.ts';
import { againstEngine } from './against-engine.ts';
import { awaitsReply, type ChessState, ownMove, sentences, spaced, wholeTurn } from './turn.ts';

export interface ChessOptions {
  readonly opponent: 'random' | 'material';
  readonly opening: number;
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  opponent: z
    .enum(['random', 'material'])
    .default('random')
    .describe('random: any move; material: takes what it can and guards what it has'),
  opening: z
    .int()
    .min(0)
    .max(8)
    .default(2)
    .describe('Random moves of each side before the game, so that games differ; 0 is the usual start alone'),
  maxTurns: z.int().min(1).max(400).default(60).describe('Moves of White, illegal ones among them'),
  engine: z
    .string()
    .default('')
    .describe('Plays Black in place of the opponent: the command of an engine that speaks UCI'),
  elo: z.int().min(1).max(4000).default(1350).describe('Strength of the engine, where it can be limited'),
  moveMs: z.int().min(1).max(60_000).default(100).describe('Milliseconds of the engine for a move'),
  wording: wordingOption,
});

/** A position after random moves in which White is to move; undefined where the game ended on the way. */
function opened(moves: number, rng: Rng): string | undefined {
  let fen = START;
  for (let half = 0; half < 2 * moves; half++) {
    const legal = legalMoves(fen);
    if (legal.length === 0) return undefined;
    fen = moved(fen, rng.pick(legal)).fen;
  }
  return legalMoves(fen).length === 0 ? undefined : fen;
}

/** A move as LMRL-Gym writes it: word models know characters, and no move that they never saw. */
const written = (san: string): string => [...plain(san)].join(' ');

/** The environment. Mate pays 1, being mated and an illegal move, which moves nothing, cost 1; all else pays 0. */
export function chess({ opponent, opening, maxTurns }: ChessOptions): Environment<string, ChessState> {
  return defineEnvironment<string, ChessState>({
    name: 'chess',
    description: 'A whole game of chess against a scripted player or an engine.',
    maxTurns,
    returns: [-maxTurns, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: opening === 0 ? () => [START] : drawnTasks(`chess ${opening}`, (rng) => opened(opening, rng)),
    start: (fen) => ({ state: { fen, turn: 0 }, messages: [user(spaced(fen))] }),
    step: (state, action, rng) => {
      const own = ownMove(state, action);
      const replies = () => (opponent === 'random' ? legalMoves(own.fen) : goodMoves(own.fen));
      return wholeTurn(state, own, awaitsReply(own) ? rng.pick(replies()) : undefined, maxTurns);
    },
    anchor: ({ fen }) => fen.split(' ').slice(0, 4).join(' '),
    actions: ({ fen }) => legalMoves(fen).map(written),
    solve: ({ fen }, rng) => written(rng.pick(goodMoves(fen))),
    // Takes whatever it can.
    stumble: ({ fen }, rng) => {
      const moves = legalMoves(fen);
      const taking = moves.filter((san) => san.includes('x'));
      return written(rng.pick(taking.length > 0 ? taking : moves));
    },
    render: ({ fen }) => new Chess(fen).ascii(),
    natural: {
      instructions: [
        `You play White in a game of chess and have at most ${maxTurns} moves to mate Black.`,
        'You read the position in Forsyth-Edwards Notation. Answer with one legal move in algebraic notation, a space between its characters, and nothing else.',
      ].join(' '),
      example: [[`The position is ${START}. White moves.`, 'e 4']],
      observe: sentences,
    },
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'chess',
  description: 'A whole game of chess against a scripted player or an engine.',
  options: optionsSchema,
  settings: {
    model: { width: 128, layers: 3, heads: 4, hidden: 344 },
    // Each turn says the whole position.
    context: { name: 'last-turns', turns: 1 },
    clone: { demonstrations: 400, beginnerShare: 0, randomRate: 0.1, steps: 400, batch: 16 },
    rollout: { tasks: 16, group: 8, choices: true },
    steps: 50,
  },
  create: ({ wording, engine, elo, moveMs, ...options }) => {
    const game = chess(options);
    return engine === ''
      ? fromEnvironment(game, { wording })
      : againstEngine(game, { command: engine, elo, moveMs }, wording);
  },
});
