/** A room with things and doors in it, an agent that faces one way, and the fewest actions to a mission. */

import type { Rng } from '../../src/core/rng.ts';

/** Minigrid's directions: right, down, left, up. */
export const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

export const ACTIONS = ['turn left', 'turn right', 'move forward', 'pickup', 'drop', 'toggle'] as const;
export type Action = (typeof ACTIONS)[number];

export const VERBS = ['goto', 'pickup', 'open', 'put'] as const;
export type Verb = (typeof VERBS)[number];

export type Thing = { readonly name: string; readonly x: number; readonly y: number };

export type Room = {
  readonly size: number;
  readonly verb: Verb;
  /** The thing or door of the mission, and for `put` the one to put it beside. */
  readonly target: string;
  readonly beside: string;
  readonly x: number;
  readonly y: number;
  /** Index into DIRECTIONS. */
  readonly facing: number;
  readonly things: readonly Thing[];
  /** Empty: nothing. */
  readonly carried: string;
  readonly open: readonly string[];
};

const COLOURS = ['red', 'green', 'blue', 'purple', 'yellow', 'grey'];
const KINDS = ['ball', 'key', 'box'];

/** Cells 1 to `size` are floor; doors stand in the wall around it. */
export function drawRoom(size: number, count: number, verbs: readonly Verb[], rng: Rng): Room {
  const cells = rng.shuffle(
    Array.from({ length: size * size }, (_, n) => [1 + (n % size), 1 + Math.floor(n / size)]),
  );
  const names = rng
    .shuffle(COLOURS.flatMap((colour) => KINDS.map((kind) => `${colour}-${kind}`)))
    .slice(0, count);
  const [start, ...places] = cells;
  const things = names.map((name, index) => ({ name, x: places[index]![0]!, y: places[index]![1]! }));
  const doors = rng
    .shuffle(COLOURS)
    .slice(0, 2)
    .map((colour, index) => {
      const along = 1 + rng.int(size);
      return { name: `${colour}-door`, ...(index === 0 ? { x: along, y: 0 } : { x: size + 1, y: along }) };
    });
  const verb = rng.pick(verbs);
  return {
    ...{ size, verb, x: start![0]!, y: start![1]!, facing: rng.int(4), carried: '', open: [] },
    target: verb === 'open' ? rng.pick(doors).name : names[0]!,
    beside: verb === 'put' ? names[1]! : '',
    things: [...things, ...doors],
  };
}

export function ahead({ x, y, facing }: Room): { readonly x: number; readonly y: number } {
  const [dx, dy] = DIRECTIONS[facing]!;
  return { x: x + dx, y: y + dy };
}

const isFloor = ({ size }: Room, x: number, y: number): boolean => x >= 1 && y >= 1 && x <= size && y <= size;
const thingAt = ({ things }: Room, x: number, y: number): Thing | undefined =>
  things.find((thing) => thing.x === x && thing.y === y);

export function faced(room: Room): Thing | undefined {
  const { x, y } = ahead(room);
  return thingAt(room, x, y);
}

export const isFree = (room: Room): boolean => {
  const { x, y } = ahead(room);
  return isFloor(room, x, y) && faced(room) === undefined;
};

/** The room after an action; the same object where it does nothing. */
export function act(room: Room, action: Action): Room {
  if (action === 'turn left') return { ...room, facing: (room.facing + 3) % 4 };
  if (action === 'turn right') return { ...room, facing: (room.facing + 1) % 4 };
  const front = ahead(room);
  const thing = faced(room);
  switch (action) {
    case 'move forward':
      return isFree(room) ? { ...room, ...front } : room;
    case 'pickup':
      if (thing === undefined || thing.name.endsWith('door') || room.carried !== '') return room;
      return { ...room, carried: thing.name, things: room.things.filter((one) => one !== thing) };
    case 'drop':
      if (room.carried === '' || !isFree(room)) return room;
      return { ...room, carried: '', things: [...room.things, { name: room.carried, ...front }] };
    case 'toggle':
      if (!thing?.name.endsWith('door') || room.open.includes(thing.name)) return room;
      return { ...room, open: [...room.open, thing.name] };
  }
}

export function isDone(room: Room): boolean {
  const { verb, target, beside, carried, open, things } = room;
  if (verb === 'pickup') return carried === target;
  if (verb === 'open') return open.includes(target);
  if (verb === 'goto') return faced(room)?.name === target;
  const [one, other] = [target, beside].map((name) => things.find((thing) => thing.name === name));
  return !!one && !!other && Math.abs(one.x - other.x) + Math.abs(one.y - other.y) === 1;
}

/** The fewest actions to the mission that leave other things where they are; undefined where there are none. */
export function planFrom(room: Room): readonly Action[] | undefined {
  const actions: Action[] = [];
  for (let at = room; ; ) {
    const left = actionsLeft(at);
    if (left === undefined) return undefined;
    if (left === 0) return actions;
    const [action, next] = choices(at).find(([, then]) => actionsLeft(then) === left - 1)!;
    actions.push(action);
    at = next;
  }
}

/** How many actions that plan has. */
export function actionsLeft(room: Room): number | undefined {
  let known = tables.get(room.things);
  if (!known?.has(planKey(room))) {
    known = known ?? new Map<number, number | undefined>();
    solveFrom(room, known);
    tables.set(room.things, known);
  }
  return known.get(planKey(room));
}

/** By what lies where, which walking about does not change: the actions left from each place. */
const tables = new WeakMap<readonly Thing[], Map<number, number | undefined>>();

/** What may be part of a plan and changes something. */
function choices(room: Room): readonly (readonly [Action, Room])[] {
  const isTarget = faced(room)?.name === room.target;
  return ACTIONS.flatMap((action) => {
    if ((action === 'pickup' || action === 'toggle') && !isTarget) return [];
    const next = act(room, action);
    return next === room ? [] : [[action, next] as const];
  });
}

/** Goes everywhere that can be reached, then back from where the mission is done, breadth first. */
function solveFrom(room: Room, left: Map<number, number | undefined>): void {
  const ways = new Map<number, number[]>([[planKey(room), []]]);
  const queue: [number, number][] = [];
  const places = [room];
  for (const place of places) {
    const from = planKey(place);
    left.set(from, undefined);
    if (isDone(place)) {
      queue.push([from, 0]);
      continue;
    }
    for (const [, next] of choices(place)) {
      const key = planKey(next);
      const before = ways.get(key);
      if (before) before.push(from);
      else {
        ways.set(key, [from]);
        places.push(next);
      }
    }
  }
  // What is pushed while it grows is read too.
  for (const [key, moves] of queue) {
    if (left.get(key) !== undefined) continue;
    left.set(key, moves);
    for (const before of ways.get(key)!) queue.push([before, moves + 1]);
  }
}

/** What changes on the way to a mission, as a number: nothing but the target is moved or opened. Nothing lies in the corner, at 0. */
function planKey({ x, y, facing, open, things, target }: Room): number {
  const at = things.find(({ name }) => name === target);
  const place = (WIDEST * y + x) * DIRECTIONS.length + facing;
  const lies = at === undefined ? 0 : WIDEST * at.y + at.x;
  return (place * WIDEST ** 2 + lies) * 2 + (open.includes(target) ? 1 : 0);
}

/** More than the columns of any room, its walls included. */
const WIDEST = 16;

/** All that can change. */
export function keyOf({ x, y, facing, carried, open, things }: Room): string {
  return `${x},${y},${facing} ${carried} ${open.join()} ${things
    .map((thing) => `${thing.name}${thing.x},${thing.y}`)
    .sort()
    .join()}`;
}
