/** Text-Nav: LMRL-Gym's house (arXiv 2311.18232), where stale food belongs into the closed fridge. */

import { z } from 'zod';
import { Rng } from '../../src/core/rng.ts';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  atStart,
  commands,
  DOORS,
  FURNITURE,
  type House,
  isReachable,
  isSolved,
  planFrom,
  ROOMS,
  thingsAt,
  WAYS,
} from './house.ts';

export interface NavOptions {
  readonly maxTurns: number;
  readonly observed: 'fully' | 'partially';
  readonly heldOutStarts: number;
}

const optionsSchema = z.strictObject({
  maxTurns: z.int().min(1).max(200).default(20).describe('Commands before the episode fails'),
  observed: z
    .enum(['fully', 'partially'])
    .default('fully')
    .describe('partially: neither the room nor what is carried is named'),
  heldOutStarts: z
    .int()
    .min(0)
    .max(7)
    .default(0)
    .describe('Start rooms kept from training; the test split is then exactly these'),
  wording: wordingOption,
});

/** The environment. The stale food in the closed fridge pays 1; eating it fails; commands cost nothing. */
export function textNav(options: NavOptions): Environment<string, House> {
  const fully = options.observed === 'fully';
  const shuffled = Rng.of('text-nav', 'held-out').shuffle(ROOMS);
  const heldOut = shuffled.slice(0, options.heldOutStarts);

  /** Words that mean something alone: the room, what is carried, and what there is. */
  function observe(house: House): string {
    const { room } = house;
    const furniture = FURNITURE[room];
    const shown = isReachable(house, room) ? thingsAt(house, room) : [];
    return [
      ...(fully ? [fused(room), ...thingsAt(house, 'held').map((thing) => `held:${fused(thing)}`)] : []),
      ...WAYS.filter((way) => DOORS[room]![way]),
      ...(furniture === undefined
        ? []
        : [
            furniture.shuts
              ? `${furniture.name}:${house.open.includes(room) ? 'open' : 'closed'}`
              : furniture.name,
          ]),
      ...shown.map(fused),
      ...thingsAt(house, `floor:${room}`).map((thing) => `floor:${fused(thing)}`),
    ].join(' ');
  }

  /** The same in sentences, with the admissible commands. */
  function describe(house: House): string {
    const { room } = house;
    const furniture = FURNITURE[room];
    const shown = isReachable(house, room) ? thingsAt(house, room) : [];
    const held = thingsAt(house, 'held');
    const floor = thingsAt(house, `floor:${room}`);
    const isShut = furniture?.shuts && !house.open.includes(room);
    return [
      ...(fully ? [`You are in the ${room}.`] : []),
      ...(furniture
        ? [
            `There is a ${isShut ? 'closed ' : ''}${furniture.name}${isShut ? '' : shown.length > 0 ? ` with ${shown.join(' and ')}` : ' with nothing'}.`,
          ]
        : []),
      ...(floor.length > 0 ? [`On the floor: ${floor.join(', ')}.`] : []),
      ...(fully ? [`You carry ${held.join(' and ') || 'nothing'}.`] : []),
      `You may: ${[...commands(house).keys()].join(', ')}.`,
    ].join(' ');
  }

  return defineEnvironment<string, House>({
    name: 'text-nav',
    description: "LMRL-Gym's house: put the stale food into the fridge and close it.",
    maxTurns: options.maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: (split) =>
      heldOut.length === 0
        ? ROOMS
        : split === 'train'
          ? ROOMS.filter((room) => !heldOut.includes(room))
          : heldOut,
    start: (room) => ({
      state: atStart(room),
      messages: [{ role: 'user', content: observe(atStart(room)) }],
    }),
    step: (house, action) => {
      const next = commands(house).get(action);
      const state = next ?? house;
      const success = isSolved(state);
      const isEaten = state.places['stale food'] === 'eaten';
      const left = (of: House): number => (isSolved(of) ? 0 : (planFrom(of)?.length ?? 0));
      const said = next === undefined ? `invalid ${observe(state)}` : observe(state);
      return {
        state,
        observation: success ? 'stored' : isEaten ? 'eaten' : said,
        reward: success ? 1 : 0,
        done: success || isEaten,
        success,
        valid: next !== undefined,
        info: {
          credit: {
            dense: isEaten ? 0 : left(house) - left(state),
            effectiveActions: next === undefined ? 0 : 1,
          },
        },
      };
    },
    actions: (house) => [...commands(house).keys()],
    solve: (house) => planFrom(house)!.command,
    stumble: (house, rng) => {
      // Knows half of the house, as LMRL-Gym's mixed players do, and wanders in the rest.
      const knows = ['living room', 'dining room', 'kitchen', 'garden'].includes(house.room);
      return knows ? planFrom(house)!.command : rng.pick([...commands(house).keys()]);
    },
    render: (house) => describe(house),
    natural: {
      instructions: [
        'You are in a house of eight rooms. Stale food belongs into the fridge of the kitchen, and the fridge closed. Never eat it.',
        'Answer with one of the commands that you may use and nothing else.',
      ].join(' '),
      example: [
        [describe({ ...atStart('office'), room: 'office' }), 'go north'],
        [describe({ ...atStart('kitchen'), open: ['kitchen'] }), 'close fridge'],
      ],
      observe: (house, step) => {
        if (step?.success) return 'The stale food is in the closed fridge.';
        if (step?.done) return 'You have eaten the stale food.';
        return `${step?.valid === false ? 'That is no command. ' : ''}${describe(house)}`;
      },
    },
  });
}

function fused(name: string): string {
  return name.replace(' ', '-');
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'text-nav',
  description: "LMRL-Gym's house: put the stale food into the fridge and close it.",
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { steps: 200 },
    steps: 100,
  },
  create: ({ wording, ...options }) => fromEnvironment(textNav(options), { wording }),
});
