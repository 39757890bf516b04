/** The episodes of one step: round after round of what the source of tasks asks for, each looked at by the curations. */

import { badDefinition, callDefinition } from '../../core/definition.ts';
import type { ByRole, Episode, Group } from '../../core/episode.ts';
import { keyText } from '../../core/episode-key.ts';
import { Rng } from '../../core/rng.ts';
import { type Curated, curate } from '../../curation/curate.ts';
import { usableGroups } from '../../curation/usable.ts';
import { policyRoles } from '../../env/world.ts';
import { type CollectOptions, collectGroups, type GroupToPlay } from '../../rollout/collect.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { openExplorer } from '../../rollout/explore/explorers.ts';
import { playTrees } from '../../rollout/explore/play-trees.ts';
import { scoreGroups } from '../../rollout/score-groups.ts';
import { turnRules } from '../../rollout/turns/turn-control.ts';
import type { Actor, Batch } from '../batches/batches.ts';
import type { Begun } from '../batches/ended.ts';
import { limited } from '../batches/limited.ts';
import { isSynchronous } from '../config/batch-settings.ts';
import { type Learner, learnersOf, playOptions, playsEpisodes } from '../kit/learner.ts';
import { placeValues } from '../kit/place-values.ts';
import { playedBy } from '../kit/seats.ts';
import { staged } from '../kit/staged.ts';
import type { Memory } from './learn-step.ts';
import { countingTasks, freshTasks, groupsToPlay, seatable } from './requests.ts';
import { promptsOf } from './tell-prompts.ts';

/** Rounds of a step after which a source of tasks is not believed to come to an end. */
const MOST_ROUNDS = 100;

export interface Played extends Curated {
  /** As they were played, without those that were inserted. */
  readonly played: readonly Group[];
}

/** Plays what the source of tasks asks for, and tells what of it is learned from. */
export interface StepActor extends Actor {
  /** What the curations make of the groups of a batch. */
  curate(batch: Pick<Batch, 'step' | 'last' | 'groups'>): Promise<Played>;
}

/** @param memory what is remembered at the time when it is asked @param at the learner of a step */
export function stepActor(
  learner: Learner,
  memory: () => Memory,
  onEpisode: (done: number, total: number) => void,
  at: (step: number) => Learner = staged(learner),
): StepActor {
  const { config, archive, seats } = learner;
  const wayOf = oncePer(playOf);
  const synchronous = isSynchronous(config);
  const gate = synchronous ? undefined : limited(config.rollout.concurrency);
  const tasksBefore = countingTasks(at);
  const requestOf = new WeakMap<Group, () => Promise<Group>>();
  /** Of each step that is under way, the last round that played anything, the number of its first group, and what came of it. */
  const steps = new Map<
    number,
    { round: number; first: number; groups: readonly Group[]; chosen?: Curated }
  >();
  const curated = async (step: number, groups: readonly Group[]): Promise<Curated> => {
    const known = steps.get(step);
    if (!known) return nothing;
    if (known.chosen && isEqual(known.groups, groups)) return known.chosen;
    archive.add(groups);
    const { curations, config: own } = at(step);
    const chosen = await curate(groups, curations, {
      ...{ step, round: known.round, batch: own.rollout.tasks, seed: own.seed, memory: memory().curation },
      minimumMembers: own.rollout.minimumMembers,
      whole: own.batches.parts === 1,
      read: (keys) => archive.read(keys),
      ...(seats && { learned: (roles) => playedBy(roles, seats.isLearner) }),
    });
    steps.set(step, { ...known, groups, chosen });
    return chosen;
  };
  return {
    get versions() {
      return new Map(learnersOf(learner).map(({ player, engine }) => [player, engine.version]));
    },
    play: async ({ step, round, wanted, groups, only }, signal) => {
      if (!playsEpisodes(learner)) return [];
      const own = at(step);
      const { tasks } = own;
      const play = async (asked: readonly GroupToPlay[], options: CollectOptions) =>
        scoreGroups(await wayOf(own)(asked, options), options);
      const usable = usableGroups(groups);
      const first = steps.get(step)?.first ?? 0;
      const requests = tasks.next({
        ...{
          step,
          round,
          members: own.config.rollout.group,
          memory: memory().tasks,
          rng: Rng.of('tasks', config.seed, step, round),
          ...seatable(own, step),
        },
        wanted: round === 0 || !synchronous ? wanted : (await curated(step, groups)).wanted,
        groups: usable,
        latest: usable.filter(({ group }) => group >= first),
        tasks: freshTasks(own, tasksBefore(step), round),
      });
      if (requests.length === 0) return [];
      if (round === MOST_ROUNDS)
        throw badDefinition(tasks.subject, 'never gives no groups', requests, 'an end');
      steps.set(step, { round, first: groups.length, groups: [] });
      const promptOf = own.config.prompts.name === 'none' ? undefined : promptsOf(own, step, memory());
      const all = await groupsToPlay(own, requests, step, groups.length, promptOf);
      const asked = only ? all.filter(({ group }) => only.includes(group)) : all;
      const options = optionsOf(own, step, memory(), { signal, onEpisode });
      const { order, parts } = config.batches;
      if (order === 'asked' && parts === 1) return eachOf(asked, play(asked, gated(options, gate)));
      return asked.map((request) => {
        const again = async (): Promise<Group> => {
          const [group] = await play([request], gated(options, gate));
          requestOf.set(group!, again);
          return group!;
        };
        return { group: request.group, episodes: request.members, ended: again() };
      });
    },
    again: (group) => requestOf.get(group)!(),
    publish: async () => {
      for (const { engine } of learnersOf(learner)) await engine.publish();
    },
    curate: async ({ step, last: isLast, groups }) => {
      const chosen = await curated(step, groups);
      const scored = scoredGroups(at(step), groups, step, memory());
      const last = scored === groups ? chosen : await curated(step, scored);
      archive.add(last.groups);
      if (isLast) steps.delete(step);
      return { ...last, played: scored };
    },
  };
}

/** The same result for the same argument. */
function oncePer<In extends object, Out>(make: (of: In) => Out): (of: In) => Out {
  const made = new Map<In, Out>();
  return (of) => {
    const known = made.get(of) ?? make(of);
    made.set(of, known);
    return known;
  };
}

function isEqual(a: readonly Group[], b: readonly Group[]): boolean {
  return a.length === b.length && a.every((group, index) => group === b[index]);
}

/** Of groups that are played together, each. */
function eachOf(asked: readonly GroupToPlay[], played: Promise<readonly Group[]>): Begun[] {
  const groupAt = async (index: number): Promise<Group> => (await played)[index]!;
  return asked.map(({ group, members }, index) => ({ group, episodes: members, ended: groupAt(index) }));
}

/** The same play, with so many episodes under way at once in all. */
function gated(options: CollectOptions, gate: ReturnType<typeof limited> | undefined): CollectOptions {
  const { play = runEpisode } = options;
  return gate ? { ...options, play: (request, own) => gate(() => play(request, own)) } : options;
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
  { signal, onEpisode }: { signal: AbortSignal; onEpisode: (done: number, total: number) => void },
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
  const { config, recipe, world } = learner;
  const { act } = recipe;
  if (!act && recipe.play) return recipe.play;
  const subject = `The explorer of recipe "${recipe.name}"`;
  const explorer = act
    ? callDefinition(subject, () => act(config))
    : openExplorer(config.branching, policyRoles(world)[0]);
  if (!explorer) return collectGroups;
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
  const given = tasks.scores?.(usableGroups(groups), { step, memory: memory.tasks, rng });
  if (!given || given.size === 0) return groups;
  const scores = new Map([...given].map(([{ key }, rewards]) => [keyText(key), rewards]));
  return groups.map((group) => ({
    ...group,
    members: group.members.map((episode) => {
      const rewards = scores.get(keyText(episode.key));
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
