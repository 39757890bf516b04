/** Missions in a room after BabyAI (arXiv 1810.08272): go to, pick up, open, put one thing beside another. */

import { z } from 'zod';
import { defineEnvironment, type Environment } from '../../src/env/environment.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromEnvironment } from '../../src/env/from-environment.ts';
import { drawnTasks } from '../../src/env/tasks/drawn-tasks.ts';
import { wordingOption } from '../../src/env/wording.ts';
import {
  ACTIONS,
  act,
  actionsLeft,
  DIRECTIONS,
  drawRoom,
  faced,
  isDone,
  isFree,
  keyOf,
  planFrom,
  type Room,
  type Thing,
  VERBS,
} from './room.ts';

/** `turn` counts actions, since a mission is worth less the longer it takes. */
export type MissionState = { readonly room: Room; readonly turn: number };

export interface MissionOptions {
  readonly mission: (typeof VERBS)[number] | 'mixed';
  readonly size: number;
  readonly things: number;
  readonly maxTurns: number;
}

const optionsSchema = z.strictObject({
  mission: z
    .enum([...VERBS, 'mixed'])
    .default('mixed')
    .describe('One kind of mission, or mixed: going, picking up and opening; put is the hardest'),
  size: z.int().min(3).max(8).default(4).describe('Rows and columns of floor'),
  things: z.int().min(2).max(8).default(3).describe('Balls, keys and boxes; two doors beside'),
  maxTurns: z.int().min(1).max(200).default(20).describe('Actions before the episode fails'),
  wording: wordingOption,
});

/** The environment. A mission pays 1 less 0.9 of the share of turns that it took; nothing else pays or costs. */
export function missions({
  mission,
  size,
  things,
  maxTurns,
}: MissionOptions): Environment<Room, MissionState> {
  const verbs = mission === 'mixed' ? VERBS.slice(0, 3) : [mission];
  const left = (room: Room): number => actionsLeft(room) ?? maxTurns;
  return defineEnvironment<Room, MissionState>({
    name: 'missions',
    description: 'Follow an instruction in a room of coloured things and doors.',
    maxTurns,
    returns: [0, 1],
    facts: ['dense', 'effectiveActions'],
    tasks: drawnTasks(
      'missions',
      (rng) => drawRoom(size, things, verbs, rng),
      (room) => !isDone(room) && (actionsLeft(room) ?? maxTurns + 1) <= maxTurns,
    ),
    start: (room) => ({ state: { room, turn: 0 }, messages: [{ role: 'user', content: observe(room) }] }),
    step: ({ room, turn }, said) => {
      const action = ACTIONS.find((name) => name === said);
      const next = action ? act(room, action) : room;
      const done = isDone(next);
      const way = done ? 0 : left(next);
      return {
        state: { room: next, turn: turn + 1 },
        observation: done ? 'done' : action ? observe(next) : `invalid ${observe(next)}`,
        reward: done ? 1 - (0.9 * (turn + 1)) / maxTurns : 0,
        done,
        success: done,
        valid: action !== undefined,
        info: { credit: { dense: left(room) - way, effectiveActions: next === room ? 0 : 1 } },
      };
    },
    anchor: ({ room }) => keyOf(room),
    actions: () => ACTIONS,
    solve: ({ room }) => planFrom(room)?.[0] ?? 'turn left',
    // Walks about, and does what the mission says to whatever is ahead.
    stumble: ({ room }, rng) => {
      if (rng.chance(0.5)) return planFrom(room)?.[0] ?? 'turn left';
      return rng.pick(isFree(room) ? ['move forward', 'turn left'] : ['turn right', 'pickup', 'toggle']);
    },
    render: ({ room }) => `${observe(room)} | ${describe(room)}`,
    natural: {
      instructions: [
        'Follow an instruction in a room. You see all things, how many steps they are in front of you or behind, and to which side.',
        'Go to a thing until it is right in front of you. Doors are opened with toggle.',
        `Answer with one action and nothing else: ${ACTIONS.join(', ')}.`,
      ].join(' '),
      example: [
        [
          'Mission: go to the red ball. You see a red ball 1 in front and 2 to the right. The way is free. You carry nothing.',
          'move forward',
        ],
        [
          'Mission: go to the red ball. You see a red ball 2 to the right. There is a wall ahead. You carry nothing.',
          'turn right',
        ],
      ],
      observe: ({ room }, step) => {
        if (step?.done) return 'The mission is done.';
        return `${step?.valid === false ? 'That is no action. ' : ''}${describe(room)}`;
      },
    },
  });
}

/** Steps ahead of the agent and to its right; negative behind and to the left. */
function offset({ x, y, facing }: Room, thing: Thing): readonly [ahead: number, side: number] {
  const [dx, dy] = DIRECTIONS[facing]!;
  const [over, down] = [thing.x - x, thing.y - y];
  return [over * dx + down * dy, down * dx - over * dy];
}

interface Seen {
  readonly thing: Thing;
  readonly at: readonly [ahead: number, side: number];
  readonly away: number;
}

const byDistance = (room: Room): readonly Seen[] =>
  room.things
    .map((thing) => {
      const at = offset(room, thing);
      return { thing, at, away: Math.abs(at[0]) + Math.abs(at[1]) };
    })
    .sort((one, other) => one.away - other.away);

const front = (room: Room): string => faced(room)?.name ?? (isFree(room) ? 'free' : 'wall');

/** A thing is one word, in the mission as in the room, and its place the next two. */
function observe(room: Room): string {
  const { verb, target, beside, carried } = room;
  const seen = byDistance(room).flatMap(({ thing, at: [ahead, side] }) => [
    thing.name,
    `ahead${ahead}`,
    `side${side}`,
  ]);
  return [
    ...seen,
    `front:${front(room)}`,
    ...(carried === '' ? [] : [`has:${carried}`]),
    verb,
    target,
    ...(beside === '' ? [] : [beside]),
  ].join(' ');
}

const spoken = (name: string): string => name.replace('-', ' ');

function describe(room: Room): string {
  const { verb, target, beside, carried, open } = room;
  const missionsSpoken = {
    goto: `go to the ${spoken(target)}`,
    pickup: `pick up the ${spoken(target)}`,
    open: `open the ${spoken(target)}`,
    put: `put the ${spoken(target)} next to the ${spoken(beside)}`,
  };
  const places = byDistance(room).map(({ thing, at: [ahead, side] }) => {
    const parts = [
      ...(ahead === 0 ? [] : [`${Math.abs(ahead)} ${ahead > 0 ? 'in front' : 'behind'}`]),
      ...(side === 0 ? [] : [`${Math.abs(side)} to the ${side > 0 ? 'right' : 'left'}`]),
    ];
    return `a ${open.includes(thing.name) ? 'open ' : ''}${spoken(thing.name)} ${parts.join(' and ')}`;
  });
  const way = faced(room)
    ? `The ${spoken(front(room))} is right ahead.`
    : isFree(room)
      ? 'The way is free.'
      : 'There is a wall ahead.';
  return `Mission: ${missionsSpoken[verb]}. You see ${places.join('; ')}. ${way} You carry ${carried === '' ? 'nothing' : `the ${spoken(carried)}`}.`;
}

export const world: WorldFactory<typeof optionsSchema> = defineWorld({
  name: 'missions',
  description: 'Follow an instruction in a room of coloured things and doors.',
  options: optionsSchema,
  settings: {
    model: { width: 64, layers: 2, heads: 4, hidden: 172 },
    clone: { demonstrations: 1200, beginnerShare: 0.5, randomRate: 0.1, steps: 300, batch: 16 },
    rollout: { tasks: 16, group: 8 },
    optimizer: { learningRate: 3e-4 },
    steps: 120,
  },
  create: ({ wording, ...options }) => fromEnvironment(missions(options), { wording }),
});
