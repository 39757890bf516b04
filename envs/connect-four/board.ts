/** Connect Four on a board of any size, and what its positions are worth. */

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [1, 1],
  [1, -1],
] as const;

/** Up to this number of cells a position is searched to its end; on larger boards `DEPTH` moves ahead. */
const SOLVED_CELLS = 20;
const DEPTH = 6;
const MOST_KNOWN = 2 ** 20;

/** Of 3, for every cell of the largest board. */
const POWERS: readonly number[] = Array.from({ length: 81 }, (_, cell) => 3 ** cell);

/** Stones in columns from the left, each column from below. The sides drop in turn. */
export class Board {
  readonly size: Size;
  readonly #heights: number[];
  /** 0 is free, 1 the first side's, 2 the second's. */
  readonly #cells: Int8Array;
  #count = 0;
  /** The position to base 3; exact below 2^53, so on boards that are searched to the end. */
  #key = 0;

  constructor(size: Size, moves: readonly number[] = []) {
    this.size = size;
    this.#heights = new Array<number>(size.columns).fill(0);
    this.#cells = new Int8Array(size.columns * size.rows);
    for (const column of moves) this.drop(column);
  }

  get count(): number {
    return this.#count;
  }

  get key(): number {
    return this.#key;
  }

  at(column: number, row: number): number {
    const { columns, rows } = this.size;
    return column < 0 || row < 0 || column >= columns || row >= rows ? 0 : this.#cells[column * rows + row]!;
  }

  /** Columns that are not full. */
  open(): number[] {
    const columns: number[] = [];
    for (let column = 0; column < this.size.columns; column++)
      if (this.#heights[column]! < this.size.rows) columns.push(column);
    return columns;
  }

  drop(column: number): void {
    const cell = column * this.size.rows + this.#heights[column]!++;
    this.#cells[cell] = 1 + (this.#count++ % 2);
    this.#key += this.#cells[cell]! * POWERS[cell]!;
  }

  lift(column: number): void {
    const cell = column * this.size.rows + --this.#heights[column]!;
    this.#key -= this.#cells[cell]! * POWERS[cell]!;
    this.#cells[cell] = 0;
    this.#count--;
  }

  /** Whether the uppermost stone of `column` stands in a row of four. */
  isFour(column: number): boolean {
    const row = this.#heights[column]! - 1;
    const side = this.at(column, row);
    for (const [x, y] of DIRECTIONS) {
      if (side !== 0 && this.#run(column, row, x, y) + this.#run(column, row, -x, -y) >= 3) return true;
    }
    return false;
  }

  /** Stones of the same side that follow a cell in one direction. */
  #run(column: number, row: number, x: number, y: number): number {
    const side = this.at(column, row);
    let length = 0;
    while (this.at(column + x * (length + 1), row + y * (length + 1)) === side) length++;
    return length;
  }
}

/** For the side to move: columns after which it wins (1), draws (0) or loses (-1), as far as the search sees. */
export function worths(size: Size, moves: readonly number[]): ReadonlyMap<number, number> {
  const board = new Board(size, moves);
  const depth = size.columns * size.rows <= SOLVED_CELLS ? SOLVED_CELLS : DEPTH;
  return new Map(board.open().map((column) => [column, after(board, column, depth, -1, 1)]));
}

/** Per size: lower and upper bounds of positions, as `4 * (lower + 1) + upper + 1`. */
const known = new Map<string, Map<number, number>>();

function after(board: Board, column: number, depth: number, low: number, high: number): number {
  board.drop(column);
  const value = board.isFour(column) ? 1 : -search(board, depth - 1, -high, -low);
  board.lift(column);
  // 0 - 0 keeps -0 out.
  return 0 + value;
}

function isWonBy(board: Board, column: number): boolean {
  board.drop(column);
  const won = board.isFour(column);
  board.lift(column);
  return won;
}

/** Alpha-beta with memory where the search goes to the end. */
function search(board: Board, depth: number, low: number, high: number): number {
  const { columns, rows } = board.size;
  if (board.count === columns * rows || depth === 0) return 0;
  const remembers = columns * rows <= SOLVED_CELLS;
  const name = `${columns}x${rows}`;
  const memory = known.get(name) ?? new Map<number, number>();
  known.set(name, memory);
  const held = remembers ? memory.get(board.key) : undefined;
  const [least, most] = held === undefined ? [-1, 1] : [(held >> 2) - 1, (held & 3) - 1];
  if (least >= high || least === most) return least;
  if (most <= low) return most;
  if (board.open().some((column) => isWonBy(board, column))) return 1;
  let best = -1;
  let floor = low;
  for (const column of middleFirst(board)) {
    best = Math.max(best, after(board, column, depth, floor, high));
    floor = Math.max(floor, best);
    if (best >= high) break;
  }
  if (remembers) {
    if (memory.size >= MOST_KNOWN) memory.clear();
    const bounds = [best > low ? Math.max(best, least) : least, best < high ? Math.min(best, most) : most];
    memory.set(board.key, ((bounds[0]! + 1) << 2) | (bounds[1]! + 1));
  }
  return best;
}

function middleFirst(board: Board): number[] {
  const middle = (board.size.columns - 1) / 2;
  return board.open().sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
}
