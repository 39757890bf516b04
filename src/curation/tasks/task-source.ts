/** Task sources: what the groups of a step play. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { ByRole, Episode, Group, Place, Role, Split } from '../../core/episode.ts';
import { findNonJson, type Json } from '../../core/json/json.ts';
import { isMessage, type Message } from '../../core/messages.ts';
import {
  type At,
  type Defined,
  defineRemembering,
  type Now,
  type Remembering,
  type Remembers,
} from '../../core/remembers.ts';
import { isThenable } from '../../core/safe-text.ts';

/** A task of the environment's own. */
export interface TaskRef {
  readonly split: Split;
  readonly index: number;
}

/** A group of episodes: of a task, of one that was made up, or from a place of an earlier step. */
export interface GroupRequest {
  readonly task: TaskRef | { readonly task: Json } | { readonly place: Place };
  /** Episodes (G). */
  readonly members: number;
  /** Turns that each role has, where it is not for the turn control to say. */
  readonly maxTurns?: number;
  /** An instruction: messages that roles read before their first turns, or before the first after the place. */
  readonly say?: readonly Message[];
  /** Whether its episodes are learned from as if nobody had said that. Default: no. */
  readonly strip?: boolean;
  /**
   * Players of roles by name, `learner` or one of the setting `players`, in place of those that `seats` of the run names. At
   * least one role must be a learner's.
   */
  readonly seats?: ByRole<string>;
}

/** Whom a source may seat, and where. */
export interface Seatable {
  readonly roles: readonly Role[];
  /**
   * Players besides learners that the run seats nowhere by its settings. Of an earlier self `NAME=past:K`, each that is kept, with
   * the step: `NAME@0` is the warm start.
   */
  readonly players: readonly string[];
}

/** What a source knows when it is asked. */
export interface Round extends Seatable {
  /** Of the step, from 0. */
  readonly round: number;
  /** Groups that are wanted: in round 0 `rollout.tasks`, then what curation still wants, which may be 0. */
  readonly wanted: number;
  /** Episodes of a group, as `rollout.group` says. */
  readonly members: number;
  /** What earlier rounds of the step played, without episodes that failed. */
  readonly groups: readonly Group[];
  /** Those of them that the round before played. */
  readonly latest: readonly Group[];
  readonly tasks: {
    /** Training tasks of the environment; may be Infinity. */
    readonly size: number;
    /**
     * The tasks of this round: up to `rollout.tasks` of them, the same however often it is asked. Those of the first rounds go
     * through the set in shuffled epochs, each task once before any comes again. A further round has none that the step had, while
     * there are others.
     */
    fresh(count: number): readonly number[];
    /** What the environment says to help with a training task: more of it at higher levels, from 1. Undefined: nothing. */
    guidance?(task: number, level: number): string | undefined;
  };
}

export interface TaskSource<O extends object, M extends Json> extends Remembers<O, M> {
  /** Whether it asks for places. Refused where none can be opened. */
  readonly places?: true;
  /** Whether it seats players. Refused for agents, and for recipes that need the learner in every role. */
  readonly seats?: true;
  /** Whether it asks for guidance. Refused for environments that have none. */
  readonly guides?: true;
  /** Players that it brings, as the setting `players` names them. Those of the settings go first where names are the same. */
  players?(options: O): Readonly<Record<string, string>>;
  /** As every definition remembers; it is also told whom the next step may seat. */
  remember?(groups: readonly Group[], at: At<O, M> & Seatable): M;
  /** Figures of its memory after a step, for the event of the step under `tasks/`. */
  metrics?(at: At<O, M>): Readonly<Record<string, number>>;
  /** The groups of a round. Asked round after round until it gives none. */
  next(at: At<O, M> & Round): readonly GroupRequest[];
  /** Once all rounds are over: rewards that depend on other groups, such as a proposer's. They are added to the outcomes. */
  scores?(groups: readonly Group[], at: At<O, M>): ReadonlyMap<Episode, ByRole<number>>;
}

/** What `defineTasks` returns. */
export interface DefinedTasks extends Defined<'tasks', Tasks> {
  readonly places: boolean;
  readonly seats: boolean;
  readonly guides: boolean;
}

/** A task source with its options. */
export interface Tasks extends Omit<Remembering, 'remember'> {
  /** @throws TurnwiseError `definition-invalid`, `definition-failed` */
  remember(groups: readonly Group[], now: Now & Seatable): Json;
  /** Of this source, as the setting `players` names them. */
  readonly players: Readonly<Record<string, string>>;
  metrics(now: Now): Readonly<Record<string, number>>;
  next(now: Now & Round): readonly GroupRequest[];
  readonly scores?: (groups: readonly Group[], now: Now) => ReadonlyMap<Episode, ByRole<number>>;
}

/**
 * Define a task source: what a step plays, how many times, and from where.
 *
 * `next` is asked round after round until it gives no groups, so that later groups may depend on earlier ones of the step.
 * A group plays a task of the environment, a task that the source made up, or goes on from a `place` of an earlier episode:
 * its calls up to there are copied and not trained on. Places need a pure environment,
 * in this process or behind a `turnwise:` address.
 *
 * @example
 * // Tasks that a whole group solved are played less often.
 * export const hard = defineTasks({
 *   name: 'hard',
 *   summary: 'fresh tasks, more episodes of them as fewer succeed',
 *   options: z.strictObject({ most: z.int().min(2).default(16).describe('Episodes of a task that nobody solves') }),
 *   start: () => ({ rate: 0 }),
 *   next: ({ wanted, tasks, memory, options }) =>
 *     tasks.fresh(wanted).map((index) => ({
 *       task: { split: 'train', index },
 *       members: Math.max(2, Math.round(options.most * (1 - memory.rate))),
 *     })),
 *   remember: (groups) => {
 *     const played = groups.flatMap(({ members }) => members);
 *     return { rate: played.filter(({ success }) => success.agent).length / Math.max(1, played.length) };
 *   },
 * });
 *
 * Use it with `--set tasks=./hard.ts --set tasks.most=8`, or in code with `settings: { tasks: { name: hard, most: 8 } }`.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`, `place-unknown`
 */
export function defineTasks<O extends object = Record<never, never>, M extends Json = null>(
  definition: TaskSource<O, M>,
): DefinedTasks {
  const { places = false, seats = false, guides = false } = definition;
  const defined = defineRemembering(
    'tasks',
    definition,
    ({ at, subject, options }): Omit<Tasks, keyof Remembering> => ({
      players: checkedPlayers(callDefinition(subject, () => definition.players?.(options)) ?? {}, subject),
      metrics: (now) =>
        checkedMetrics(callDefinition(subject, () => definition.metrics?.(at(now))) ?? {}, subject),
      next: ({ round, wanted, members, groups, latest, tasks, players, roles, ...now }) => {
        const requests = callDefinition(subject, () =>
          definition.next({ ...at(now), round, wanted, members, groups, latest, tasks, players, roles }),
        );
        if (!Array.isArray(requests))
          throw badDefinition(
            subject,
            'must give a list of groups',
            requests,
            'an array, which may be empty',
          );
        for (const request of requests) requireRequest(request, { places, seats }, subject);
        return requests;
      },
      ...(definition.scores && {
        scores: (groups, now) =>
          checkedScores(
            callDefinition(subject, () => definition.scores?.(groups, at(now))),
            groups,
            subject,
          ),
      }),
    }),
  );
  return { ...defined, places, seats, guides };
}

const isRecordOf = (value: unknown, holds: (entry: unknown) => boolean): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(holds);

function checkedPlayers(
  players: Readonly<Record<string, string>>,
  subject: string,
): Readonly<Record<string, string>> {
  if (isRecordOf(players, (one) => typeof one === 'string')) return players;
  throw badDefinition(subject, 'brings something else than players', players, '{ name: "past:10" }');
}

function checkedMetrics(
  metrics: Readonly<Record<string, number>>,
  subject: string,
): Readonly<Record<string, number>> {
  if (isRecordOf(metrics, Number.isFinite)) return metrics;
  throw badDefinition(subject, 'has metrics that are no numbers', metrics, '{ name: finite number }');
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 1;

const isSeating = (seats: unknown): boolean =>
  typeof seats === 'object' &&
  seats !== null &&
  !Array.isArray(seats) &&
  Object.values(seats).every((name) => typeof name === 'string');

function requireRequest(
  request: GroupRequest,
  declared: Pick<DefinedTasks, 'places' | 'seats'>,
  subject: string,
): void {
  const wrong = (problem: string, allowed: string) => badDefinition(subject, problem, request, allowed);
  const { task, members, maxTurns, say, seats } = (request ?? {}) as Partial<GroupRequest>;
  if (!isCount(members)) throw wrong('asks for a group without members', 'members: a whole number from 1');
  if (maxTurns !== undefined && !isCount(maxTurns))
    throw wrong('asks for a group without turns', 'maxTurns: a whole number from 1');
  if (say !== undefined && !(Array.isArray(say) && say.every(isMessage)))
    throw wrong('says something that is no message', 'say: messages, { role, content } each');
  if (seats !== undefined) {
    if (!declared.seats) throw wrong('seats players and does not say so', 'seats: true in its definition');
    if (!isSeating(seats))
      throw wrong('seats something else than players', 'seats: { role: name of a player }');
  }
  if (typeof task !== 'object' || task === null || isThenable(task))
    throw wrong('asks for a group without a task', '{ split, index }, { task } or { place }');
  if ('place' in task) {
    if (!declared.places)
      throw wrong('asks for a place and does not say so', 'places: true in its definition');
  } else if ('task' in task) {
    const strange = findNonJson(task.task);
    if (strange !== undefined) throw wrong(`made up a task that is not JSON, at ${strange}`, 'plain JSON');
  } else if (!(Number.isInteger(task.index) && task.index >= 0) || typeof task.split !== 'string') {
    throw wrong('asks for a task that is not named', 'split: "train", index: a whole number from 0');
  }
}

function checkedScores(
  scores: unknown,
  groups: readonly Group[],
  subject: string,
): ReadonlyMap<Episode, ByRole<number>> {
  const known = new Set(groups.flatMap(({ members }) => members));
  const isScore = ([episode, rewards]: [Episode, ByRole<number>]): boolean =>
    known.has(episode) && Object.values(rewards).every(Number.isFinite);
  if (scores instanceof Map && [...(scores as Map<Episode, ByRole<number>>)].every(isScore)) return scores;
  throw badDefinition(
    subject,
    'scores something else than its episodes',
    scores,
    'a Map from episodes of the groups to finite rewards by role',
  );
}
