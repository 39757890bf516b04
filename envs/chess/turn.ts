/** A turn of White and the reply of Black: what both kinds of opponents share, those that compute here and engines. */

import type { Step } from '../../src/env/environment.ts';
import { balance, legalMoves, moved, type Position, plain } from '../chess-board/board.ts';

export type ChessState = { readonly fen: string; readonly turn: number };

/** What White's action came to. */
export interface OwnMove extends Position {
  readonly valid: boolean;
}

/** An illegal action moves nothing. */
export function ownMove({ fen }: ChessState, action: string): OwnMove {
  const move = legalMoves(fen).find((san) => plain(san) === plain(action));
  if (move === undefined) return { fen, valid: false, end: undefined };
  return { ...moved(fen, move), valid: true };
}

/** Whether Black is to move after it. */
export const awaitsReply = ({ valid, end }: OwnMove): boolean => valid && end === undefined;

/**
 * The whole turn. Mate pays 1, being mated and an illegal move cost 1, all else pays 0.
 *
 * @param reply Black's move; undefined where it has none
 * @throws Error where the reply is not legal
 */
export function wholeTurn(
  before: ChessState,
  own: OwnMove,
  reply: string | undefined,
  maxTurns: number,
): Step<ChessState> {
  const after = reply === undefined ? own : moved(own.fen, reply);
  const lost = reply !== undefined && after.end === 'mate';
  const success = own.end === 'mate';
  const isDrawn = after.end === 'drawn';
  const state = { fen: after.fen, turn: before.turn + 1 };
  const isOver = state.turn >= maxTurns;
  const said = own.valid ? spaced(state.fen) : `invalid ${spaced(state.fen)}`;
  return {
    state,
    observation: success ? 'mate' : lost ? 'mated' : isDrawn ? 'drawn' : isOver ? 'over' : said,
    reward: success ? 1 : lost || !own.valid ? -1 : 0,
    done: success || lost || isDrawn || isOver,
    success,
    valid: own.valid,
    info: {
      credit: { dense: balance(state.fen) - balance(before.fen), effectiveActions: own.valid ? 1 : 0 },
    },
  };
}

/** The board in Forsyth-Edwards Notation and what castling is left, a word for each character. */
export function spaced(fen: string): string {
  const [board = '', , castling = '-'] = fen.split(' ');
  return [...board, ...(castling === '-' ? [] : ['castle', ...castling])].join(' ');
}

export function sentences({ fen }: ChessState, step?: Step<ChessState>): string {
  if (step?.observation === 'mate') return 'That is mate. You won.';
  if (step?.observation === 'mated') return 'You are mated.';
  if (step?.done) return 'The game is over without a mate.';
  return `${step?.valid === false ? 'That is no legal move. ' : ''}The position is ${fen}. White moves.`;
}
