/** The house of LMRL-Gym's Text-Nav (MIT), and what can be done in it. */

export type Way = 'north' | 'south' | 'east' | 'west';
export const WAYS: readonly Way[] = ['north', 'south', 'east', 'west'];

export const DOORS: Readonly<Record<string, Readonly<Partial<Record<Way, string>>>>> = {
  bedroom: { west: 'living room', south: 'bathroom' },
  'living room': { east: 'bedroom', west: 'dining room', south: 'office' },
  'dining room': { east: 'living room', west: 'kitchen' },
  kitchen: { east: 'dining room', north: 'garden', west: 'backyard' },
  garden: { south: 'kitchen' },
  backyard: { east: 'kitchen' },
  office: { north: 'living room', east: 'bathroom' },
  bathroom: { west: 'office', north: 'bedroom' },
};
export const ROOMS: readonly string[] = Object.keys(DOORS);

/** Furniture by its room; what can be shut holds things inside. */
export const FURNITURE: Readonly<Record<string, { readonly name: string; readonly shuts: boolean }>> = {
  bedroom: { name: 'table', shuts: false },
  'living room': { name: 'table', shuts: false },
  'dining room': { name: 'table', shuts: false },
  office: { name: 'chest', shuts: true },
  kitchen: { name: 'fridge', shuts: true },
};

/** Things by the room of the furniture where they are at the start. */
export const THINGS: Readonly<Record<string, string>> = {
  bowl: 'bedroom',
  'stale food': 'living room',
  'fresh food': 'living room',
  'coffee cup': 'dining room',
  plate: 'dining room',
  utensils: 'office',
  fruit: 'kitchen',
};
const EDIBLE = ['stale food', 'fresh food', 'fruit'];

export type House = {
  readonly room: string;
  /** Rooms whose furniture stands open. */
  readonly open: readonly string[];
  /** A thing is `held`, `eaten`, at the furniture of a room (`kitchen`) or on its floor (`floor:kitchen`). */
  readonly places: Readonly<Record<string, string>>;
};

export const atStart = (room: string): House => ({ room, open: [], places: THINGS });

/** Whether what lies at the furniture of the room can be seen and taken. */
export function isReachable({ open }: House, room: string): boolean {
  return FURNITURE[room] !== undefined && (!FURNITURE[room].shuts || open.includes(room));
}

export function thingsAt({ places }: House, place: string): readonly string[] {
  return Object.keys(THINGS).filter((thing) => places[thing] === place);
}

export const isSolved = ({ places, open }: House): boolean =>
  places['stale food'] === 'kitchen' && !open.includes('kitchen');

/** Each admissible command with the house that it leads to. */
export function commands(house: House): ReadonlyMap<string, House> {
  const { room, open, places } = house;
  const furniture = FURNITURE[room];
  const put = (thing: string, place: string): House => ({ ...house, places: { ...places, [thing]: place } });
  const held = thingsAt(house, 'held');
  const isOpen = open.includes(room);
  return new Map<string, House>([
    ...WAYS.flatMap((way): [string, House][] => {
      const to = DOORS[room]![way];
      return to === undefined ? [] : [[`go ${way}`, { ...house, room: to }]];
    }),
    ...(furniture?.shuts
      ? [
          [
            `${isOpen ? 'close' : 'open'} ${furniture.name}`,
            { ...house, open: isOpen ? open.filter((one) => one !== room) : [...open, room].sort() },
          ] as const,
        ]
      : []),
    ...(furniture && isReachable(house, room)
      ? [
          ...thingsAt(house, room).map(
            (thing) => [`take ${thing} from ${furniture.name}`, put(thing, 'held')] as const,
          ),
          ...held.map(
            (thing) =>
              [
                furniture.shuts
                  ? `insert ${thing} into ${furniture.name}`
                  : `put ${thing} on ${furniture.name}`,
                put(thing, room),
              ] as const,
          ),
        ]
      : []),
    ...thingsAt(house, `floor:${room}`).map((thing) => [`take ${thing}`, put(thing, 'held')] as const),
    ...held.map((thing) => [`drop ${thing}`, put(thing, `floor:${room}`)] as const),
    ...held
      .filter((thing) => EDIBLE.includes(thing))
      .map((thing) => [`eat ${thing}`, put(thing, 'eaten')] as const),
  ]);
}

/** The first command of a shortest way to the goal, and how many there are; undefined where the food is eaten. */
export function planFrom(house: House): { readonly command: string; readonly length: number } | undefined {
  const food = house.places['stale food'];
  if (food === 'eaten' || food === undefined) return undefined;
  const way = (room: string): { readonly command: string; readonly length: number } => {
    const first = WAYS.find((one) => {
      const to = DOORS[house.room]![one];
      return to !== undefined && distance(to, room) < distance(house.room, room);
    });
    return { command: `go ${first}`, length: distance(house.room, room) };
  };
  const isOpen = house.open.includes('kitchen');
  if (food === 'held') {
    const rest = (isOpen ? 0 : 1) + 2;
    if (house.room !== 'kitchen') {
      const { command, length } = way('kitchen');
      return { command, length: length + rest };
    }
    return { command: isOpen ? 'insert stale food into fridge' : 'open fridge', length: rest };
  }
  // It lies in the open fridge: shut it. Inside the shut one it has arrived.
  if (food === 'kitchen') {
    if (house.room === 'kitchen') return { command: 'close fridge', length: 1 };
    const { command, length } = way('kitchen');
    return { command, length: length + 1 };
  }
  const room = food.replace('floor:', '');
  const rest = distance(room, 'kitchen') + (isOpen ? 0 : 1) + 2;
  if (house.room !== room) {
    const { command, length } = way(room);
    return { command, length: length + 1 + rest + (isShut(house, room, food) ? 1 : 0) };
  }
  const furniture = FURNITURE[room]?.name;
  if (isShut(house, room, food)) return { command: `open ${furniture}`, length: 2 + rest };
  const command = food === room ? `take stale food from ${furniture}` : 'take stale food';
  return { command, length: 1 + rest };
}

const isShut = (house: House, room: string, place: string): boolean =>
  place === room && !isReachable(house, room);

const steps = new Map<string, number>();

/** Doors between two rooms. */
export function distance(from: string, to: string): number {
  const key = `${from}>${to}`;
  const known = steps.get(key);
  if (known !== undefined) return known;
  const found = new Map([[from, 0]]);
  for (const [room, far] of found)
    for (const next of Object.values(DOORS[room]!)) if (!found.has(next)) found.set(next, far + 1);
  for (const [room, far] of found) steps.set(`${from}>${room}`, far);
  return steps.get(key)!;
}
