import { expect, test } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import { Rng } from '../../core/rng.ts';
import { madeGroup, madeKey, playedEpisode } from '../../core/testing/made-episodes.ts';
import type { GroupToPlay } from '../../rollout/collect.ts';
import { openTasks } from '../config/catalogue.ts';
import { trainConfigSchema } from '../config/config.ts';
import { Archive } from '../kit/archive.ts';
import type { Learner } from '../kit/learner.ts';
import { countingTasks, freshTasks, groupsToPlay } from './requests.ts';

const stored = madeGroup(
  playedEpisode(0, [{ reward: 0 }, { reward: 0 }, { reward: 1 }], { key: madeKey({ step: 2, task: 9 }) }),
);

function learner(size: number, share = 0): Learner {
  const config = trainConfigSchema.parse({
    rollout: { tasks: 4, group: 3 },
    tasks: { name: 'revisit', share },
  });
  const archive = new Archive(async () => []);
  archive.add([stored]);
  return {
    config,
    archive,
    tasks: openTasks(config.tasks),
    world: { name: 'made-up', tasks: () => ({ size, at: (index: number) => ({ index }) }) },
  } as unknown as Learner;
}

/** What a source that revisits tasks asks for. */
function chosen(of: Learner, step: number, pool: Json, round = 0): Promise<GroupToPlay[]> {
  const requests = of.tasks.next({
    ...{ step, round, wanted: 4, members: 3, groups: [], latest: [], memory: pool },
    rng: Rng.of('tasks', 1, step, round),
    ...{ roles: ['agent'], players: [] },
    tasks: freshTasks(of, countingTasks(() => of)(step), round),
  });
  return groupsToPlay(of, requests, step, round * 4);
}

const tasksOf = async (requests: Promise<GroupToPlay[]>): Promise<unknown[]> =>
  (await requests).map(({ index }) => index);

const ENDLESS = Number.POSITIVE_INFINITY;

test('endless sets give fresh tasks every step', async () => {
  expect(await tasksOf(chosen(learner(ENDLESS), 3, [5, 6]))).toEqual([8, 9, 10, 11]);
});

test('half of the tasks are taken from the pool when half is asked for, as far as it reaches', async () => {
  const half = learner(ENDLESS, 0.5);
  expect(new Set((await tasksOf(chosen(half, 3, [5, 6, 7]))).slice(0, 2)).size).toBe(2);
  expect(await tasksOf(chosen(half, 3, [5]))).toEqual([5, 9, 10, 11]);
});

test('small sets are gone through in shuffled epochs, the same for the same step', async () => {
  const small = learner(10);
  const steps = await Promise.all(
    Array.from({ length: 15 }, (_, index) => tasksOf(chosen(small, index + 1, []))),
  );
  const drawn = steps.flat();
  const epochs = [0, 1, 2, 3, 4, 5].map((epoch) => drawn.slice(10 * epoch, 10 * (epoch + 1)));
  for (const epoch of epochs)
    expect([...epoch].sort((a, b) => Number(a) - Number(b))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(new Set(epochs.map(String)).size).toBe(6);
  expect(await tasksOf(chosen(small, 2, []))).toEqual(drawn.slice(4, 8));
});

test('where stages change the number of tasks, each still comes once before any comes again', () => {
  const sizes = [4, 4, 2, 2, 4];
  const at = (step: number) => ({
    config: trainConfigSchema.parse({ rollout: { tasks: sizes[step - 1]! } }),
  });
  const { world } = learner(16);
  const before = countingTasks(at);
  const drawn = sizes.map((count, index) =>
    freshTasks({ ...at(index + 1), world }, before(index + 1), 0).fresh(count),
  );
  expect(new Set(drawn.flat()).size).toBe(16);
  // Whichever step is asked for first.
  expect(countingTasks(at)(5)).toBe(12);
});

test('a further round plays others, and what the pool gave changes none of the fresh ones', async () => {
  const small = learner(10);
  for (let step = 1; step <= 12; step++) {
    const own = await tasksOf(chosen(small, step, []));
    const further = await tasksOf(chosen(small, step, [], 1));
    expect([new Set(further).size, further.filter((task) => own.includes(task))]).toEqual([4, []]);
    // What is left comes before anything comes again.
    const third = await tasksOf(chosen(small, step, [], 2));
    expect(new Set([...own, ...further, ...third]).size).toBe(10);
  }
  const [first, second] = await Promise.all(
    [0, 1].map((round) => tasksOf(chosen(learner(ENDLESS), 1, [], round))),
  );
  expect(second!.filter((task) => first!.includes(task))).toEqual([]);
  const half = learner(10, 0.5);
  expect((await tasksOf(chosen(half, 1, [7, 8]))).slice(2)).toEqual(
    (await tasksOf(chosen(half, 1, []))).slice(2),
  );
  // In further rounds nothing comes again.
  expect(await tasksOf(chosen(half, 1, [7, 8], 1))).toEqual(await tasksOf(chosen(half, 1, [], 1)));
});

test('each task becomes a group of its own', async () => {
  expect((await chosen(learner(ENDLESS), 1, []))[2]).toEqual({
    step: 1,
    group: 2,
    split: 'train',
    index: 2,
    task: { index: 2 },
    members: 3,
  });
  expect((await chosen(learner(9), 1, [], 1)).map(({ group }) => group)).toEqual([4, 5, 6, 7]);
});

test('a made-up task goes by the hash of its JSON, whatever the order of its keys', async () => {
  const of = (task: Json) => groupsToPlay(learner(9), [{ task: { task }, members: 1 }], 1, 0);
  const [[first], [same], [other]] = await Promise.all([
    of({ a: 1, b: 2 }),
    of({ b: 2, a: 1 }),
    of({ a: 1 }),
  ]);
  expect(first).toMatchObject({ task: { a: 1, b: 2 }, split: 'train' });
  expect(first!.index).toMatch(/^[0-9a-f]{16}$/);
  expect(same!.index).toBe(first!.index);
  expect(other!.index).not.toBe(first!.index);
});

test('a place brings the task of its episode and what was done up to there', async () => {
  const at = (transition: number, key = stored.members[0]!.key) =>
    groupsToPlay(
      learner(9),
      [{ task: { place: { episode: key, transition } }, members: 2, maxTurns: 5 }],
      4,
      7,
    );
  const [group] = await at(1);
  expect(group).toMatchObject({ step: 4, group: 7, index: 9, split: 'train', members: 2, maxTurns: 5 });
  expect(group!.copied!.transitions).toHaveLength(2);
  expect(group!.copied!.calls.map(({ id }) => id)).toEqual([0, 1]);
  await expect(at(2)).rejects.toThrow(
    /does not go on\. Seen: 2\/0\/0#2\. Allowed: transition -1 \(its start\) to 1/,
  );
  await expect(at(0, madeKey({ step: 8 }))).rejects.toThrow(/that the run has not stored\. Seen: 8\/0\/0#0/);
});

test('a task that there is not is refused', async () => {
  const beyond = groupsToPlay(learner(9), [{ task: { split: 'train', index: 9 }, members: 1 }], 1, 0);
  await expect(beyond).rejects.toThrow('There is no train task 9 in made-up. Allowed: 0 to 8');
});
