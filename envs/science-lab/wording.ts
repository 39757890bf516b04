/** What is seen in the laboratory, in words: few for small models, sentences for those that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import { boxOf, possible, type Trial, WARM } from './experiments.ts';
import { type Lab, RECIPES, SEEDS, stateOf, type Thing, unseen } from './lab.ts';

const thingsAt = ({ things }: Lab, place: string): readonly Thing[] =>
  things.filter(({ at }) => at === place);
/** With the state of a substance and whether the jug is full. */
const spoken = (lab: Lab, thing: Thing): string =>
  [...(thing.name === 'jug' && lab.isJugFull ? ['full'] : []), stateOf(thing) ?? '', thing.name]
    .filter((word) => word !== '')
    .join(' ');

const growthOf = ({ plants }: Lab, name: string): string => {
  const [grown, moist] = plants[name]!;
  return grown === 0 && moist === 0 ? 'dry' : moist > 0 ? 'growing' : 'thirsty';
};

/** What the agent knows of the target by test: `conducts` or not, `warm` or `cold`. */
function findingOf(trial: Trial): string | undefined {
  const isSorting = trial.experiment === 'measure' || trial.experiment === 'conduct';
  const box = isSorting ? boxOf(trial) : undefined;
  if (box === undefined) return undefined;
  const isYellow = box === 'yellow box';
  return trial.experiment === 'measure' ? (isYellow ? 'warm' : 'cold') : isYellow ? 'lit' : 'dark';
}

/** The experiment, what it showed, the room with its stands and things, the hand, and the rooms that were not seen. */
export function observe(trial: Trial): string {
  const { experiment, target, lab } = trial;
  const named = (place: string): readonly string[] => thingsAt(lab, place).map((thing) => spoken(lab, thing));
  const finding = findingOf(trial);
  const rest = unseen(lab);
  const stands: Readonly<Record<string, readonly string[]>> = {
    kitchen: ['stove', lab.isStoveOn ? 'on' : 'off', ...named('stove'), 'freezer', ...named('freezer')],
    workshop: ['circuit', ...named('circuit'), 'beaker', ...lab.contents],
    greenhouse: ['bed', ...thingsAt(lab, 'bed').flatMap(({ name }) => [name, growthOf(lab, name)])],
  };
  return [
    ...[experiment, target, ...(finding ? [finding] : []), 'at', lab.at, ...named(lab.at)],
    ...(stands[lab.at] ?? []),
    ...['hand', ...named('hand')],
    ...(rest.length > 0 ? ['unseen', ...rest] : []),
  ].join(' ');
}

const REQUESTS: Readonly<Record<Trial['experiment'], (target: string) => string>> = {
  melt: (target) => `melt the ${target}`,
  boil: (target) => `boil the ${target}`,
  freeze: (target) => `freeze the ${target}`,
  conduct: (target) =>
    `find out whether the ${target} conducts, and put it in the yellow box if it does, else in the blue box`,
  measure: (target) =>
    `measure the ${target}, and put it in the yellow box if it is warmer than ${WARM} degrees, else in the blue box`,
  mix: (target) => `make ${target} of ${RECIPES[target]!.join(' and ')}`,
  grow: (target) => `grow a ${target} until it is ripe, which takes ${SEEDS[target]} turns`,
};

const listed = (words: readonly string[]): string => words.join(', ') || 'nothing';

export function describe(trial: Trial): string {
  const { experiment, target, lab } = trial;
  const named = (place: string): string => listed(thingsAt(lab, place).map((thing) => spoken(lab, thing)));
  const stands: Readonly<Record<string, string>> = {
    kitchen: `The stove is ${lab.isStoveOn ? 'on' : 'off'}; on it: ${named('stove')}. In the freezer: ${named('freezer')}. There are a sink and a thermometer.`,
    workshop: `In the circuit: ${named('circuit')}. In the beaker: ${listed(lab.contents)}. There are a yellow box and a blue box.`,
    greenhouse: `In the bed: ${listed(thingsAt(lab, 'bed').map(({ name }) => `${name} (${growthOf(lab, name)})`))}.`,
  };
  const reading = lab.readings[target];
  const wasTested = lab.tested.includes(target);
  const rest = unseen(lab);
  return [
    `Task: ${REQUESTS[experiment](target)}. You are in the ${lab.at}.`,
    ...(lab.at === 'hall' ? [] : [`You see: ${named(lab.at)}.`]),
    ...(stands[lab.at] === undefined ? [] : [stands[lab.at]!]),
    ...(reading === undefined ? [] : [`The ${target} had ${reading} degrees.`]),
    ...(wasTested
      ? [`With the ${target} the lamp ${lab.conductors.includes(target) ? 'was lit' : 'stayed dark'}.`]
      : []),
    `You hold: ${named('hand')}.`,
    ...(rest.length > 0 ? [`Not seen yet: ${rest.join(', ')}.`] : []),
    `You may: ${[...possible(trial).keys()].join(', ')}.`,
  ].join(' ');
}

export const naturalWording: NaturalWording<Trial> = {
  instructions: [
    'Make an experiment in a laboratory of six rooms. Things lie anywhere; devices are in the kitchen, the workshop and the greenhouse.',
    'The stove heats what is on it while it is on, the freezer cools; each turn a little, so wait.',
    'A lump and the battery close the circuit, whose lamp shows whether the lump conducts. Things in the beaker are mixed.',
    'Plants grow for three turns after they were watered from a full jug.',
    'Answer with one command and nothing else.',
  ].join(' '),
  example: [
    [
      'Task: melt the lard. You are in the kitchen. You see: nothing. The stove is off; on it: nothing. In the freezer: nothing. There are a sink and a thermometer. You hold: solid lard.',
      'put lard on stove',
    ],
    [
      'Task: melt the lard. You are in the kitchen. You see: nothing. The stove is off; on it: solid lard. In the freezer: nothing. There are a sink and a thermometer. You hold: nothing.',
      'turn on stove',
    ],
  ],
  observe: (trial, step) => {
    if (step?.done) return step.success ? 'The experiment is done.' : 'That was the wrong box.';
    return `${step?.valid === false ? 'That is not possible. ' : ''}${describe(trial)}`;
  },
};
