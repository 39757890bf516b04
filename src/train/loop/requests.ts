/** From what a source of tasks asks for to the groups that are played. */

import { badDefinition } from '../../core/definition.ts';
import type { ByRole, Place } from '../../core/episode.ts';
import { keyText, placeText } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { canonicalJson, type Json } from '../../core/json/json.ts';
import { hash32, Rng } from '../../core/rng.ts';
import { chainOf } from '../../core/trajectory.ts';
import type { GroupRequest, Round, Seatable } from '../../curation/tasks/task-source.ts';
import { readTask, taskOf, tasksOf } from '../../env/tasks/split.ts';
import { guidanceOf } from '../../env/world.ts';
import { LEARNER } from '../../policy/engine-policy.ts';
import type { GroupToPlay } from '../../rollout/collect.ts';
import { prefixAt } from '../../rollout/turns/copied-prefix.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Learner } from '../kit/learner.ts';

/** Beyond the tasks of any run, so that further rounds of a step play tasks of their own. */
const ROUND_STRIDE = 2 ** 26;

/**
 * Of each step, from 1, how many tasks those before it have had: stages may change their number.
 *
 * @param at the learner of a step
 */
export function countingTasks(
  at: (step: number) => { readonly config: Pick<TrainConfig, 'rollout'> },
): (step: number) => number {
  const before = [0];
  return (step) => {
    while (before.length < step) before.push(before.at(-1)! + at(before.length).config.rollout.tasks);
    return before[step - 1]!;
  };
}

/**
 * The training tasks, as a source sees them in a round of a step: finite sets are gone through in shuffled epochs.
 *
 * @param before tasks of all earlier steps
 */
export function freshTasks(
  { config, world }: Pick<Learner, 'config' | 'world'>,
  before: number,
  round: number,
): Round['tasks'] {
  const set = tasksOf(world, 'train');
  const { size } = set;
  const inRound = Number.isFinite(size)
    ? inEpochs(size, config, before, round)
    : (index: number) => before + round * ROUND_STRIDE + index;
  return {
    size,
    guidance: (index, level) => {
      const { task, failure } = readTask(world, set, index);
      return failure === undefined ? guidanceOf(world, task, level) : undefined;
    },
    fresh: (count) => Array.from({ length: count }, (_, index) => inRound(index)),
  };
}

/**
 * The tasks of a finite set in a round. Further rounds have others than the step had so far, while there are any: those that lie
 * furthest from its own in the order of the epoch.
 */
function inEpochs(
  size: number,
  { seed, rollout }: Pick<TrainConfig, 'seed' | 'rollout'>,
  before: number,
  round: number,
): (index: number) => number {
  const inEpoch = epochs(size, seed);
  if (round === 0) return (index) => inEpoch(before + index);
  const own = new Set(Array.from({ length: rollout.tasks }, (_, index) => inEpoch(before + index)));
  const epoch = size * Math.floor(before / size);
  const far = before + rollout.tasks + Math.floor((size - rollout.tasks) / 2);
  const order = Array.from({ length: size }, (_, index) => inEpoch(epoch + ((far + index) % size)));
  const others = order.filter((task) => !own.has(task));
  const left = others.length > 0 ? others : order;
  return (index) => left[((round - 1) * rollout.tasks + index) % left.length]!;
}

/** The task at a place of an endless list of shuffled epochs. */
function epochs(size: number, seed: number): (place: number) => number {
  const shuffled = new Map<number, readonly number[]>();
  return (place) => {
    const epoch = Math.floor(place / size);
    const order =
      shuffled.get(epoch) ?? Rng.of('epoch', seed, epoch).shuffle(Array.from({ length: size }, (_, i) => i));
    shuffled.set(epoch, order);
    return order[place % size]!;
  };
}

/**
 * The groups to play, numbered from `first`.
 *
 * @param promptOf the instruction of a group; groups that go on from a place keep that of their prefix
 * @throws TurnwiseError `task-unknown`, `split-empty`, `place-unknown`
 */
export async function groupsToPlay(
  learner: Pick<Learner, 'world' | 'archive' | 'seats' | 'tasks' | 'config'>,
  requests: readonly GroupRequest[],
  step: number,
  first: number,
  promptOf?: (group: number) => string,
): Promise<GroupToPlay[]> {
  const { world, archive } = learner;
  for (const { seats } of requests) if (seats) requireSeats(seats, learner, step);
  await learner.seats?.ready(requests.flatMap(({ seats = {} }) => Object.values(seats)));
  const places = requests.flatMap(({ task }) => ('place' in task ? [task.place] : []));
  const stored = await archive.read(places.map(({ episode }) => episode));
  const groups = new Map(stored.flatMap((group) => group.members.map(({ key }) => [keyText(key), group])));
  return requests.map(({ task, members, maxTurns, say, strip, seats }, index) => ({
    step,
    group: first + index,
    members,
    ...(maxTurns !== undefined && { maxTurns }),
    ...(say && { say }),
    ...(strip && { strip }),
    ...(seats && { seats }),
    ...promptIn(task, first + index),
    ...('place' in task
      ? fromPlace(task.place)
      : 'task' in task
        ? { split: 'train' as const, index: hashOf(task.task), task: task.task }
        : { ...task, ...taskOf(world, task.split, task.index) }),
  }));

  function promptIn(task: GroupRequest['task'], group: number): Pick<GroupToPlay, 'prompt'> {
    if (!promptOf) return {};
    // None at all: not that of evaluations either.
    return { prompt: 'place' in task ? '' : promptOf(group) };
  }

  function fromPlace(place: Place) {
    const group = groups.get(keyText(place.episode));
    const episode = group?.members.find(({ key }) => keyText(key) === keyText(place.episode));
    if (!group || !episode) throw placeUnknown(place);
    const { key, task } = episode;
    return {
      split: key.split,
      index: key.task,
      task,
      copied: prefixAt(episode, chainOf(group, episode), place),
    };
  }
}

/** Whom a source may seat in a step, counted from 1. */
export function seatable({ world, seats }: Pick<Learner, 'world' | 'seats'>, step: number): Seatable {
  return { roles: world.roles, players: seats?.names(step) ?? [] };
}

/** @throws TurnwiseError `definition-invalid` for roles and players that are not there, and where no learner is left */
function requireSeats(
  own: ByRole<string>,
  { world, seats, tasks, config }: Pick<Learner, 'world' | 'seats' | 'tasks' | 'config'>,
  step: number,
): void {
  const wrong = (problem: string, allowed: string) => badDefinition(tasks.subject, problem, own, allowed);
  const players = [...new Set([LEARNER, ...Object.keys(config.players), ...(seats?.names(step) ?? [])])];
  for (const [role, player] of Object.entries(own)) {
    if (!world.roles.includes(role))
      throw wrong(
        `seats a player in the role "${role}", which ${world.name} does not have`,
        world.roles.join(', '),
      );
    if (!players.includes(player))
      throw wrong(
        `seats "${player}", whom no setting names`,
        `${players.join(', ')}; --set players.${player}=past:10 names another`,
      );
  }
  const learns = (role: string): boolean =>
    seats?.isLearner({ ...seats.seated, ...own }[role] ?? LEARNER) ?? true;
  if (!world.roles.some(learns))
    throw wrong('leaves no role to a learner', `at least one role of ${world.roles.join(', ')}`);
}

/** Stands for the index of a task that has none. */
function hashOf(task: Json): string {
  const text = canonicalJson(task);
  return [1, 2].map((seed) => hash32(text, seed).toString(16).padStart(8, '0')).join('');
}

function placeUnknown(place: Place): TurnwiseError {
  return new TurnwiseError('place-unknown', {
    what: 'An episode is to start at a place of an earlier one that the run has not stored',
    seen: placeText(place),
    allowed: 'a place of a training episode whose key was in a memory in every step since',
    next: 'Keep the place in the memory of the source, as it is',
  });
}
