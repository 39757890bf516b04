/** The episodes of one step: a round of tasks, and with dynamic sampling more rounds until enough groups say something. */

import { callDefinition } from '../../core/definition.ts';
import type { Group } from '../../core/episode.ts';
import { type RoleGroup, roleGroups } from '../../core/trajectory.ts';
import { informative, mostVaried } from '../../curation/informative.ts';
import type { TaskPool } from '../../curation/revisit.ts';
import { type CollectOptions, collectGroups, type GroupRequest } from '../../rollout/collect.ts';
import { playTrees } from '../../rollout/explore/play-trees.ts';
import { scoreGroups } from '../../rollout/score-groups.ts';
import { type Learner, playOptions, playsEpisodes } from '../kit/learner.ts';
import { placeValues } from '../kit/place-values.ts';
import { chooseTasks } from './tasks.ts';

/** @param step that asks, from 1 */
export async function playStep(
  learner: Learner,
  step: number,
  pool: TaskPool,
  io: { readonly signal: AbortSignal; readonly onEpisode: (done: number, total: number) => void },
): Promise<readonly Group[]> {
  const { config } = learner;
  if (!playsEpisodes(learner)) return [];
  const { resample } = config.curation;
  const play = playOf(learner);
  const groups: Group[] = [];
  for (let round = 0; round <= resample; round++) {
    if (round > 0 && informative(roleGroups(groups)).length >= wanted(learner)) break;
    const options = playOptions(learner, io.signal, step);
    const played = await play(chooseTasks(learner, step, round === 0 ? pool : [], round), {
      ...options,
      policyKey: config.rollout.policyKey,
      stopsAtVoidTurn: config.curation.voidTurns === 'stop',
      onEpisode: io.onEpisode,
    });
    groups.push(...(await scoreGroups(played, options)));
  }
  return groups;
}

/** How the recipe plays: as its explorer says, in a way of its own, or each episode from the start. */
function playOf(
  learner: Learner,
): (requests: readonly GroupRequest[], options: CollectOptions) => Promise<Group[]> {
  const { config, recipe } = learner;
  const { act } = recipe;
  if (!act) return recipe.play ?? collectGroups;
  const subject = `The explorer of recipe "${recipe.name}"`;
  const explorer = callDefinition(subject, () => act(config));
  const valuesOf = placeValues(learner);
  return (requests, options) =>
    playTrees(requests, { ...options, explorer, subject, ...(valuesOf && { valuesOf }) });
}

/** What of the usable groups is learned from. */
export function curate(
  learner: Pick<Learner, 'config' | 'world'>,
  groups: readonly RoleGroup[],
): readonly RoleGroup[] {
  const { resample, variedShare } = learner.config.curation;
  const chosen = resample > 0 ? informative(groups).slice(0, wanted(learner)) : groups;
  return mostVaried(chosen, variedShare);
}

/** Groups of a full batch: one for each task and role. */
function wanted({ config, world }: Pick<Learner, 'config' | 'world'>): number {
  return config.rollout.tasks * world.roles.length;
}
