/** The rules of Sokoban, and shortest solutions by breadth-first search over player and boxes. */

/** Rows of one cell each character: `#` wall, `_` floor, `O` target, `X` box, `√` box on target, `P` player, `S` player on target. */
export type Room = readonly string[];

export const MOVES = { left: [0, -1], right: [0, 1], up: [-1, 0], down: [1, 0] } as const;
export type Side = keyof typeof MOVES;
export const SIDES: readonly Side[] = ['left', 'right', 'up', 'down'];

/** A room with its cells numbered row by row. */
export interface Plan {
  readonly width: number;
  readonly walls: readonly boolean[];
  /** In ascending order, as the boxes are. */
  readonly targets: readonly number[];
  readonly player: number;
  readonly boxes: readonly number[];
}

export function readRoom(room: Room): Plan {
  const known = plans.get(room);
  if (known) return known;
  const plan = planOf(room);
  plans.set(room, plan);
  return plan;
}

/** Of rooms that were read or drawn. */
const plans = new WeakMap<Room, Plan>();

function planOf(room: Room): Plan {
  const cells = room.join('');
  const places = (marks: string): number[] =>
    [...cells].flatMap((mark, cell) => (marks.includes(mark) ? [cell] : []));
  return {
    width: room[0]?.length ?? 0,
    walls: [...cells].map((mark) => mark === '#'),
    targets: places('O√S'),
    player: places('PS')[0] ?? 0,
    boxes: places('X√'),
  };
}

export function drawRoom(plan: Plan): Room {
  const { width, walls, targets, player, boxes } = plan;
  const marks = walls.map((wall, cell) => {
    const target = targets.includes(cell);
    if (cell === player) return target ? 'S' : 'P';
    if (boxes.includes(cell)) return target ? '√' : 'X';
    return wall ? '#' : target ? 'O' : '_';
  });
  const room = Array.from({ length: walls.length / width }, (_, row) =>
    marks.slice(row * width, (row + 1) * width).join(''),
  );
  plans.set(room, plan);
  return room;
}

/** The room after a move; the same one where a wall, or a box that cannot move, stops it. */
export function push(plan: Plan, side: Side): Plan {
  const [down, right] = MOVES[side];
  const stride = down * plan.width + right;
  const next = plan.player + stride;
  if (plan.walls[next]) return plan;
  if (!plan.boxes.includes(next)) return { ...plan, player: next };
  const behind = next + stride;
  if (plan.walls[behind] || plan.boxes.includes(behind)) return plan;
  const boxes = plan.boxes.map((box) => (box === next ? behind : box)).sort((a, b) => a - b);
  return { ...plan, player: next, boxes };
}

/** What a move would meet. */
export function besides(plan: Plan, side: Side): 'wall' | 'box' | 'stuck' | 'free' {
  const next = push(plan, side);
  if (next.boxes !== plan.boxes) return 'box';
  if (next !== plan) return 'free';
  // A push that fails: the cell behind tells a box from a wall.
  const without = push({ ...plan, boxes: [] }, side);
  return without.player === plan.player ? 'wall' : 'stuck';
}

export function onTarget({ boxes, targets }: Plan): number {
  return boxes.filter((box) => targets.includes(box)).length;
}

export const isSolved = (plan: Plan): boolean => onTarget(plan) === plan.boxes.length;

/** Fewest moves to the end, of every place of player and boxes; −1 where there is no way. Those of few rooms are kept. */
const tables = new Map<string, Int16Array>();
const MOST_KEPT = 50;
/** The same, of the walls of a plan, which stay the same object from move to move. */
const tableOf = new WeakMap<Plan['walls'], Int16Array>();

/** The fewest moves that bring every box to a target; undefined where none do. */
export function movesLeft(plan: Plan): number | undefined {
  const known = tableOf.get(plan.walls);
  if (known) return movesIn(known, plan);
  const layout = `${plan.width} ${plan.targets.join(' ')} ${plan.walls.map(Number).join('')}`;
  let table = tables.get(layout);
  if (!table) {
    table = solveBackwards(plan);
    if (tables.size >= MOST_KEPT) tables.clear();
    tables.set(layout, table);
  }
  tableOf.set(plan.walls, table);
  return movesIn(table, plan);
}

function movesIn(table: Int16Array, plan: Plan): number | undefined {
  const moves = table[placeOf(plan)]!;
  return moves < 0 ? undefined : moves;
}

/** The number of a place: player and two boxes in the base of the cells. A second box that is not there is in the corner, in the wall. */
function placeOf({ walls, player, boxes }: Plan): number {
  const [first, second] = boxes.length === 1 ? [0, boxes[0]!] : [boxes[0]!, boxes[1]!];
  return (player * walls.length + first) * walls.length + second;
}

/** Breadth-first search from the end, with boxes pulled where a player would push them. In numbers alone, since it is run for every draw. */
function solveBackwards(plan: Plan): Int16Array {
  const { width, walls } = plan;
  const cells = walls.length;
  const table = new Int16Array(cells ** 3).fill(-1);
  const queue: number[] = [];
  const reach = (player: number, one: number, other: number, moves: number): void => {
    const place = (player * cells + Math.min(one, other)) * cells + Math.max(one, other);
    if (table[place] !== -1) return;
    table[place] = moves;
    queue.push(place);
  };
  const end = placeOf({ ...plan, player: 0, boxes: plan.targets });
  const targets = [Math.floor(end / cells) % cells, end % cells] as const;
  for (let player = 0; player < cells; player++)
    if (!walls[player] && !targets.includes(player)) reach(player, ...targets, 0);
  const strides = SIDES.map((side) => MOVES[side][0] * width + MOVES[side][1]);
  // What is pushed while it grows is read too.
  for (const place of queue) {
    const [first, second] = [Math.floor(place / cells) % cells, place % cells];
    const player = Math.floor(place / cells / cells);
    const moves = table[place]! + 1;
    for (const stride of strides) {
      const before = player - stride;
      if (walls[before] || before === first || before === second) continue;
      reach(before, first, second, moves);
      if (first === player + stride) reach(before, player, second, moves);
      if (second === player + stride) reach(before, first, player, moves);
    }
  }
  return table;
}
