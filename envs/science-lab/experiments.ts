/** What is asked for in a laboratory: seven experiments, how far one has come, and the fewest commands to its end. */

import type { Rng } from '../../src/core/rng.ts';
import {
  commands,
  INGREDIENTS,
  isHere,
  type Lab,
  LUMPS,
  RECIPES,
  ROOM_DEGREES,
  ROOMS,
  roomOf,
  SAMPLES,
  SEEDS,
  type State,
  SUBSTANCES,
  stateOf,
  TOOLS,
  thingOf,
  unseen,
} from './lab.ts';

/** Change a state of matter; sort a lump by whether it conducts, a sample by its temperature; mix; grow. */
export const EXPERIMENTS = ['melt', 'boil', 'freeze', 'conduct', 'measure', 'mix', 'grow'] as const;
export type Experiment = (typeof EXPERIMENTS)[number];

export type Trial = {
  readonly experiment: Experiment;
  /** A substance, a lump, a sample, a seed, or what is to be mixed. */
  readonly target: string;
  readonly lab: Lab;
  /** Milestones that were passed, each paid once. */
  readonly reached: readonly string[];
};

/** Warmer samples belong into the yellow box, as lumps that conduct do. */
export const WARM = 50;

const at20 = (state: string): readonly string[] =>
  Object.keys(SUBSTANCES).filter((name) => stateOf({ name, at: '', degrees: ROOM_DEGREES }) === state);

function targetsOf(experiment: Experiment): readonly string[] {
  if (experiment === 'melt') return at20('solid');
  // The stove boils nothing that needs more than 220 degrees, and the freezer freezes nothing below -80.
  if (experiment === 'boil') return at20('liquid').filter((name) => SUBSTANCES[name]![1] < 220);
  if (experiment === 'freeze') return at20('liquid').filter((name) => SUBSTANCES[name]![0] > -80);
  if (experiment === 'conduct') return LUMPS;
  if (experiment === 'measure') return SAMPLES;
  return Object.keys(experiment === 'mix' ? RECIPES : SEEDS);
}

/** Things without which the experiment cannot be made. */
export function neededFor({ experiment, target }: Trial): readonly string[] {
  if (experiment === 'mix') return RECIPES[target]!;
  if (experiment === 'grow') return [target, 'jug'];
  return experiment === 'conduct' ? ['battery', target] : [target];
}

export function drawTrial(experiments: readonly Experiment[], distractors: number, rng: Rng): Trial {
  const experiment = rng.pick(experiments);
  const target = rng.pick(targetsOf(experiment));
  const needed = experiment === 'mix' ? RECIPES[target]! : [target];
  const all = [...Object.keys(SUBSTANCES), ...LUMPS, ...SAMPLES, ...Object.keys(SEEDS), ...INGREDIENTS];
  const others = rng.shuffle([...new Set(all)].filter((name) => !needed.includes(name)));
  const names = rng.shuffle([...needed, ...TOOLS, ...others.slice(0, distractors)]);
  const things = names.map((name) => ({
    ...{ name, at: rng.pick(ROOMS) },
    degrees: (SAMPLES as readonly string[]).includes(name)
      ? rng.pick([10, 30, 40, 60, 70, 90])
      : ROOM_DEGREES,
  }));
  const conductors = LUMPS.filter((name) => names.includes(name) && rng.chance(0.5));
  const lab: Lab = {
    ...{ at: 'hall', seen: [], things, isStoveOn: false, isJugFull: false, contents: [], conductors },
    ...{ tested: [], readings: {}, plants: {} },
  };
  return { experiment, target, lab, reached: [] };
}

/** The box into which the target belongs, by what the agent found out; undefined before it did. */
export function boxOf({ experiment, target, lab }: Trial): string | undefined {
  const reading = lab.readings[target];
  if (experiment === 'measure' ? reading === undefined : !lab.tested.includes(target)) return undefined;
  const isYellow = experiment === 'measure' ? reading! > WARM : lab.conductors.includes(target);
  return isYellow ? 'yellow box' : 'blue box';
}

const isSorting = (experiment: Experiment): boolean => experiment === 'conduct' || experiment === 'measure';

const WANTED: Partial<Record<Experiment, State>> = { melt: 'liquid', boil: 'gas', freeze: 'solid' };

/** Each milestone with whether it is passed now; the last one is the end. */
export function milestones(trial: Trial): Readonly<Record<string, boolean>> {
  const { experiment, target, lab } = trial;
  if (experiment === 'mix') {
    const isMixed = lab.contents.join() === target;
    const poured = RECIPES[target]!.map((name) => [name, lab.contents.includes(name)] as const);
    return { ...Object.fromEntries(poured), mixed: isMixed };
  }
  const thing = thingOf(lab, target);
  const { at, degrees } = thing;
  const found = lab.seen.includes(roomOf(thing)) || at === 'hand';
  if (isSorting(experiment)) {
    const isExamined = boxOf(trial) !== undefined;
    const powered = (): boolean => thingOf(lab, 'battery').at === 'circuit';
    return {
      ...{ found, ...(experiment === 'conduct' && { powered: powered() }), examined: isExamined },
      sorted: isExamined && at === boxOf(trial),
    };
  }
  if (experiment === 'grow') {
    const [grown, moist] = lab.plants[target] ?? [0, 0];
    return { found, planted: at === 'bed', watered: grown + moist > 0, grown: grown === SEEDS[target] };
  }
  const isCooling = experiment === 'freeze';
  return {
    ...{ found, placed: at === (isCooling ? 'freezer' : 'stove') },
    begun: isCooling ? degrees < ROOM_DEGREES : degrees > ROOM_DEGREES,
    changed: stateOf(thing) === WANTED[experiment],
  };
}

export interface Outcome {
  readonly trial: Trial;
  readonly reward: number;
  readonly done: boolean;
  readonly success: boolean;
}

/** Boxes take what is to be sorted, once it was examined. */
export function possible(trial: Trial): ReadonlyMap<string, () => Lab> {
  const isExamined = isSorting(trial.experiment) && boxOf(trial) !== undefined;
  return commands(trial.lab, isExamined ? trial.target : undefined);
}

/** Undefined for what is no command here. */
export function perform(trial: Trial, command: string): Outcome | undefined {
  const lab = possible(trial).get(command)?.();
  if (lab === undefined) return undefined;
  const passed = Object.entries(milestones({ ...trial, lab }));
  const reached = passed.filter(([name, is]) => is || trial.reached.includes(name)).map(([name]) => name);
  const success = passed.at(-1)![1];
  const isBoxed = isSorting(trial.experiment) && thingOf(lab, trial.target).at.endsWith(' box');
  return {
    ...{ trial: { ...trial, lab, reached }, done: success || isBoxed, success },
    reward: (reached.length - trial.reached.length) / passed.length,
  };
}

/** The next of the fewest commands; where `search` is given, of a player who has to look for what it has not seen. */
export function nextFrom(trial: Trial, search?: Rng): string {
  const { experiment, target, lab } = trial;
  const isHidden = (name: string): boolean => {
    const thing = thingOf(lab, name);
    return thing.at !== 'hand' && !lab.seen.includes(roomOf(thing));
  };
  if (search && neededFor(trial).some(isHidden)) return `go to ${search.pick(unseen(lab))}`;
  /** The command that brings these things to a room, if one is needed. */
  const bring = (room: string, names: readonly string[]): string | undefined => {
    const away = names
      .map((name) => thingOf(lab, name))
      .filter((thing) => thing.at !== 'hand' && roomOf(thing) !== room);
    const here = away.find((thing) => isHere(lab, thing));
    if (here) return `take ${here.name}`;
    if (away.length > 0) return `go to ${roomOf(away[0]!)}`;
    return lab.at === room ? undefined : `go to ${room}`;
  };
  const at = (name: string): string => thingOf(lab, name).at;
  if (experiment === 'mix') {
    const isSpoilt = lab.contents.some((name) => !RECIPES[target]!.includes(name));
    if (isSpoilt && lab.at === 'workshop') return 'empty beaker';
    const missing = RECIPES[target]!.filter((name) => isSpoilt || !lab.contents.includes(name));
    return bring('workshop', missing) ?? (missing.length > 0 ? `pour ${missing[0]}` : 'mix');
  }
  if (experiment === 'conduct' && boxOf(trial) === undefined) {
    const loose = ['battery', target].filter((name) => at(name) !== 'circuit');
    return bring('workshop', loose) ?? `connect ${loose[0]}`;
  }
  if (experiment === 'measure' && boxOf(trial) === undefined)
    return bring('kitchen', [target]) ?? `measure ${target}`;
  if (isSorting(experiment)) return bring('workshop', [target]) ?? `put ${target} in ${boxOf(trial)}`;
  if (experiment === 'grow') return nextOfGrowing(trial, bring);
  const isCooling = experiment === 'freeze';
  if (at(target) === (isCooling ? 'freezer' : 'stove')) {
    if (isCooling || lab.isStoveOn) return 'wait';
    return lab.at === 'kitchen' ? 'turn on stove' : 'go to kitchen';
  }
  return bring('kitchen', [target]) ?? `put ${target} ${isCooling ? 'in freezer' : 'on stove'}`;
}

function nextOfGrowing(
  { target, lab }: Trial,
  bring: (room: string, names: readonly string[]) => string | undefined,
): string {
  const [grown, moist] = lab.plants[target] ?? [0, 0];
  if (moist >= SEEDS[target]! - grown) return 'wait';
  const jug = thingOf(lab, 'jug');
  const isPlanted = thingOf(lab, target).at === 'bed';
  if (!lab.isJugFull) {
    if (lab.at === 'kitchen' && isHere(lab, jug)) return 'fill jug';
    const seed = thingOf(lab, target);
    // On the way to the sink.
    if (!isPlanted && seed.at === lab.at && lab.at !== 'greenhouse') return `take ${target}`;
    return bring('kitchen', ['jug'])!;
  }
  const next = bring('greenhouse', isPlanted ? ['jug'] : ['jug', target]);
  if (next !== undefined) return next;
  if (!isPlanted) return `plant ${target}`;
  return moist > 0 ? 'wait' : `water ${target}`;
}

/** The fewest commands to the end, one after the other. */
export function planFrom(trial: Trial): readonly string[] {
  const plan: string[] = [];
  let now = trial;
  for (let isDone = Object.values(milestones(trial)).at(-1)!; !isDone; ) {
    const command = nextFrom(now);
    const outcome = perform(now, command);
    if (outcome === undefined) throw new RangeError(`${command} is not possible`);
    plan.push(command);
    now = outcome.trial;
    isDone = outcome.done;
  }
  return plan;
}
