/** How much a step of a run computes, judged by demonstrations: counted in tokens and episodes, before anything is computed. */

import type { Group } from '../../core/episode.ts';
import { samplesOfTrajectory } from '../../core/sample.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { callsOf } from '../../synth/demonstrations.ts';
import { renderDemonstrations } from '../../synth/render-calls.ts';
import type { Learner } from '../../train/kit/learner.ts';

export interface Workload {
  /** Episodes of a step, and the tasks that they play. */
  readonly episodes: number;
  readonly tasks: number;
  /** Of an episode, in tokens: what it begins with, what a later turn shows it, and what it writes in a turn. */
  readonly opening: number;
  /** Tokens that all episodes begin with: part of the opening. */
  readonly common: number;
  readonly shown: number;
  readonly written: number;
  /** Turns of an episode. */
  readonly turns: number;
  /** The longest sequence that was seen. */
  readonly longest: number;
}

/** An episode as long as its prompts allow, where no demonstration was played. */
const UNSEEN = { opening: 200, shown: 40, turns: 4 } as const;

/** The work of one step. Demonstrated episodes stand for those of the policy, which are longer while it fails. */
export function workloadOf(
  { config, renderer, world }: Pick<Learner, 'config' | 'renderer' | 'world'>,
  demonstrations: readonly Group[],
): Workload {
  const { tasks, group } = config.rollout;
  const step = { episodes: tasks * group, tasks };
  const most = config.rollout.maxTurns || world.maxTurns;
  const written = config.clone.steps > 0 ? renderer.maxTurnTokens / 2 : renderer.maxTurnTokens;
  const episodes = demonstrations.map((each) => renderDemonstrations(each, renderer));
  const calls = episodes.flatMap(callsOf);
  if (calls.length === 0) {
    const turns = Math.min(most, UNSEEN.turns);
    const { opening, shown } = UNSEEN;
    const longest = opening + turns * (shown + written);
    return { ...step, opening, common: 0, shown, written, turns, longest };
  }
  const first = calls.filter(({ parent }) => parent === undefined);
  const later = calls.filter(({ parent }) => parent !== undefined);
  const lengths = roleGroups(episodes)
    .flatMap(({ members }) => members)
    .flatMap((trajectory) => samplesOfTrajectory(trajectory, () => true))
    .map(({ ids_T }) => ids_T.length);
  return {
    ...step,
    opening: meanOf(first.map(({ context }) => context.length)),
    common: commonLength(first.map(({ context }) => context)),
    shown: meanOf(later.map(({ context }) => context.length)),
    written,
    turns: calls.length / episodes.length,
    longest: Math.max(...lengths),
  };
}

/** How many items all lists begin with. */
function commonLength(lists: readonly ArrayLike<number>[]): number {
  const [first, ...others] = lists;
  let length = 0;
  while (first && length < first.length && others.every((list) => list[length] === first[length])) length++;
  return length;
}

function meanOf(numbers: readonly number[]): number {
  return numbers.length === 0 ? 0 : numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
}
