/**
 * A league: the learner meets earlier selves and other players of the run, most often those that it still loses to, and all of
 * them are rated. It is a source of tasks, so whatever it remembers is plain JSON in every checkpoint.
 *
 * After the league of AlphaStar (Vinyals et al. 2019). Deviations:
 * 1. One learner: there are no exploiters that learn against it.
 * 2. A group is one match. Its episodes differ by chance alone, so they move a rating once, by their mean.
 * 3. Opponents of a step are few, since each earlier self of a step is an engine.
 */

import { z } from 'zod';
import { badDefinition } from '../../../core/definition.ts';
import type { ByRole, Group, Role } from '../../../core/episode.ts';
import { isPlayedIn } from '../../../core/episode-key.ts';
import type { Rng } from '../../../core/rng.ts';
import { type DefinedTasks, defineTasks } from '../task-source.ts';
import { fictitiousShares, placeAt, sharesOf, WEIGHTINGS } from './draw.ts';
import { type Played, rated, winRate, withMatch } from './rating.ts';

const LEARNER = 'learner';
const FIRST_RATING = 1000;

/** Type aliases, since interfaces are not assignable to `Json`. */
type Member = Played & { readonly rating: number };
type Standing = { readonly rating: number; readonly members: Readonly<Record<string, Member>> };

/** A member of a league, as a rule for its weight sees it. */
export interface LeagueMember {
  /** `self@40` for the player `self` of the setting `players` as it was after step 40. */
  readonly name: string;
  readonly rating: number;
  /** The learner's points a game against it, from 0 to 1; 1/2 before their first game. */
  readonly winRate: number;
  /** Games against it, older ones weighing less. */
  readonly games: number;
}

export interface LeagueOptions {
  readonly every: number;
  readonly most: number;
  readonly selfPlay: number;
  readonly opponents: number;
  readonly weighting: (typeof WEIGHTINGS)[number];
  readonly power: number;
  readonly decay: number;
  readonly k: number;
}

const options = z.strictObject({
  every: z.int().min(1).default(10).describe('Steps from one snapshot of the learner to the next'),
  most: z.int().min(1).default(8).describe('Snapshots that are kept, the newest, beside the warm start'),
  selfPlay: z
    .number()
    .min(0)
    .max(1)
    .default(0.35)
    .describe('Share of the groups in which the learner plays every role'),
  opponents: z
    .int()
    .min(1)
    .default(2)
    .describe('Members that are drawn for a step; each earlier self among them is an engine'),
  weighting: z
    .enum(WEIGHTINGS)
    .default('hard')
    .describe('By the win rate x against a member: (1 - x)^power, x(1 - x), or all alike'),
  power: z.number().positive().default(2).describe('Exponent of the weighting hard'),
  decay: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .describe('What earlier matches against a member weigh after another one'),
  k: z.number().positive().default(32).describe('Most points by which a match moves an Elo rating'),
});

/** What a rule for the weights of members is told. */
export interface LeagueMoment {
  readonly members: readonly LeagueMember[];
  /** The learner's. */
  readonly rating: number;
  readonly step: number;
  readonly options: LeagueOptions;
  readonly rng: Rng;
}

export interface LeagueDefinition {
  readonly name: string;
  /** One line for people. */
  readonly summary?: string;
  /** How often each member is met: a weight of at least 0 for each, in their order. All 0 means all alike. */
  weigh(moment: LeagueMoment): readonly number[];
}

/**
 * Define a league with a rule of your own for how often each member is met. Everything else is as in `tasks=league`: snapshots of
 * the learner, ratings, roles in turn, and the options.
 *
 * @example
 * // Whoever has nearly the learner's rating is met most often.
 * export const peers = defineLeague({
 *   name: 'peers',
 *   weigh: ({ members, rating }) => members.map((member) => Math.exp(-Math.abs(member.rating - rating) / 100)),
 * });
 *
 * Use it with `--set tasks=./peers.ts`. Members are the snapshots, and the players that the setting `players` names and `seats`
 * seats nowhere: scripts, runs, endpoints.
 *
 * @throws TurnwiseError when it is used: `definition-invalid`, `definition-failed`
 */
export function defineLeague({ name, summary = '', weigh }: LeagueDefinition): DefinedTasks {
  const subject = `The league "${name}"`;
  const shares = (moment: LeagueMoment): readonly number[] => {
    const weights = weigh(moment);
    const isUsable =
      Array.isArray(weights) &&
      weights.length === moment.members.length &&
      weights.every((weight) => Number.isFinite(weight) && weight >= 0);
    if (isUsable) return sharesOf(weights);
    throw badDefinition(
      subject,
      'gives no usable weights',
      weights,
      'a number of at least 0 for each member',
    );
  };
  return defineTasks<LeagueOptions, Standing>({
    name,
    summary,
    options,
    seats: true,
    players: ({ every, most }) => ({ self: `past:${every}:${most}` }),
    start: () => ({ rating: FIRST_RATING, members: {} }),
    next({ step, round, wanted, members, tasks, players, roles, memory, options: own, rng }) {
      const all = players.map((player) =>
        asMember(player, memory.members[player] ?? newcomer(player, memory)),
      );
      if (all.length === 0)
        throw badDefinition(subject, 'has no members', players, 'players that are seated nowhere');
      const drawn = shares({
        members: all,
        rating: memory.rating,
        step,
        options: own,
        rng: rng.fork('weigh'),
      });
      const opponents = Array.from({ length: own.opponents }, () => all[placeAt(drawn, rng.next())]!.name);
      // By chance rounded up or down, so that the share holds for few groups, too.
      const alone = Math.floor(own.selfPlay * wanted + rng.next());
      return tasks.fresh(wanted).map((index, group) => {
        const match = group - alone;
        return {
          task: { split: 'train', index },
          members,
          seats:
            match < 0
              ? seatsOf(roles, LEARNER, LEARNER, 0)
              : seatsOf(
                  roles,
                  LEARNER,
                  opponents[match % opponents.length]!,
                  step + round + Math.floor(match / opponents.length),
                ),
        };
      });
    },
    remember: (groups, { memory, options: own, players }) =>
      afterMatches(memory, groups, { players, ...own }),
    metrics: ({ memory: { rating, members } }) => {
      const all = Object.entries(members);
      const met = all.filter(([, { games }]) => games > 0);
      return {
        rating,
        members: all.length,
        ...(met.length > 0 && {
          win_rate: met.reduce((sum, [, member]) => sum + winRate(member), 0) / met.length,
        }),
        ...Object.fromEntries(met.map(([player, member]) => [`rating/${player}`, member.rating])),
      };
    },
  });
}

/** Prioritised fictitious self-play. */
export const league: DefinedTasks = defineLeague({
  name: 'league',
  summary:
    'snapshots of the learner and other players as opponents, the hardest most often, all of them rated',
  weigh: ({ members, options: { weighting, power } }) =>
    fictitiousShares(
      members.map((member) => member.winRate),
      weighting,
      power,
    ),
});

/** The learner in one role, the other player in all others; roles are taken in turn. */
function seatsOf(roles: readonly Role[], learner: string, other: string, turn: number): ByRole<string> {
  return Object.fromEntries(
    roles.map((role, place) => [role, place === turn % roles.length ? learner : other]),
  );
}

const asMember = (name: string, { rating, games, points }: Member): LeagueMember => ({
  name,
  rating,
  winRate: winRate({ games, points }),
  games,
});

/** A snapshot is as strong as the learner now is; of others nothing is known. */
const newcomer = (name: string, { rating }: Standing): Member => ({
  games: 0,
  points: 0,
  rating: name.includes('@') ? rating : FIRST_RATING,
});

interface Matches extends Pick<LeagueOptions, 'decay' | 'k'> {
  /** Members from now on. */
  readonly players: readonly string[];
}

/** The standing after the matches of a step, with whoever is new and without those that are gone. */
export function afterMatches(
  before: Standing,
  groups: readonly Group[],
  { players, decay, k }: Matches,
): Standing {
  const members = new Map(Object.entries(before.members));
  let { rating } = before;
  for (const group of groups) {
    for (const [name, match] of matchesOf(group)) {
      const member = members.get(name);
      if (member === undefined && !players.includes(name)) continue;
      const known = member ?? newcomer(name, before);
      const [own, other] = rated(rating, known.rating, match.points / match.games, k);
      rating = own;
      members.set(name, { ...withMatch(known, match, decay), rating: other });
    }
  }
  const after = { rating, members: {} };
  return {
    rating,
    members: Object.fromEntries(
      players.map((player) => [player, members.get(player) ?? newcomer(player, after)]),
    ),
  };
}

/** The games of a group against each other player, and the learner's points from them. */
function matchesOf(group: Group): Map<string, Played> {
  const matches = new Map<string, Played>();
  // What a curation inserted was counted when it was played.
  for (const { seats, outcome } of group.members.filter((episode) => isPlayedIn(group, episode))) {
    const earned = new Map<string, number[]>();
    for (const [role, { player }] of Object.entries(seats))
      earned.set(player, [...(earned.get(player) ?? []), outcome[role] ?? 0]);
    const own = earned.get(LEARNER);
    if (own === undefined) continue;
    for (const [player, theirs] of earned) {
      if (player === LEARNER) continue;
      const lead = mean(own) - mean(theirs);
      const { games, points } = matches.get(player) ?? { games: 0, points: 0 };
      matches.set(player, { games: games + 1, points: points + (lead > 0 ? 1 : lead < 0 ? 0 : 0.5) });
    }
  }
  return matches;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
