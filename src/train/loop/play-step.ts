/** The episodes of one step: round after round of what the source of tasks asks for, each looked at by the curations. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { ByRole, Episode, Group } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { type Curated, curate } from '../../curation/curate.ts';
import { isUsable, withMembers } from '../../curation/usable.ts';
import { type CollectOptions, collectGroups, type GroupToPlay } from '../../rollout/collect.ts';
import { playTrees } from '../../rollout/explore/play-trees.ts';
import { turnRules } from '../../rollout/turns/turn-control.ts';
import { type Learner, playOptions, playsEpisodes } from '../kit/learner.ts';
import { placeValues } from '../kit/place-values.ts';
import type { Memory } from './learn-step.ts';
import { freshTasks, groupsToPlay } from './requests.ts';

/** Rounds of a step after which a source of tasks is not believed to come to an end. */
const MOST_ROUNDS = 100;

export interface Played extends Curated {
  /** As they were played, without those that were inserted. */
  readonly played: readonly Group[];
}

/** @param step that asks, from 1 */
export async function playStep(
  learner: Learner,
  step: number,
  memory: Memory,
  io: { readonly signal: AbortSignal; readonly onEpisode: (done: number, total: number) => void },
): Promise<Played> {
  const { config, tasks, archive } = learner;
  const { tasks: batch, group: members } = config.rollout;
  const play = playOf(learner);
  const options = optionsOf(learner, step, memory, io);
  const curated = (groups: readonly Group[], round: number): Promise<Curated> =>
    curate(groups, learner.curations, {
      ...{ step, round, batch, seed: config.seed, memory: memory.curation },
      minimumMembers: config.rollout.minimumMembers,
      read: (keys) => archive.read(keys),
    });
  let played: readonly Group[] = [];
  let chosen = nothing;
  let round = 0;
  for (; playsEpisodes(learner); round++) {
    const requests = tasks.next({
      ...{ step, round, members, memory: memory.tasks, rng: Rng.of('tasks', config.seed, step, round) },
      wanted: round === 0 ? batch : chosen.wanted,
      groups: withMembers(played, isUsable),
      tasks: freshTasks(learner, step, round),
    });
    if (requests.length === 0) break;
    if (round === MOST_ROUNDS)
      throw badDefinition(tasks.subject, 'never gives no groups', requests, 'an end');
    const asked = await groupsToPlay(learner, requests, step, played.length);
    played = [...played, ...(await play(asked, options))];
    archive.add(played);
    chosen = await curated(played, round);
  }
  const scored = scoredGroups(learner, played, step, memory);
  if (scored !== played) chosen = await curated(scored, round - 1);
  archive.add(chosen.groups);
  return { ...chosen, played: scored };
}

const nothing: Curated = {
  groups: [],
  usable: { groups: [], failedEpisodes: 0, droppedGroups: 0 },
  learned: [],
  wanted: 0,
};

function optionsOf(
  learner: Learner,
  step: number,
  memory: Memory,
  { signal, onEpisode }: Parameters<typeof playStep>[3],
): CollectOptions {
  const { config, turns } = learner;
  const options = playOptions(learner, signal, step);
  return {
    ...options,
    policyKey: config.rollout.policyKey,
    turns: turnRules(turns, { step, memory: memory.turns, seed: config.seed, usual: options.maxTurns }),
    onEpisode,
  };
}

/** How the recipe plays: as its explorer says, in a way of its own, or each episode from the start. */
function playOf(
  learner: Learner,
): (requests: readonly GroupToPlay[], options: CollectOptions) => Promise<Group[]> {
  const { config, recipe } = learner;
  const { act } = recipe;
  if (!act) return recipe.play ?? collectGroups;
  const subject = `The explorer of recipe "${recipe.name}"`;
  const explorer = callDefinition(subject, () => act(config));
  const valuesOf = placeValues(learner);
  return (requests, options) =>
    playTrees(requests, { ...options, explorer, subject, ...(valuesOf && { valuesOf }) });
}

/** The groups with what the source of tasks says that episodes are worth besides. */
function scoredGroups(
  { config, tasks }: Pick<Learner, 'config' | 'tasks'>,
  groups: readonly Group[],
  step: number,
  memory: Memory,
): readonly Group[] {
  const rng = Rng.of('scores', config.seed, step);
  const usable = withMembers(groups, isUsable);
  const scores = tasks.scores?.(usable, { step, memory: memory.tasks, rng });
  if (!scores || scores.size === 0) return groups;
  return groups.map((group) => ({
    ...group,
    members: group.members.map((episode) => {
      const rewards = scores.get(episode);
      return rewards ? withScore(episode, config.tasks.name, rewards) : episode;
    }),
  }));
}

function withScore(episode: Episode, by: string, rewards: ByRole<number>): Episode {
  const outcome = Object.entries(episode.outcome).map(
    ([role, earned]) => [role, earned + (rewards[role] ?? 0)] as const,
  );
  return {
    ...episode,
    scores: [...(episode.scores ?? []), { by, rewards }],
    outcome: Object.fromEntries(outcome),
  };
}
