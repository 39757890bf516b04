/** Chess endgames (LMRL-Gym, arXiv 2311.18232): mate a lone king with a queen or a rook. Rules by chess.js. */

import { Chess } from 'chess.js';
import { z } from 'zod';
import type { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import { legalMoves, moved, plain } from '../chess-board/board.ts';
import { endgameTable, type Piece } from './endgame-table.ts';

export type ChessState = { readonly fen: string; readonly turn: number };
export interface EndgameOptions {
  readonly piece: 'queen' | 'rook';
  readonly opponent: 'random' | 'best';
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  piece: z.enum(['queen', 'rook']).default('queen').describe('What White has beside the king'),
  opponent: z
    .enum(['random', 'best'])
    .default('random')
    .describe('random: Black moves anywhere; best: Black holds out as long as it can'),
  maxTurns: z.int().min(1).max(100).default(20).describe('Moves of White, illegal ones among them'),
  wording: wordingOption,
});

const FILES = 'abcdefgh';
const nameOf = (square: number): string => `${FILES[square & 7]}${(square >> 3) + 1}`;

interface Places {
  readonly king: number;
  readonly black: number;
  /** Absent where it was taken. */
  readonly piece?: { readonly kind: Piece; readonly square: number };
}

function placesOf(fen: string): Places {
  const at = new Map<string, number>();
  for (const [fromTop, row] of fen.split(' ')[0]!.split('/').entries()) {
    let file = 0;
    for (const letter of row) {
      if (!/\d/.test(letter)) at.set(letter, 8 * (7 - fromTop) + file);
      file += /\d/.test(letter) ? Number(letter) : 1;
    }
  }
  const kind = (['q', 'r'] as const).find((type) => at.has(type.toUpperCase()));
  return {
    king: at.get('K')!,
    black: at.get('k')!,
    ...(kind && { piece: { kind, square: at.get(kind.toUpperCase())! } }),
  };
}

/** Half-moves to mate in the position; undefined where none can be forced. */
export function pliesToMate(fen: string): number | undefined {
  const { king, black, piece } = placesOf(fen);
  if (piece === undefined) return undefined;
  const table = endgameTable(piece.kind);
  return fen.split(' ')[1] === 'w'
    ? table.white(king, piece.square, black)
    : table.black(king, piece.square, black);
}

/** A position with White to move and something to do. */
function position(piece: EndgameOptions['piece'], rng: Rng): string {
  for (;;) {
    const [king, other, black] = [rng.int(64), rng.int(64), rng.int(64)];
    const isQueen = piece === 'queen';
    const { white } = endgameTable(isQueen ? 'q' : 'r');
    if (white(king, other, black) === undefined) continue;
    const chess = new Chess('8/8/8/8/8/8/8/8 w - - 0 1', { skipValidation: true });
    chess.put({ type: 'k', color: 'w' }, nameOf(king) as 'a1');
    chess.put({ type: isQueen ? 'q' : 'r', color: 'w' }, nameOf(other) as 'a1');
    chess.put({ type: 'k', color: 'b' }, nameOf(black) as 'a1');
    return chess.fen();
  }
}

/** The environment. Mate pays 1, an illegal move costs 1 and moves nothing; a draw and every other move pay 0. */
export function chessEndgames({
  piece,
  opponent,
  maxTurns,
}: EndgameOptions): Environment<string, ChessState> {
  function reply(fen: string, rng: Rng): string {
    const moves = legalMoves(fen);
    if (opponent === 'random') return rng.pick(moves);
    const held = moves.map((move) => pliesToMate(moved(fen, move).fen) ?? Number.POSITIVE_INFINITY);
    return rng.pick(moves.filter((_, index) => held[index] === Math.max(...held)));
  }

  /** The pieces and whether Black is in check: words that mean something alone. */
  function observe({ fen }: ChessState): string {
    const { king, black, piece: own } = placesOf(fen);
    return `king:${nameOf(king)} ${own?.kind === 'r' ? 'rook' : 'queen'}:${own ? nameOf(own.square) : 'taken'} black:${nameOf(black)}`;
  }

  return defineEnvironment<string, ChessState>({
    name: 'chess-endgames',
    description: 'Mate a lone king with king and queen, or with king and rook.',
    maxTurns,
    returns: [-maxTurns, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(`chess-endgames ${piece}`, (rng) => position(piece, rng)),
    start: (fen) => ({
      state: { fen, turn: 0 },
      messages: [{ role: 'user', content: observe({ fen, turn: 0 }) }],
    }),
    step: (state, action, rng) => {
      const move = legalMoves(state.fen).find((san) => plain(san) === plain(action));
      const turn = state.turn + 1;
      const own = move === undefined ? undefined : moved(state.fen, move);
      const after = own && !own.end ? moved(own.fen, reply(own.fen, rng)) : own;
      const next = { fen: after?.fen ?? state.fen, turn };
      const success = after?.end === 'mate';
      const isDrawn = after?.end === 'drawn';
      const left = success ? 0 : pliesToMate(next.fen);
      const nearer = left === undefined ? 0 : (pliesToMate(state.fen) ?? left) - left;
      const said = move === undefined ? `invalid ${observe(next)}` : observe(next);
      return {
        state: next,
        observation: success ? 'mate' : isDrawn ? 'drawn' : turn >= maxTurns ? 'over' : said,
        reward: success ? 1 : move === undefined ? -1 : 0,
        done: success || isDrawn || turn >= maxTurns,
        success,
        valid: move !== undefined,
        info: { credit: { dense: nearer, effectiveActions: move === undefined ? 0 : 1 } },
      };
    },
    anchor: ({ fen }) => fen.split(' ')[0]!,
    actions: ({ fen }) => legalMoves(fen),
    solve: ({ fen }, rng) => {
      const plies = new Map(
        legalMoves(fen).map((move) => [move, pliesToMate(moved(fen, move).fen) ?? Number.POSITIVE_INFINITY]),
      );
      const fewest = Math.min(...plies.values());
      return rng.pick([...plies].filter(([, left]) => left === fewest).map(([move]) => move));
    },
    stumble: ({ fen }, rng) => {
      // Sees a mate in one, and nothing else but checks.
      const moves = legalMoves(fen);
      const mates = moves.filter((move) => move.endsWith('#'));
      const checks = moves.filter((move) => move.endsWith('+'));
      return rng.pick(mates.length > 0 ? mates : checks.length > 0 && rng.chance(0.5) ? checks : moves);
    },
    render: ({ fen }) => new Chess(fen).ascii(),
    natural: {
      instructions: [
        `You play White in a chess endgame and have at most ${maxTurns} moves to mate the black king. A stalemate or a lost piece is a draw.`,
        'You read the position in Forsyth-Edwards Notation. Answer with one legal move in algebraic notation and nothing else.',
      ].join(' '),
      example: [['The position is k7/8/1K6/8/8/8/8/7Q w - - 0 1. White moves.', 'Qh8#']],
      observe: ({ fen }, step) => {
        if (step?.success) return 'That is mate.';
        if (step?.done) return 'The game is over without a mate.';
        return `${step?.valid === false ? 'That is no legal move. ' : ''}The position is ${fen}. White moves.`;
      },
    },
  });
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'chess-endgames',
  description: 'Mate a lone king with king and queen, or with king and rook.',
  options: optionsSchema,
  settings: {
    model: { width: 96, layers: 2, hidden: 256 },
    clone: { demonstrations: 1000, steps: 300 },
    rollout: { choices: true },
    steps: 100,
  },
  create: ({ wording, ...options }) => fromEnvironment(chessEndgames(options), { wording }),
});
