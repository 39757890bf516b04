/** Stored episodes, scored anew by a file of the user's: nothing is sampled, and nothing that is stored changes. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Episode, Group, Role } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { mean } from '../../core/statistics.ts';
import type { GroupScore, ScoreContext, ScoreGroup } from '../../env/scores/group-scores.ts';
import { scoreGroups } from '../../rollout/score-groups.ts';
import { unwatched } from '../../rollout/watch.ts';
import { importFile } from '../load/import-file.ts';
import { askElsewhere } from '../model/ask-model.ts';

/** A score of one episode. As with `scoreGroup`, undefined says nothing about it. */
export type Score = (episode: Episode, context: ScoreContext) => GroupScore | Promise<GroupScore>;

/** One role of one stored episode. */
export interface Rescored {
  readonly step: number;
  readonly group: number;
  readonly member: number;
  readonly role: Role;
  readonly success: boolean;
  /** What it earned when it was played. */
  readonly recorded: number;
  /** Absent: the score said nothing about it, or failed, or the episode did not end well enough to be judged. */
  readonly score?: number;
  readonly failure?: string;
}

/**
 * What a file scores episodes with: its export `score`, of one of them, or `scoreGroup`, of all of a group.
 *
 * @throws TurnwiseError `file-unknown`, `file-unusable`
 */
export async function loadScore(path: string): Promise<ScoreGroup> {
  const file = resolve(path);
  if (!existsSync(file))
    throw new TurnwiseError('file-unknown', {
      what: `There is no file ${path}`,
      seen: file,
      fields: { path },
    });
  const exports = await importFile(path, file);
  const { score, scoreGroup } = exports;
  const isOne = typeof score === 'function';
  if (isOne === (typeof scoreGroup === 'function')) {
    throw new TurnwiseError('file-unusable', {
      what: `${path} must export one function that scores stored episodes`,
      seen: isOne ? 'score and scoreGroup' : `exports: ${Object.keys(exports).join(', ') || 'nothing'}`,
      allowed: 'score(episode, { signal, ask }), or scoreGroup(episodes, { signal, ask })',
      next: 'For example: export const score = (episode) => (episode.success.agent ? 1 : 0)',
      fields: { path },
    });
  }
  if (!isOne) return scoreGroup as ScoreGroup;
  return async (episodes, context) =>
    Promise.all(episodes.map((episode) => (score as Score)(episode, context)));
}

/**
 * The episodes of a group with the scores that the file gives them; those that failed are not judged.
 *
 * @param path names the file in messages
 */
export async function rescored(
  group: Group,
  scoreGroup: ScoreGroup,
  path: string,
  { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<Rescored[]> {
  const roles = [...new Set(group.members.flatMap(({ outcome }) => Object.keys(outcome)))];
  const [after] = await scoreGroups([group], {
    world: { name: path, roles, scoreGroup },
    turnTimeoutMs: timeoutMs,
    signal,
    watch: unwatched,
    askModel: askElsewhere(),
    concurrency: 1,
  });
  signal.throwIfAborted();
  return group.members.flatMap(({ key, outcome, success, scores = [], failure: before }, index) => {
    const { scores: all = [], failure } = after!.members[index]!;
    const given = all[scores.length]?.rewards;
    return Object.entries(outcome).map(([role, recorded]): Rescored => {
      const score = given?.[role];
      return {
        step: key.step,
        group: key.group,
        member: key.member,
        role,
        success: success[role] ?? false,
        recorded,
        ...(score !== undefined && { score }),
        ...(failure !== undefined && failure !== before && { failure }),
      };
    });
  });
}

/** What scores say about many episodes. An episode counts once, whatever the number of its roles. */
export interface ScoreSummary {
  readonly episodes: number;
  /** With a score of one of its roles. */
  readonly scored: number;
  readonly failed: number;
  /** Means over roles with a score; undefined where there are none. */
  readonly recorded: number | undefined;
  readonly score: number | undefined;
  readonly ofSuccesses: number | undefined;
  readonly ofFailures: number | undefined;
  /**
   * Of the pairs within a group that earned differently, the share that the scores put in the same order; equal scores
   * count half. One half is what a score would reach that knows nothing.
   */
  readonly sameOrder: number | undefined;
}

/** @param groups each as `rescored` gave it */
export function summaryOf(groups: readonly (readonly Rescored[])[]): ScoreSummary {
  const scored = groups.flat().filter(isScored);
  const scores = (success: boolean): number[] =>
    scored.filter((one) => one.success === success).map(({ score }) => score);
  const orders = groups.flatMap((group) => ordersIn(group.filter(isScored)));
  return {
    episodes: episodesIn(groups),
    scored: episodesIn(groups, isScored),
    failed: episodesIn(groups, ({ failure }) => failure !== undefined),
    recorded: meanOf(scored.map(({ recorded }) => recorded)),
    score: meanOf(scored.map(({ score }) => score)),
    ofSuccesses: meanOf(scores(true)),
    ofFailures: meanOf(scores(false)),
    sameOrder: meanOf(orders),
  };
}

const isScored = (one: Rescored): one is Rescored & { readonly score: number } => one.score !== undefined;

/** Episodes of which a role is meant. An evaluation plays the same keys twice, in groups of their own. */
function episodesIn(
  groups: readonly (readonly Rescored[])[],
  isMeant: (one: Rescored) => boolean = () => true,
): number {
  return groups.reduce((sum, roles) => {
    const keys = roles.filter(isMeant).map(({ step, group, member }) => `${step}/${group}/${member}`);
    return sum + new Set(keys).size;
  }, 0);
}

/** For each pair of one role that earned differently: 1 where the scores have the same order, a half where they are equal. */
function ordersIn(group: readonly (Rescored & { readonly score: number })[]): number[] {
  return group.flatMap((a, index) =>
    group.slice(index + 1).flatMap((b) => {
      const before = Math.sign(a.recorded - b.recorded);
      if (before === 0 || a.role !== b.role) return [];
      const now = Math.sign(a.score - b.score);
      return [now === before ? 1 : now === 0 ? 0.5 : 0];
    }),
  );
}

const meanOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : mean(values);
