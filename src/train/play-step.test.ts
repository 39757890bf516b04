import { expect, test } from 'vitest';
import type { Group, Trajectory } from '../core/trajectory.ts';
import { trainConfigSchema } from './config.ts';
import { type Learner, playOptions } from './learner.ts';
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
      play: async (requests: readonly { id: string; task: number }[]): Promise<Group[]> =>
        requests.map(({ id, task }) => {
          const given = outcomes(Number(id.split('/')[1]));
          return { id, task, members: given.map((outcome) => ({ outcome }) as unknown as Trajectory) };
        }),
    },
  } as unknown as Learner;
}

const io = { signal: new AbortController().signal, onEpisode: () => {} };

test('rounds are played until a full batch of groups differs, and that batch is learned from', async () => {
  const learner = learnerOf(5, (group) => (group % 3 === 2 ? [0, 1] : [1, 1]));
  const { groups, tasks } = await playStep(learner, 0, [], io);
  expect(groups.map(({ id }) => id)).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4', '0/5']);
  expect(curate(learner, groups).map(({ id }) => id)).toEqual(['0/2', '0/5']);
  expect(new Set(tasks.values()).size).toBe(6);
});

test('not more rounds than allowed, and without dynamic sampling one', async () => {
  expect(
    (
      await playStep(
        learnerOf(2, () => [1, 1]),
        0,
        [],
        io,
      )
    ).groups,
  ).toHaveLength(6);
  const plain = learnerOf(0, () => [1, 1]);
  const { groups } = await playStep(plain, 0, [], io);
  expect(groups).toHaveLength(2);
  expect(curate(plain, groups)).toHaveLength(2);
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
    await playStep({ ...rest, config: { ...config, curation }, recipe: { ...recipe, play } }, 0, [], io);
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
  for (let step = 0; step < 5; step++) await playStep(learner(2), step, [], io);
  await playStep(learner(0), 7, [], io);
  const own = { first: 'agent1', second: 'agent2' };
  const exchanged = { first: 'agent2', second: 'agent1' };
  expect(seen).toEqual([own, own, exchanged, exchanged, own, undefined]);
  // Evaluations have everyone in the first role.
  expect(playOptions(learner(2), io.signal).names).toEqual(own);
});
