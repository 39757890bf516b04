import { expect, test } from 'vitest';
import type { Group } from '../../core/episode.ts';
import { madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import type { GroupRequest } from '../../rollout/collect.ts';
import { trainConfigSchema } from '../config/config.ts';
import { type Learner, playOptions } from '../kit/learner.ts';
import { curate, playStep } from './play-step.ts';

/** A learner whose recipe plays groups of given outcomes, told by the number of the group. */
function learnerOf(resample: number, outcomes: (group: number) => number[]): Learner {
  const config = trainConfigSchema.parse({ rollout: { tasks: 2, group: 2 }, curation: { resample } });
  return {
    config,
    world: { roles: ['agent'], maxTurns: 1, tasks: () => ({ size: Infinity, at: (index: number) => index }) },
    engine: { capabilities: { contextLength: 10 }, version: 1 },
    renderer: { stopIds: [] },
    recipe: {
      play: async (requests: readonly GroupRequest[]): Promise<Group[]> =>
        requests.map(({ step, group, index: task }) => ({
          step,
          group,
          members: outcomes(group).map((reward, member) =>
            playedEpisode(member, [{ reward }], { key: madeKey({ step, group, task, member }) }),
          ),
        })),
    },
  } as unknown as Learner;
}

const io = { signal: new AbortController().signal, onEpisode: () => {} };

test('rounds are played until a full batch of groups differs, and that batch is learned from', async () => {
  const learner = learnerOf(5, (group) => (group % 3 === 2 ? [0, 1] : [1, 1]));
  const groups = await playStep(learner, 1, [], io);
  expect(groups.map(({ step, group }) => [step, group])).toEqual(
    [0, 1, 2, 3, 4, 5].map((group) => [1, group]),
  );
  expect(curate(learner, roleGroups(groups)).map(({ id }) => id)).toEqual(['1/2', '1/5']);
  expect(new Set(groups.map(({ members }) => members[0]!.key.task)).size).toBe(6);
});

test('not more rounds than allowed, and without dynamic sampling one', async () => {
  const rounds = learnerOf(2, () => [1, 1]);
  expect(await playStep(rounds, 1, [], io)).toHaveLength(6);
  const plain = learnerOf(0, () => [1, 1]);
  const groups = await playStep(plain, 1, [], io);
  expect(groups).toHaveLength(2);
  expect(curate(plain, roleGroups(groups))).toHaveLength(2);
});

test('episodes that are learned from end at void turns where the run says so', async () => {
  for (const [voidTurns, stops] of [
    ['learn', false],
    ['mask', false],
    ['stop', true],
  ] as const) {
    const { config, recipe, ...rest } = learnerOf(0, () => [1, 0]);
    const seen: unknown[] = [];
    const play: typeof recipe.play = async (_requests, { stopsAtVoidTurn }) => {
      seen.push(stopsAtVoidTurn);
      return [];
    };
    const curation = { ...config.curation, voidTurns };
    await playStep({ ...rest, config: { ...config, curation }, recipe: { ...recipe, play } }, 1, [], io);
    expect(seen).toEqual([stops]);
  }
});

test('agents exchange roles every so many steps, and have no names where they never do', async () => {
  const { config, recipe, world, ...rest } = learnerOf(0, () => [1, 0]);
  const seen: unknown[] = [];
  const play: typeof recipe.play = async (_requests, { names }) => {
    seen.push(names);
    return [];
  };
  const learner = (exchangeEvery: number): Learner => ({
    ...rest,
    world: { ...world, roles: ['first', 'second'] },
    config: { ...config, rollout: { ...config.rollout, exchangeEvery } },
    recipe: { ...recipe, play },
  });
  for (let step = 1; step <= 5; step++) await playStep(learner(2), step, [], io);
  await playStep(learner(0), 7, [], io);
  const own = { first: 'agent1', second: 'agent2' };
  const exchanged = { first: 'agent2', second: 'agent1' };
  expect(seen).toEqual([own, own, exchanged, exchanged, own, undefined]);
  // Evaluations have everyone in the first role.
  expect(playOptions(learner(2), io.signal).names).toEqual(own);
});
