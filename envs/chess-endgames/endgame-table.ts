/** How many half-moves king and one piece need to mate a lone king, for every position: by going back from all mates. */

export type Piece = 'q' | 'r';

export interface EndgameTable {
  /** Half-moves to mate with White to move; undefined where there is none. Squares count from a1 to h8. */
  white(king: number, piece: number, black: number): number | undefined;
  /** With Black to move. */
  black(king: number, piece: number, black: number): number | undefined;
  /** The most half-moves that White needs to mate from anywhere. */
  readonly longest: number;
}

const STRAIGHT = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;
const SLANTING = [
  [1, 1],
  [1, -1],
  [-1, 1],
  [-1, -1],
] as const;
const UNKNOWN = -1;
const SQUARES = Array.from({ length: 64 }, (_, square) => square);

function beside(square: number, [x, y]: readonly [number, number]): number | undefined {
  const [file, rank] = [(square & 7) + x, (square >> 3) + y];
  return file < 0 || file > 7 || rank < 0 || rank > 7 ? undefined : rank * 8 + file;
}

const AROUND: readonly (readonly number[])[] = SQUARES.map((square) =>
  [...STRAIGHT, ...SLANTING].flatMap((direction) => beside(square, direction) ?? []),
);
const isNear = (a: number, b: number): boolean => a === b || AROUND[a]!.includes(b);
const index = (king: number, piece: number, black: number): number => (king << 12) | (piece << 6) | black;

const tables = new Map<Piece, EndgameTable>();

/** Computed when it is first asked for. */
export function endgameTable(kind: Piece): EndgameTable {
  const table = tables.get(kind) ?? compute(kind);
  tables.set(kind, table);
  return table;
}

function compute(kind: Piece): EndgameTable {
  const directions = kind === 'q' ? [...STRAIGHT, ...SLANTING] : STRAIGHT;
  const rays = SQUARES.map((square) =>
    directions.map((direction) => {
      const ray: number[] = [];
      for (let at = beside(square, direction); at !== undefined; at = beside(at, direction)) ray.push(at);
      return ray;
    }),
  );
  /** Squares that the piece reaches past nobody. */
  const reach = (piece: number, ...blockers: number[]): number[] =>
    rays[piece]!.flatMap((ray) => {
      const end = ray.findIndex((square) => blockers.includes(square));
      return end < 0 ? ray : ray.slice(0, end);
    });
  const attacks = (king: number, piece: number, target: number): boolean =>
    rays[piece]!.some((ray) => {
      const at = ray.indexOf(target);
      const blocked = ray.indexOf(king);
      return at >= 0 && (blocked < 0 || blocked > at);
    });
  const toWhite = new Int8Array(64 ** 3).fill(UNKNOWN);
  const toBlack = new Int8Array(64 ** 3).fill(UNKNOWN);
  const isPlaced = (king: number, piece: number, black: number): boolean =>
    king !== piece && piece !== black && !isNear(king, black);
  /** Moves of Black that are not yet known to lose. */
  const escapes = new Int8Array(64 ** 3);
  let edge: number[] = [];
  for (const king of SQUARES)
    for (const piece of SQUARES)
      for (const black of SQUARES) {
        if (!isPlaced(king, piece, black)) continue;
        const safe = AROUND[black]!.filter(
          (to) => !isNear(king, to) && (to === piece || !attacks(king, piece, to)),
        );
        const at = index(king, piece, black);
        // Taking the piece draws, so that it is never known to lose.
        escapes[at] = safe.length;
        if (safe.length > 0 || !attacks(king, piece, black)) continue;
        toBlack[at] = 0;
        edge.push(at);
      }
  let longest = 0;
  for (let plies = 1; edge.length > 0; plies++) {
    const next: number[] = [];
    const isWhite = plies % 2 === 1;
    for (const at of edge) {
      const [king, piece, black] = [at >> 12, (at >> 6) & 63, at & 63];
      const before = isWhite
        ? [
            ...AROUND[king]!.map((from) => index(from, piece, black)),
            ...reach(piece, king, black).map((from) => index(king, from, black)),
          ]
        : AROUND[black]!.map((from) => index(king, piece, from));
      for (const from of before) {
        const places = [from >> 12, (from >> 6) & 63, from & 63] as const;
        if (!isPlaced(...places)) continue;
        if (isWhite) {
          if (toWhite[from] !== UNKNOWN || attacks(...places)) continue;
          toWhite[from] = plies;
          next.push(from);
        } else if (--escapes[from]! === 0) {
          toBlack[from] = plies;
          next.push(from);
        }
      }
    }
    if (isWhite && next.length > 0) longest = plies;
    edge = next;
  }
  const read = (held: Int8Array) => (king: number, piece: number, black: number) => {
    const plies = held[index(king, piece, black)]!;
    return plies === UNKNOWN ? undefined : plies;
  };
  return { white: read(toWhite), black: read(toBlack), longest };
}
