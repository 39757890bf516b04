/** A house of places that hold things, six chores, what can be done in it, and the fewest commands to a chore. */

import type { Rng } from '../../src/core/rng.ts';

/** Put a thing somewhere; look at it in the light of the lamp; put it somewhere clean, hot or cold; put two of a kind. */
export const CHORES = ['place', 'light', 'clean', 'heat', 'cool', 'two'] as const;
export type Chore = (typeof CHORES)[number];

const SURFACES = ['table', 'shelf', 'desk', 'bench'];
const BOXES = ['cupboard', 'drawer', 'chest', 'crate'];

/** Every house has these three. What they make of a thing, and what that undoes. */
const TREATMENTS = {
  clean: { place: 'sink', makes: 'clean', undoes: '' },
  heat: { place: 'oven', makes: 'hot', undoes: 'cold' },
  cool: { place: 'fridge', makes: 'cold', undoes: 'hot' },
} as const;
type Treatment = keyof typeof TREATMENTS;
const TREATED = Object.keys(TREATMENTS) as readonly Treatment[];
const APPLIANCES: readonly string[] = TREATED.map((name) => TREATMENTS[name].place);
const SHUTTING = [...BOXES, 'oven', 'fridge'];

/** What can be done with a thing besides carrying it, and where it is mostly kept. */
const KINDS: Readonly<Record<string, { readonly fit: readonly Chore[]; readonly kept: readonly string[] }>> =
  {
    jug: { fit: ['clean', 'heat', 'cool'], kept: ['cupboard', 'shelf', 'sink'] },
    bowl: { fit: ['clean', 'heat', 'cool'], kept: ['cupboard', 'table', 'sink'] },
    ladle: { fit: ['clean'], kept: ['drawer', 'sink'] },
    teapot: { fit: ['clean', 'heat'], kept: ['shelf', 'table'] },
    carrot: { fit: ['clean', 'heat', 'cool'], kept: ['fridge', 'crate'] },
    pear: { fit: ['clean', 'cool'], kept: ['table', 'crate', 'fridge'] },
    pie: { fit: ['heat', 'cool'], kept: ['oven', 'fridge', 'table'] },
    coin: { fit: ['light', 'clean'], kept: ['drawer', 'desk'] },
    letter: { fit: ['light'], kept: ['desk', 'drawer'] },
    map: { fit: ['light'], kept: ['shelf', 'chest'] },
    ring: { fit: ['light', 'clean'], kept: ['chest', 'drawer'] },
    brush: { fit: ['light', 'clean'], kept: ['bench', 'crate'] },
    scarf: { fit: ['light'], kept: ['chest', 'bench'] },
    radio: { fit: ['light'], kept: ['shelf', 'desk'] },
  };

export type Thing = {
  readonly name: string;
  /** A place, or `hand`. */
  readonly at: string;
  /** Of clean, hot and cold, in the order of the alphabet. */
  readonly is: readonly string[];
};

export type House = {
  readonly chore: Chore;
  /** The kind of thing that the chore is about, and the place where it belongs; empty for `light`. */
  readonly target: string;
  readonly goal: string;
  readonly places: readonly string[];
  readonly things: readonly Thing[];
  /** The place of the lamp. */
  readonly lamp: string;
  readonly isLit: boolean;
  /** Where the agent stands; `door` at first, which is no place for things. */
  readonly at: string;
  /** In the order of `places`: which stand open, and of which the agent has seen the inside. */
  readonly open: readonly string[];
  readonly seen: readonly string[];
};

export function drawHouse(size: number, distractors: number, chores: readonly Chore[], rng: Rng): House {
  const chore = rng.pick(chores);
  const [lamp, ...surfaces] = rng.shuffle(SURFACES);
  const places = rng.shuffle([
    lamp!,
    ...rng.shuffle([...surfaces, ...BOXES]).slice(0, size - 1),
    ...APPLIANCES,
  ]);
  const fits = (name: string): boolean =>
    chore === 'place' || chore === 'two' || KINDS[name]!.fit.includes(chore);
  const target = rng.pick(Object.keys(KINDS).filter(fits));
  const treatment = treatmentOf(chore);
  const goal = chore === 'light' ? '' : rng.pick(places.filter((place) => place !== treatment?.place));
  const others = rng
    .shuffle(Object.keys(KINDS))
    .filter((name) => name !== target)
    .slice(0, distractors);
  const names = [...others, ...Array.from({ length: chore === 'two' ? 2 : 1 }, () => target)];
  const things = names.map((name) => {
    // What has to be carried to the goal does not lie there.
    const free = places.filter((place) => name !== target || treatment !== undefined || place !== goal);
    const kept = free.filter((place) => KINDS[name]!.kept.includes(place));
    return { name, at: rng.pick(kept.length > 0 && rng.chance(0.6) ? kept : free), is: [] };
  });
  return {
    ...{ chore, target, goal, places, things: rng.shuffle(things), lamp: lamp!, isLit: false },
    ...{ at: 'door', open: [], seen: [] },
  };
}

const treatmentOf = (chore: Chore): (typeof TREATMENTS)[Treatment] | undefined =>
  TREATMENTS[chore as Treatment];

export const shuts = (place: string): boolean => SHUTTING.includes(place);

/** Whether what is in the place where the agent stands can be seen and taken, and more put there. */
export const isReachable = ({ at, open }: House): boolean =>
  at !== 'door' && (!shuts(at) || open.includes(at));

export const thingsAt = ({ things }: House, place: string): readonly Thing[] =>
  things.filter(({ at }) => at === place);

export const unseen = ({ places, seen }: House): readonly string[] =>
  places.filter((place) => !seen.includes(place));

/** What a command makes of the house: where the agent can look in, it has seen what is there. */
function changed(house: House, change: Partial<House>): House {
  const next = { ...house, ...change };
  if (!isReachable(next) || next.seen.includes(next.at)) return next;
  return { ...next, seen: next.places.filter((place) => place === next.at || next.seen.includes(place)) };
}

const withThing = (house: House, thing: Thing, change: Partial<Thing>): House =>
  changed(house, { things: house.things.map((one) => (one === thing ? { ...one, ...change } : one)) });

export const sideOf = (place: string): 'on' | 'in' => (SURFACES.includes(place) ? 'on' : 'in');
const putOf = (name: string, place: string): string => `put ${name} ${sideOf(place)} ${place}`;

/** Each admissible command, with what it makes of the house. */
export function commands(house: House): ReadonlyMap<string, () => House> {
  const { at, open, places } = house;
  const admissible = new Map<string, () => House>();
  if (shuts(at) && open.includes(at)) {
    admissible.set(`close ${at}`, () => changed(house, { open: open.filter((place) => place !== at) }));
  } else if (shuts(at)) {
    admissible.set(`open ${at}`, () =>
      changed(house, { open: places.filter((place) => place === at || open.includes(place)) }),
    );
  }
  const held = thingsAt(house, 'hand')[0];
  if (isReachable(house)) {
    if (held) admissible.set(putOf(held.name, at), () => withThing(house, held, { at }));
    else
      for (const thing of thingsAt(house, at))
        admissible.set(`take ${thing.name} from ${at}`, () => withThing(house, thing, { at: 'hand' }));
  }
  if (at === house.lamp && !house.isLit) admissible.set('use lamp', () => changed(house, { isLit: true }));
  for (const name of TREATED) {
    const { place, makes, undoes } = TREATMENTS[name];
    if (held === undefined || at !== place || !KINDS[held.name]!.fit.includes(name)) continue;
    const is = [...held.is.filter((one) => one !== undoes && one !== makes), makes].sort();
    admissible.set(`${name} ${held.name} with ${place}`, () => withThing(house, held, { is }));
  }
  for (const place of places)
    if (place !== at) admissible.set(`go to ${place}`, () => changed(house, { at: place }));
  return admissible;
}

const isReady = ({ chore }: House, { is }: Thing): boolean => {
  const treatment = treatmentOf(chore);
  return treatment === undefined || is.includes(treatment.makes);
};

/** Whether it is a target that is not yet where it belongs, as it should be. */
export const isWanted = (house: House, thing: Thing): boolean =>
  thing.name === house.target && !(thing.at === house.goal && isReady(house, thing));
const missing = (house: House): readonly Thing[] => house.things.filter((thing) => isWanted(house, thing));

export function isDone(house: House): boolean {
  if (house.chore !== 'light') return missing(house).length === 0;
  return house.isLit && house.at === house.lamp && thingsAt(house, 'hand')[0]?.name === house.target;
}

/**
 * The fewest commands to the chore. A way costs one command whatever its length, a hand holds one thing, and every fetched thing
 * has to be taken and put once; so nothing is saved by another order than that of the chore, if it starts with what is at hand.
 */
export function planFrom(house: House): readonly string[] {
  const plan: string[] = [];
  let { at } = house;
  const opened = new Set(house.open);
  const go = (place: string): void => {
    if (at !== place) plan.push(`go to ${place}`);
    at = place;
  };
  const reach = (place: string): void => {
    go(place);
    if (shuts(place) && !opened.has(place)) plan.push(`open ${place}`);
    opened.add(place);
  };
  if (isDone(house)) return plan;
  const held = thingsAt(house, 'hand')[0];
  // What is in the hand first, then what lies here, then what was seen: the searching player does without the rest.
  const distance = ({ at: place }: Thing): number =>
    place === 'hand' ? 0 : place === at ? 1 : house.seen.includes(place) ? 2 : 3;
  const targets = [...missing(house)].sort((one, other) => distance(one) - distance(other));
  if (held && targets[0]?.at !== 'hand') {
    // Something else is in the way: it is put down where the target is taken.
    reach(targets[0]!.at);
    plan.push(putOf(held.name, at));
  }
  for (const thing of targets) {
    if (thing.at !== 'hand') {
      reach(thing.at);
      plan.push(`take ${thing.name} from ${at}`);
    }
    const treatment = treatmentOf(house.chore);
    if (treatment && !isReady(house, thing)) {
      go(treatment.place);
      plan.push(`${house.chore} ${thing.name} with ${at}`);
    }
    if (house.chore === 'light') {
      go(house.lamp);
      if (!house.isLit) plan.push('use lamp');
    } else {
      reach(house.goal);
      plan.push(putOf(thing.name, at));
    }
  }
  return plan;
}

/** The next command of a player who knows only what was seen: it looks into one place after another. */
export function searchFrom(house: House, rng: Rng): string {
  const next = planFrom(house)[0]!;
  const to = next.startsWith('go to ') ? next.slice('go to '.length) : '';
  const isHolding = thingsAt(house, 'hand')[0]?.name === house.target;
  const isPublic = isHolding && house.chore !== 'light';
  if (shuts(house.at) && !house.seen.includes(house.at) && !isPublic) return `open ${house.at}`;
  return to === '' || isPublic || house.seen.includes(to) ? next : `go to ${rng.pick(unseen(house))}`;
}
