/** Chores in a house after ALFWorld (arXiv 2010.03768): find, carry, clean, heat and cool things, by admissible commands. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  CHORES,
  type Chore,
  commands,
  drawHouse,
  type House,
  isDone,
  isReachable,
  isWanted,
  planFrom,
  searchFrom,
  shuts,
  sideOf,
  type Thing,
  thingsAt,
  unseen,
} from './house.ts';

export interface HouseholdOptions {
  readonly chore: Chore | 'mixed';
  readonly size: number;
  readonly distractors: number;
  readonly commands: 'sentences' | 'always' | 'never';
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  chore: z
    .enum([...CHORES, 'mixed'])
    .default('mixed')
    .describe('place, light, clean, heat, cool, two (of a kind), or all six mixed'),
  size: z
    .int()
    .min(2)
    .max(8)
    .default(4)
    .describe('Places for things beside the sink, the oven and the fridge'),
  distractors: z.int().min(0).max(12).default(3).describe('Things that the chore does not need'),
  commands: z
    .enum(['sentences', 'always', 'never'])
    .default('sentences')
    .describe(
      'When observations list the admissible commands: in the natural wording alone, always or never',
    ),
  maxTurns: z.int().min(1).max(200).default(30).describe('Commands before the episode fails'),
  wording: wordingOption,
});

/** The environment. The chore pays 1 and ends the episode; nothing else pays or costs. */
export function household(options: HouseholdOptions): Environment<House, House> {
  const { chore, size, distractors, maxTurns } = options;
  const chores = chore === 'mixed' ? CHORES : [chore];
  const listed = (house: House): string => [...commands(house).keys()].join(', ');
  const compact = (house: House): string =>
    options.commands === 'always' ? `${observe(house)} may ${listed(house)}` : observe(house);
  const sentences = (house: House): string =>
    options.commands === 'never' ? describe(house) : `${describe(house)} You may: ${listed(house)}.`;
  return defineEnvironment<House, House>({
    name: 'household',
    description: 'Do a chore in a house: find things, carry, clean, heat and cool them.',
    maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(
      'household',
      (rng) => drawHouse(size, distractors, chores, rng),
      (house) => planFrom(house).length <= maxTurns,
    ),
    start: (house) => ({ state: house, messages: [{ role: 'user', content: compact(house) }] }),
    step: (house, command) => {
      const next = commands(house).get(command);
      const state = next?.() ?? house;
      const done = isDone(state);
      return {
        state,
        observation: done ? 'done' : next ? compact(state) : `invalid ${compact(state)}`,
        reward: done ? 1 : 0,
        done,
        success: done,
        valid: next !== undefined,
        info: {
          credit: {
            dense: planFrom(house).length - planFrom(state).length,
            effectiveActions: next ? 1 : 0,
          },
        },
      };
    },
    actions: (house) => [...commands(house).keys()],
    solve: (house) => planFrom(house)[0]!,
    // Knows only what it has seen, and sometimes does anything.
    stumble: (house, rng) =>
      rng.chance(0.1) ? rng.pick([...commands(house).keys()]) : searchFrom(house, rng),
    render: describe,
    natural: {
      instructions: [
        'Do a chore in a house. You can carry one thing. What is in a closed place is seen when you open it.',
        'Things are cleaned with the sink, heated with the oven and cooled with the fridge.',
        'To look at a thing in the light, hold it and use the lamp.',
        'Answer with one command and nothing else.',
      ].join(' '),
      example: [
        [
          'Chore: put a cup on the table. You are at the stove. It is closed. You hold nothing. Not seen yet: stove.',
          'open stove',
        ],
        [
          'Chore: put a cup on the table. You are at the stove. You see a cup. You hold nothing.',
          'take cup from stove',
        ],
      ],
      observe: (house, step) => {
        if (step?.done) return 'The chore is done.';
        return `${step?.valid === false ? 'That is not possible. ' : ''}${sentences(house)}`;
      },
    },
  });
}

/** What is seen where the agent stands. */
function visible(house: House, lamp: string, word: (thing: Thing) => string): readonly string[] {
  if (!isReachable(house)) return [];
  return [...(house.at === house.lamp ? [lamp] : []), ...thingsAt(house, house.at).map(word)];
}

const spoken = ({ name, is }: Thing): string => [...is, name].join(' ');

/**
 * The chore, what is held, what is here, and where the agent has not looked yet: each in the words of the commands. Small models
 * hardly learn to compare what is here with the chore, so a word says it.
 */
function observe(house: House): string {
  const { chore, target, goal, at } = house;
  const held = thingsAt(house, 'hand').map(spoken);
  const here = visible(house, house.isLit ? 'lit' : 'lamp', (thing) =>
    isWanted(house, thing) ? `wanted ${spoken(thing)}` : spoken(thing),
  );
  const isClosed = shuts(at) && !isReachable(house);
  const rest = unseen(house);
  return [
    ...[chore, target, ...(goal === '' ? [] : [goal])],
    ...['hand', ...(held.length > 0 ? held : ['empty'])],
    ...['at', at, ...(isClosed ? ['closed'] : here)],
    ...(rest.length > 0 ? ['unseen', ...rest] : []),
  ].join(' ');
}

const ENDS: Readonly<Record<Chore, (target: string, goal: string) => string>> = {
  place: (target, goal) => `put a ${target} ${goal}`,
  light: (target) => `look at a ${target} in the light of the lamp`,
  clean: (target, goal) => `put a clean ${target} ${goal}`,
  heat: (target, goal) => `put a hot ${target} ${goal}`,
  cool: (target, goal) => `put a cold ${target} ${goal}`,
  two: (target, goal) => `put a ${target} and another ${target} ${goal}`,
};

function describe(house: House): string {
  const { chore, target, goal, at, isLit } = house;
  const here = visible(house, `a lamp that is ${isLit ? 'on' : 'off'}`, (thing) => `a ${spoken(thing)}`);
  const isClosed = shuts(at) && !isReachable(house);
  const held = thingsAt(house, 'hand').map((thing) => `a ${spoken(thing)}`);
  const rest = unseen(house);
  return [
    `Chore: ${ENDS[chore](target, `${sideOf(goal)} the ${goal}`)}. You are at the ${at}.`,
    isClosed ? 'It is closed.' : `You see ${here.join(', ') || 'nothing'}.`,
    `You hold ${held.join('') || 'nothing'}.`,
    ...(rest.length > 0 ? [`Not seen yet: ${rest.join(', ')}.`] : []),
  ].join(' ');
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'household',
  description: 'Do a chore in a house: find things, carry, clean, heat and cool them.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1000, beginnerShare: 0.9, randomRate: 0.05, steps: 400, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 2e-4 },
    steps: 25,
  },
  create: ({ wording, ...options }) => fromEnvironment(household(options), { wording }),
});
