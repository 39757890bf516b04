/** A laboratory of rooms, things and devices, and what each command does there. It knows nothing of what is asked for. */

/** A room, or `hall`, where the agent begins and nothing lies. */
export const ROOMS = ['kitchen', 'workshop', 'greenhouse', 'store', 'study', 'yard'] as const;
export type Room = (typeof ROOMS)[number];

/** Places for things within rooms. */
const STANDS: Readonly<Record<string, Room>> = {
  stove: 'kitchen',
  freezer: 'kitchen',
  circuit: 'workshop',
  bed: 'greenhouse',
  'yellow box': 'workshop',
  'blue box': 'workshop',
};
export const BOXES = ['yellow box', 'blue box'] as const;

/** Degrees at which a substance melts and boils. */
export const SUBSTANCES: Readonly<Record<string, readonly [melts: number, boils: number]>> = {
  butter: [30, 1000],
  chocolate: [35, 1000],
  wax: [60, 1000],
  soap: [90, 1000],
  sulphur: [115, 445],
  sugar: [185, 1000],
  water: [0, 100],
  alcohol: [-115, 80],
  juice: [0, 100],
  vinegar: [-5, 120],
  turpentine: [-55, 155],
  mercury: [-40, 355],
  oil: [-10, 300],
};
/** The names of lumps mean nothing: only a circuit shows whether one conducts. */
export const LUMPS = ['amber', 'onyx', 'topaz', 'opal', 'jade', 'coral'] as const;
/** Samples differ in temperature, which nobody sees. */
export const SAMPLES = ['resin', 'syrup', 'paste', 'gel', 'broth'] as const;
/** Turns that each plant grows. */
export const SEEDS: Readonly<Record<string, number>> = { bean: 3, tomato: 4, pepper: 5, melon: 6 };
export const RECIPES: Readonly<Record<string, readonly string[]>> = {
  brine: ['salt', 'water'],
  dough: ['flour', 'water'],
  foam: ['soda', 'vinegar'],
  mortar: ['lime', 'sand', 'water'],
  orange: ['red', 'yellow'],
  green: ['blue', 'yellow'],
  purple: ['blue', 'red'],
};
export const INGREDIENTS: readonly string[] = [...new Set(Object.values(RECIPES).flat())].sort();
/** In every laboratory. */
export const TOOLS = ['jug', 'battery'] as const;

/** The temperature of rooms, what the stove and the freezer reach, and by how much they change it in a turn. */
export const ROOM_DEGREES = 20;
const [HOTTEST, COLDEST, PACE] = [220, -80, 40];
/** Turns that a plant grows after it was watered. */
const MOIST = 3;

export type Thing = {
  readonly name: string;
  /** A room, a stand in one, or `hand`. */
  readonly at: string;
  readonly degrees: number;
};

export type Lab = {
  readonly at: Room | 'hall';
  readonly seen: readonly string[];
  readonly things: readonly Thing[];
  readonly isStoveOn: boolean;
  readonly isJugFull: boolean;
  /** Of the beaker, in the order of the alphabet. */
  readonly contents: readonly string[];
  /** Lumps that conduct, which nobody sees. */
  readonly conductors: readonly string[];
  /** Lumps that were in a closed circuit. */
  readonly tested: readonly string[];
  /** What the thermometer showed. */
  readonly readings: Readonly<Record<string, number>>;
  /** Plants in the bed: turns that they grew, and for which they are still moist. */
  readonly plants: Readonly<Record<string, readonly [grown: number, moist: number]>>;
};

export const thingOf = ({ things }: Lab, name: string): Thing => things.find((thing) => thing.name === name)!;
export const roomOf = ({ at }: Thing): string => STANDS[at] ?? at;
/** Whether it is in the hand or in this room, on whatever stand. */
export const isHere = (lab: Lab, thing: Thing): boolean => thing.at === 'hand' || roomOf(thing) === lab.at;
export const unseen = ({ seen }: Lab): readonly Room[] => ROOMS.filter((room) => !seen.includes(room));

export type State = 'solid' | 'liquid' | 'gas';
/** Undefined for what is no substance. */
export function stateOf({ name, degrees }: Thing): State | undefined {
  const [melts, boils] = SUBSTANCES[name] ?? [];
  if (melts === undefined || boils === undefined) return undefined;
  return degrees < melts ? 'solid' : degrees < boils ? 'liquid' : 'gas';
}

const moved = (lab: Lab, name: string, at: string): Lab => ({
  ...lab,
  things: lab.things.map((thing) => (thing.name === name ? { ...thing, at } : thing)),
});

/** A lump that takes the place of another in the circuit, which is left in the workshop; closed, it tells whether the lump conducts. */
function connected(lab: Lab, name: string): Lab {
  const rival = lab.things.find(({ name: other, at }) => at === 'circuit' && isLump(other) && isLump(name));
  const next = moved(rival ? moved(lab, rival.name, 'workshop') : lab, name, 'circuit');
  const inside = next.things.filter(({ at }) => at === 'circuit').map((thing) => thing.name);
  const lump = inside.find(isLump);
  if (lump === undefined || !inside.includes('battery') || next.tested.includes(lump)) return next;
  return { ...next, tested: [...next.tested, lump].sort() };
}

export const isLump = (name: string): boolean => (LUMPS as readonly string[]).includes(name);

/** A turn goes by: the stove heats, the freezer cools, moist plants grow. */
function passed(lab: Lab): Lab {
  const toward = (degrees: number, goal: number): number =>
    degrees + Math.max(-PACE, Math.min(PACE, goal - degrees));
  const things = lab.things.map((thing) => {
    if (thing.at === 'freezer') return { ...thing, degrees: toward(thing.degrees, COLDEST) };
    if (thing.at === 'stove' && lab.isStoveOn) return { ...thing, degrees: toward(thing.degrees, HOTTEST) };
    return thing;
  });
  const plants = Object.entries(lab.plants).map(([name, [grown, moist]]) => {
    const grows = moist > 0 && grown < SEEDS[name]! ? 1 : 0;
    return [name, [grown + grows, moist - grows]] as const;
  });
  return { ...lab, things, plants: Object.fromEntries(plants) };
}

/**
 * Each command that is possible, with what it makes of the laboratory.
 *
 * @param sorted what the boxes take, if anything
 */
export function commands(lab: Lab, sorted?: string): ReadonlyMap<string, () => Lab> {
  const possible = new Map<string, () => Lab>();
  const may = (command: string, make: () => Lab): void => {
    possible.set(command, () => passed(make()));
  };
  const here = lab.things.filter((thing) => isHere(lab, thing));
  for (const { name, at } of here) {
    if (at !== 'hand' && at !== 'bed') may(`take ${name}`, () => moved(lab, name, 'hand'));
    if (lab.at === 'kitchen') {
      // Tools and seeds would burn or freeze.
      if (!isTool(name) && SEEDS[name] === undefined) {
        if (at !== 'stove') may(`put ${name} on stove`, () => moved(lab, name, 'stove'));
        if (at !== 'freezer') may(`put ${name} in freezer`, () => moved(lab, name, 'freezer'));
        may(`measure ${name}`, () => read(lab, name));
      }
      if (name === 'jug' && !lab.isJugFull) may('fill jug', () => ({ ...lab, isJugFull: true }));
    }
    if (lab.at === 'workshop') {
      if (at !== 'circuit' && (isLump(name) || name === 'battery'))
        may(`connect ${name}`, () => connected(lab, name));
      if (INGREDIENTS.includes(name) && !lab.contents.includes(name))
        may(`pour ${name}`, () => ({ ...lab, contents: [...lab.contents, name].sort() }));
      if (name === sorted) for (const box of BOXES) may(`put ${name} in ${box}`, () => moved(lab, name, box));
    }
    if (lab.at === 'greenhouse') {
      if (at !== 'bed' && SEEDS[name] !== undefined)
        may(`plant ${name}`, () => ({
          ...moved(lab, name, 'bed'),
          plants: { ...lab.plants, [name]: [0, 0] },
        }));
      if (at === 'bed' && lab.isJugFull && isHere(lab, thingOf(lab, 'jug')))
        may(`water ${name}`, () => ({
          ...lab,
          plants: { ...lab.plants, [name]: [lab.plants[name]![0], MOIST] },
        }));
    }
  }
  if (lab.at === 'kitchen')
    may(`turn ${lab.isStoveOn ? 'off' : 'on'} stove`, () => ({ ...lab, isStoveOn: !lab.isStoveOn }));
  if (lab.at === 'workshop' && lab.contents.length > 0) {
    const product = productOf(lab.contents);
    if (product !== undefined) may('mix', () => ({ ...lab, contents: [product] }));
    may('empty beaker', () => ({ ...lab, contents: [] }));
  }
  for (const room of ROOMS)
    if (room !== lab.at)
      may(`go to ${room}`, () => ({
        ...lab,
        at: room,
        seen: ROOMS.filter((one) => one === room || lab.seen.includes(one)),
      }));
  may('wait', () => lab);
  return possible;
}

const isTool = (name: string): boolean => (TOOLS as readonly string[]).includes(name);
const read = (lab: Lab, name: string): Lab => ({
  ...lab,
  readings: { ...lab.readings, [name]: thingOf(lab, name).degrees },
});

function productOf(contents: readonly string[]): string | undefined {
  return Object.keys(RECIPES).find((product) => RECIPES[product]!.join() === contents.join());
}
