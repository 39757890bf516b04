import { expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import { madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { defineTasks } from '../../curation/tasks/task-source.ts';
import type { GroupToPlay } from '../../rollout/collect.ts';
import { batches } from '../batches/batches.ts';
import { openCurations, openPrompts, openTasks, openTurns } from '../config/catalogue.ts';
import { type TrainSettings, trainConfigSchema } from '../config/config.ts';
import { Archive } from '../kit/archive.ts';
import { type Learner, playOptions } from '../kit/learner.ts';
import { initialMemory } from './learn-step.ts';
import { stepActor } from './play-step.ts';

/** A learner whose recipe plays groups of given outcomes, told by the number of the group. */
function learnerOf(settings: TrainSettings, outcomes: (group: number) => number[]): Learner {
  const config = trainConfigSchema.parse({
    ...settings,
    rollout: { tasks: 2, group: 2, ...settings.rollout },
  });
  return {
    config,
    player: 'learner',
    others: [],
    tasks: openTasks(config.tasks),
    turns: openTurns(config.turns),
    curations: openCurations(config.curation),
    prompts: openPrompts(config.prompts),
    instruction: { text: '' },
    archive: new Archive(async () => []),
    world: { roles: ['agent'], maxTurns: 1, tasks: () => ({ size: Infinity, at: (index: number) => index }) },
    engine: { capabilities: { contextLength: 10 }, version: 1 },
    renderer: { stopIds: [] },
    recipe: {
      play: async (requests: readonly GroupToPlay[]): Promise<Group[]> =>
        requests.map(({ step, group, index: task, members }) => ({
          step,
          group,
          members: outcomes(group)
            .slice(0, members)
            .map((reward, member) =>
              playedEpisode(member, [{ reward }], { key: madeKey({ step, group, task, member }) }),
            ),
        })),
    },
  } as unknown as Learner;
}

const dynamic = (rounds: number): TrainSettings => ({ curation: { 'dynamic-sampling': { rounds } } });
const { signal } = new AbortController();
async function playOnce(learner: Learner, step = 1, memory = initialMemory(learner)) {
  const actor = stepActor(
    learner,
    () => memory,
    () => {},
  );
  const { config } = learner;
  const settings = { actor, groups: () => config.rollout.tasks, step: step - 1, last: () => step, parts: 1 };
  return actor.curate(await batches({ ...settings, ...config.batches }).next(signal));
}

test('rounds are played until a full batch of groups differs, and that batch is learned from', async () => {
  const learner = learnerOf(dynamic(5), (group) => (group % 3 === 2 ? [0, 1] : [1, 1]));
  const { played, learned } = await playOnce(learner);
  expect(played.map(({ step, group }) => [step, group])).toEqual(
    [0, 1, 2, 3, 4, 5].map((group) => [1, group]),
  );
  expect(learned.map(({ id }) => id)).toEqual(['1/2', '1/5']);
  expect(new Set(played.map(({ members }) => members[0]!.key.task)).size).toBe(6);
});

test('not more rounds than allowed, and without dynamic sampling one', async () => {
  expect((await playOnce(learnerOf(dynamic(2), () => [1, 1]))).played).toHaveLength(6);
  const { played, learned } = await playOnce(learnerOf({}, () => [1, 1]));
  expect(played).toHaveLength(2);
  expect(learned).toHaveLength(2);
});

test('curations see what those before them left', async () => {
  const settings = { curation: { 'dynamic-sampling': { rounds: 0 }, varied: { share: 0.5 } } };
  const outcomes = [
    [0, 1],
    [1, 1],
    [0, 4],
    [0, 2],
  ];
  const learner = learnerOf({ ...settings, rollout: { tasks: 4 } }, (group) => outcomes[group]!);
  // Half of the three that differ is two; of all four groups the same two would be left.
  expect((await playOnce(learner)).learned.map(({ id }) => id)).toEqual(['1/2', '1/3']);
  const other = learnerOf(
    { curation: { varied: { share: 0.5 }, 'dynamic-sampling': { rounds: 0 } }, rollout: { tasks: 4 } },
    (group) => [...outcomes.slice(1), [1, 1]][group]!,
  );
  expect((await playOnce(other)).learned.map(({ id }) => id)).toEqual(['1/1', '1/2']);
});

test('replay comes before dynamic sampling, whichever the settings name first: a failed group is worth learning from', async () => {
  const settings = { curation: { 'dynamic-sampling': { rounds: 3 }, 'success-replay': {} } };
  const learner = learnerOf(settings, (group) => (group === 0 ? [0, 0] : [0, 1]));
  const success = playedEpisode(0, [{ reward: 1 }], { key: madeKey({ group: 5 }) });
  const archive = new Archive(async () => [{ step: 1, group: 5, members: [success] }]);
  const first = initialMemory(learner);
  const memory = {
    ...first,
    curation: { ...first.curation, 'success-replay': [['train/0', [success.key]]] },
  };
  const again = { ...learner, archive, world: { ...learner.world, tasks: () => ({ size: 1, at: () => 0 }) } };
  const { learned, played } = await playOnce(again as Learner, 2, memory);
  expect(played).toHaveLength(2);
  expect(learned.map(({ members }) => members.map(({ id }) => id))).toEqual([
    ['2/0/1', '1/5/0'],
    ['2/1/0', '2/1/1'],
  ]);
});

test('a source is asked until it gives none, and scores what depends on other groups', async () => {
  const proposer = defineTasks({
    name: 'proposer',
    next: ({ round, groups }) =>
      round === 0
        ? [{ task: { task: { kind: 'propose' } }, members: 1 }]
        : round === 1
          ? [{ task: { task: { kind: 'solve', from: groups[0]!.members[0]!.key } }, members: 2 }]
          : [],
    scores: ([proposal, solved]) => {
      const rate = solved!.members.reduce((sum, { outcome }) => sum + outcome.agent!, 0) / 2;
      return new Map([[proposal!.members[0]!, { agent: 1 - rate }]]);
    },
  });
  const learner = {
    ...learnerOf({ rollout: { minimumMembers: 1 } }, (group) => (group === 0 ? [0] : [1, 0])),
    tasks: proposer.create(),
  };
  const { played, learned } = await playOnce(learner);
  expect(played.map(({ members }) => members.map(({ outcome }) => outcome.agent))).toEqual([[0.5], [1, 0]]);
  expect(played[0]!.members[0]!.scores).toEqual([{ by: 'uniform', rewards: { agent: 0.5 } }]);
  expect(learned[0]!.members[0]!.turns.at(-1)!.reward).toBe(0.5);
});

test('a source that never ends is stopped', async () => {
  const endless = defineTasks({
    name: 'endless',
    next: () => [{ task: { split: 'train', index: 0 }, members: 1 }],
  });
  const learner = { ...learnerOf({}, () => [1]), tasks: endless.create() };
  await expect(playOnce(learner)).rejects.toThrow('Source of tasks "endless" never gives no groups');
});

test('agents exchange roles every so many steps, and have no names where they never do', async () => {
  const { config, recipe, world, ...rest } = learnerOf({}, () => [1, 0]);
  const seen: unknown[] = [];
  const play: typeof recipe.play = async (requests, { names }) => {
    seen.push(names);
    return requests.map(({ step, group }) => ({ step, group, members: [] }));
  };
  const learner = (exchangeEvery: number): Learner => ({
    ...rest,
    world: { ...world, roles: ['first', 'second'] },
    config: { ...config, rollout: { ...config.rollout, exchangeEvery } },
    recipe: { ...recipe, play },
  });
  for (let step = 1; step <= 5; step++) await playOnce(learner(2), step);
  await playOnce(learner(0), 7);
  const own = { first: 'agent1', second: 'agent2' };
  const exchanged = { first: 'agent2', second: 'agent1' };
  expect(seen).toEqual([own, own, exchanged, exchanged, own, undefined]);
  // Evaluations have everyone in the first role.
  expect(playOptions(learner(2), signal).names).toEqual(own);
});

test('of a step that is asked for again, the groups that are named are played, with the tasks that they had', async () => {
  const learner = learnerOf({ rollout: { tasks: 4 }, batches: { order: 'ended' } }, () => [1, 0]);
  const actor = stepActor(
    learner,
    () => initialMemory(learner),
    () => {},
  );
  const ask = { step: 3, round: 0, wanted: 4, groups: [] };
  const tasksOf = async (only?: readonly number[]): Promise<unknown[]> => {
    const begun = await actor.play({ ...ask, ...(only && { only }) }, signal);
    const groups = await Promise.all(begun.map(({ ended }) => ended));
    return groups.map(({ group, members }, index) => [begun[index]!.group, group, members[0]!.key.task]);
  };
  const all = await tasksOf();
  expect(all).toHaveLength(4);
  expect(await tasksOf([3, 1])).toEqual([all[1], all[3]]);
  expect(await tasksOf([])).toEqual([]);
});

test('the weights of each learner have versions of their own', () => {
  const first = learnerOf({}, () => [1]);
  const second = { ...first, player: 'second', engine: { ...first.engine, version: 3 } };
  const actor = stepActor(
    { ...first, others: [second] },
    () => initialMemory(first),
    () => {},
  );
  expect([...actor.versions]).toEqual([
    ['learner', 1],
    ['second', 3],
  ]);
});
