/** The world under check, with the episodes that several checks look at. */

import type { Json, JsonObject } from '../../core/json/json.ts';
import type { Split } from '../../env/environment.ts';
import type { World } from '../../env/world.ts';
import {
  beginner,
  constant,
  expert,
  farmer,
  type Place,
  type Play,
  type Player,
  playOnce,
  practised,
  random,
} from './players.ts';

export const SPLITS = ['train', 'validation', 'test'] as const satisfies readonly Split[];

export interface Subject {
  readonly world: World;
  /** The same world in its other wording, where it has one. */
  readonly natural: World | undefined;
  readonly options: JsonObject;
  readonly episodes: number;
  /** Milliseconds that a step may take. */
  readonly slowestMs: number;
}

/** Episodes by player, each player's on the same tasks. */
export interface Plays {
  readonly expert: readonly Play[];
  readonly random: readonly Play[];
  readonly others: ReadonlyMap<string, readonly Play[]>;
  readonly groups: readonly (readonly Play[])[];
}

/** Tasks of all splits in turn. */
export function placeOf({ world }: Subject, seed: number): { readonly task: Json; readonly place: Place } {
  const split = SPLITS[seed % 3]!;
  const tasks = world.tasks(split);
  const index = Math.floor(seed / 3) % tasks.size;
  return { task: tasks.at(index), place: { split, index, seed } };
}

export async function playAll(subject: Subject): Promise<Plays> {
  const { world, episodes } = subject;
  const several = world.roles.length > 1;
  const constants = several ? [] : await constantsOf(subject);
  const others = new Map<string, readonly Play[]>();
  for (const player of several ? [beginner] : [beginner, farmer, ...constants])
    others.set(
      player.name,
      await playsOf(
        subject,
        player,
        constants.includes(player) ? Math.max(9, Math.ceil(episodes / 3)) : episodes,
      ),
    );
  const groups: (readonly Play[])[] = [];
  for (let group = 0; group < Math.ceil(episodes / 5); group++) groups.push(await groupOf(subject, group));
  return {
    expert: await playsOf(subject, expert, episodes),
    random: await playsOf(subject, random, episodes),
    others,
    groups,
  };
}

/** In games the roles take turns to be watched. */
async function playsOf(subject: Subject, player: Player, episodes: number): Promise<readonly Play[]> {
  const plays: Play[] = [];
  const { world } = subject;
  for (let seed = 0; seed < episodes; seed++) {
    const { task, place } = placeOf(subject, seed);
    const play = await playOnce(world, task, place, player, world.roles[seed % world.roles.length]);
    if (play === undefined) return [];
    plays.push(play);
  }
  return plays;
}

async function groupOf(subject: Subject, group: number): Promise<readonly Play[]> {
  const { task, place } = placeOf(subject, 3 * group);
  const members: Play[] = [];
  for (const player of [expert, practised, random, practised, random, practised]) {
    const own = { ...place, seed: 1000 * group + members.length };
    const play = await playOnce(subject.world, task, own, player, undefined, group);
    if (play === undefined) return members;
    members.push(play);
  }
  return members;
}

/** What can be done at the starts of the first tasks, and nonsense. */
async function constantsOf(subject: Subject): Promise<readonly Player[]> {
  const said = new Set(['xyzzy']);
  for (let seed = 0; seed < 6 && said.size < 13; seed++) {
    const { task, place } = placeOf(subject, seed);
    await playOnce(subject.world, task, place, {
      name: 'looker',
      choose: (_, session) => {
        for (const action of (session.actions?.() ?? []).slice(0, 12)) said.add(action);
        return undefined;
      },
    });
  }
  return [...said].slice(0, 13).map(constant);
}
