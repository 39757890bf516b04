/** Which episodes or turns are compared: how examples of preference are made from the episodes of a task. */

import { promptOf } from '../../core/sample.ts';
import { actOf, type RoleGroup, type Trajectory } from '../../core/trajectory.ts';
import { agentQPairs, etoPair } from '../../objective/preference/pairs.ts';
import { withoutSampler } from '../kit/sampler-gap.ts';
import { type Example, turnSide, wholeSide } from './preferences.ts';

/** The best and the worst episode of every task in which they differ. */
export function bestAndWorst(groups: readonly RoleGroup[]): Example[] {
  return groups.flatMap(({ members }) => {
    const sorted = [...members].sort((a, b) => b.outcome - a.outcome);
    const [best, worst] = [sorted[0], sorted.at(-1)];
    if (!best || !worst || best.outcome === worst.outcome) return [];
    return [[wholeSide(best, best.outcome), wholeSide(worst, worst.outcome)] as const];
  });
}

/** Every episode on its own, worth 1 where it succeeded and -1 where it did not. */
export function judged(groups: readonly RoleGroup[]): Example[] {
  return groups
    .flatMap(({ members }) => members)
    .map((episode) => [wholeSide(episode, episode.success ? 1 : -1)] as const);
}

/** Episodes of a task two by two, in the order in which they were played. Equal rewards stay. */
export function twoByTwo(groups: readonly RoleGroup[], rewardScale: number): Example[] {
  const side = (episode: Trajectory) => wholeSide(episode, episode.outcome * rewardScale);
  return groups.flatMap(({ members }) =>
    members.flatMap((first, index) => {
      const second = members[index + 1];
      return index % 2 === 0 && second ? [[side(first), side(second)] as const] : [];
    }),
  );
}

/** An expert's episode of the same task against each that earned less or more; ties make no pair. */
export function againstExpert(members: readonly Trajectory[], expert: Trajectory): Example[] {
  return members.flatMap((episode) => {
    const preferred = etoPair(episode.outcome, expert.outcome);
    if (preferred === undefined) return [];
    const shown = wholeSide(expert, expert.outcome);
    const sides = [
      { ...shown, rows: withoutSampler(shown.rows) },
      wholeSide(episode, episode.outcome),
    ] as const;
    return [preferred === 'expert' ? sides : ([sides[1], sides[0]] as const)];
  });
}

/**
 * Siblings of a search tree: where episodes of a task saw exactly the same until a turn, the actions that they took there,
 * each worth the mean outcome of the episodes that took it, in pairs whose values differ by more than `threshold`.
 */
export function siblingTurns(members: readonly Trajectory[], threshold: number): Example[] {
  const nodes = new Map<string, Map<string, { episodes: Trajectory[]; turn: number }>>();
  for (const episode of members) {
    for (const { node, action, turn } of path(episode)) {
      const actions = nodes.get(node) ?? new Map<string, { episodes: Trajectory[]; turn: number }>();
      nodes.set(node, actions);
      const tried = actions.get(action) ?? { episodes: [], turn };
      actions.set(action, tried);
      tried.episodes.push(episode);
    }
  }
  return [...nodes.values()].flatMap((actions) => {
    const siblings = [...actions.values()];
    const values = siblings.map(
      ({ episodes }) => episodes.reduce((sum, { outcome }) => sum + outcome, 0) / episodes.length,
    );
    const side = (index: number) => {
      const { episodes, turn } = siblings[index]!;
      return turnSide(episodes[0]!, turn, values[index]!);
    };
    return agentQPairs(
      values.map((searched) => ({ searched, ranked: 0 })),
      { mixing: 1, threshold },
    ).map(([better, worse]) => [side(better), side(worse)] as const);
  });
}

/** For each turn, all that the policy had seen before it, and what it then sampled. */
function path({ turns, calls }: Trajectory): { node: string; action: string; turn: number }[] {
  return turns.flatMap((turn, index) => {
    const act = actOf(turn);
    if (act?.trainable !== true) return [];
    return [{ node: promptOf(act, calls).join(), action: act.ids.join(), turn: index }];
  });
}
