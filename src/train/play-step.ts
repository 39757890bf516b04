/** The episodes of one step: a round of tasks, and with dynamic sampling more rounds until enough groups say something. */

import type { Group } from '../core/episode.ts';
import { type RoleGroup, roleGroups } from '../core/trajectory.ts';
import { informative, mostVaried } from '../curation/informative.ts';
import type { TaskPool } from '../curation/revisit.ts';
import { collectGroups } from '../rollout/collect.ts';
import { type Learner, playOptions, playsEpisodes } from './learner.ts';
import { chooseTasks } from './tasks.ts';

/** @param step that asks, from 1 */
export async function playStep(
  learner: Learner,
  step: number,
  pool: TaskPool,
  io: { readonly signal: AbortSignal; readonly onEpisode: (done: number, total: number) => void },
): Promise<readonly Group[]> {
  const { config, recipe } = learner;
  if (!playsEpisodes(learner)) return [];
  const { resample } = config.curation;
  const play = recipe.play ?? collectGroups;
  const groups: Group[] = [];
  for (let round = 0; round <= resample; round++) {
    if (round > 0 && informative(roleGroups(groups)).length >= wanted(learner)) break;
    groups.push(
      ...(await play(chooseTasks(learner, step, round === 0 ? pool : [], round), {
        ...playOptions(learner, io.signal, step),
        policyKey: config.rollout.policyKey,
        branching: config.branching,
        stopsAtVoidTurn: config.curation.voidTurns === 'stop',
        onEpisode: io.onEpisode,
      })),
    );
  }
  return groups;
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
