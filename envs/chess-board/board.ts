/** A position and its moves, by the rules of chess.js. */

import { Chess, type Color, type PieceSymbol, type Square } from 'chess.js';

export const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';

/** In pawns. */
export const VALUES: Readonly<Record<PieceSymbol, number>> = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };

const MOST_KEPT = 10_000;
const kept = new Map<string, readonly string[]>();

/** Legal moves in algebraic notation; none where the game is over. Writing them down takes most of a turn, and one position is asked for several times. */
export function legalMoves(fen: string): readonly string[] {
  const known = kept.get(fen);
  if (known !== undefined) return known;
  const chess = new Chess(fen, { skipValidation: true });
  const moves = chess.isInsufficientMaterial() || chess.isDrawByFiftyMoves() ? [] : chess.moves();
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(fen, moves);
  return moves;
}

/** Without marks of check, and without the spaces between characters that LMRL-Gym writes. */
export const plain = (san: string): string => san.replace(/[\s+#]/g, '');

export type End = 'mate' | 'drawn';

/** Where a move led. */
export interface Position {
  readonly fen: string;
  /** How the game ended, for whoever moved. A position knows no earlier ones: threefold repetition is not seen. */
  readonly end: End | undefined;
}

/** @throws Error where the move is not legal */
export function moved(fen: string, move: string): Position {
  const { san, after } = new Chess(fen, { skipValidation: true }).move(move);
  if (legalMoves(after).length > 0) return { fen: after, end: undefined };
  return { fen: after, end: san.endsWith('#') ? 'mate' : 'drawn' };
}

/** What White has more than Black, in pawns. */
export function balance(fen: string): number {
  let sum = 0;
  for (const letter of fen.slice(0, fen.indexOf(' '))) {
    const value = VALUES[letter.toLowerCase() as PieceSymbol] ?? 0;
    sum += letter === letter.toLowerCase() ? -value : value;
  }
  return sum;
}

/** What `colour` may lose in the next move: its dearest piece that can be taken, less what takes it where it is guarded. */
function hanging(chess: Chess, colour: Color): number {
  const other = colour === 'w' ? 'b' : 'w';
  let most = 0;
  for (const { square, type } of pieces(chess, colour)) {
    if (VALUES[type] <= most) continue;
    const takers = chess.attackers(square, other).map((from) => VALUES[chess.get(from)!.type]);
    if (takers.length === 0) continue;
    const lost = chess.isAttacked(square, colour) ? VALUES[type] - Math.min(...takers) : VALUES[type];
    most = Math.max(most, lost);
  }
  return most;
}

const pieces = (chess: Chess, colour: Color): readonly { square: Square; type: PieceSymbol }[] =>
  chess.board().flatMap((rank) => rank.flatMap((piece) => (piece?.color === colour ? [piece] : [])));

/** What a move takes or becomes, in pawns. */
function gained(chess: Chess, san: string): number {
  const promoted = /=([QRBN])/.exec(san)?.[1];
  const square = /x([a-h][1-8])/.exec(san)?.[1];
  const taken = square === undefined ? 0 : VALUES[chess.get(square as Square)?.type ?? 'p'];
  return taken + (promoted === undefined ? 0 : VALUES[promoted.toLowerCase() as PieceSymbol] - 1);
}

/** What a mate is worth, beside pawns; and a draw, which a player who is behind likes better. */
const MATE = 1000;
/** Moves whose replies are counted: counting takes as long as all else. */
const COUNTED = 4;

/**
 * The moves that a player who looks one move ahead likes best: mates, then what takes most and leaves least to be taken, then
 * pawns that walk, and of the best few those after which the other has fewest replies.
 */
export function goodMoves(fen: string): readonly string[] {
  const chess = new Chess(fen);
  const colour = chess.turn();
  const ahead = (colour === 'w' ? 1 : -1) * balance(fen);
  const judged = legalMoves(fen).map((san) => {
    if (san.endsWith('#')) return { san, worth: MATE };
    const gain = gained(chess, san);
    chess.move(san);
    const walks = /^[a-h]/.test(san) ? 0.05 : 0;
    const worth = chess.isDraw() ? -ahead : gain - hanging(chess, colour) + walks;
    chess.undo();
    return { san, worth };
  });
  const best = [...judged].sort((a, b) => b.worth - a.worth).slice(0, COUNTED);
  const counted = best.map(({ san, worth }) => {
    if (worth === MATE) return { san, worth };
    chess.move(san);
    const replies = chess.moves().length;
    const stalemate = replies === 0 && !chess.isCheckmate();
    chess.undo();
    return { san, worth: stalemate ? -ahead : worth - 0.01 * replies };
  });
  const most = Math.max(...counted.map(({ worth }) => worth));
  return counted.filter(({ worth }) => worth === most).map(({ san }) => san);
}
