/** Episodes as a reward model reads them: each role by its conversations, and by what each of its turns added. */

import type { Episode, Role } from '../../core/episode.ts';
import type { ConversationRow, Row } from '../../data/row.ts';
import { rowsOfEpisode } from '../../data/rows-of-episode.ts';
import { type AnswerPlace, answerPlaces } from './answer-places.ts';

/** A conversation that was read: its reward before the first answer and after each of them. */
export interface Reading {
  readonly reward_K1: readonly number[];
  /** Of the conversation. */
  readonly tokens: number;
  /** Its end was not read. */
  readonly cut: boolean;
}

/** What was read of a role of an episode. */
export interface RoleReading {
  readonly conversations: readonly Reading[];
  /** By how much the reward rose with each of its turns. */
  readonly rises_K: readonly number[];
}

interface RoleRows {
  readonly role: Role;
  readonly rows: readonly ConversationRow[];
  /** With which answer each of its turns ended; undefined of a turn without one. */
  readonly ends_K: readonly (AnswerPlace | undefined)[];
}

/** A role that no episode has: the rows of several roles say whose they are, and which call each answer is. */
const NOBODY = '';

/** The roles of episodes that said something. The episodes have all their calls themselves, as `scoreGroup` is given them. */
export async function readRoles(
  episodes: readonly Episode[],
  read: (rows: readonly Row[]) => Promise<readonly Reading[]>,
): Promise<Readonly<Record<Role, RoleReading>>[]> {
  const roles_I = episodes.map(rowsOfRoles);
  const readings = await read(roles_I.flat().flatMap(({ rows }) => rows));
  let next = 0;
  return roles_I.map((roles) =>
    Object.fromEntries(
      roles.map(({ role, rows, ends_K }) => {
        const conversations = readings.slice(next, next + rows.length);
        next += rows.length;
        return [role, { conversations, rises_K: risesOfTurns(conversations, ends_K) }];
      }),
    ),
  );
}

function rowsOfRoles({ branchedFrom: _, ...episode }: Episode): RoleRows[] {
  const several = { ...episode, outcome: { ...episode.outcome, [NOBODY]: 0 } };
  const all = rowsOfEpisode(several, episode, { kind: 'run' });
  return Object.keys(episode.outcome).flatMap((role): RoleRows[] => {
    const rows = all.filter(({ source }) => source.role === role);
    if (rows.length === 0) return [];
    const acts = episode.transitions.flatMap((turn) => (turn.role === role ? [turn.call] : []));
    const answers = answerPlaces(rows, episode.calls);
    // Without a turn, all that it said is one.
    const ends = acts.length === 0 ? [rows.at(-1)!.source.turns!.at(-1)] : acts;
    const ends_K = ends.map((call) => (call === undefined ? undefined : answers.get(call)));
    return [{ role, rows, ends_K }];
  });
}

/** By how much the reward of a conversation rose with each answer. */
export const risesOf = ({ reward_K1 }: Reading): number[] =>
  reward_K1.slice(1).map((reward, k) => reward - reward_K1[k]!);

/** By how much it rose from where one turn ended to where the next one did; at first from the opening. */
function risesOfTurns(
  conversations: readonly Reading[],
  ends_K: readonly (AnswerPlace | undefined)[],
): number[] {
  const first = ends_K.find((end) => end !== undefined);
  let before = first ? conversations[first.conversation]!.reward_K1[0]! : 0;
  return ends_K.map((end) => {
    if (end === undefined) return 0;
    const after = conversations[end.conversation]!.reward_K1[end.answer + 1]!;
    const rise = after - before;
    before = after;
    return rise;
  });
}
