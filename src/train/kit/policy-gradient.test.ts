import { expect, test } from 'vitest';
import type { Choice, Episode } from '../../core/episode.ts';
import type { StopReason } from '../../core/stop.ts';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { keepUsable } from '../../curation/usable.ts';
import { type FakeEngine, fakeEngine } from '../../testing/fake-engine.ts';
import type { TrainSettings } from '../config/config.ts';
import { learnerOn, learnOnce } from '../learner-on.test-helper.ts';
import { initialMemory } from '../loop/learn-step.ts';

/** One turn; its only sampled token is the number of the episode. */
const episode = (number: number, reward: number, stop: StopReason = 'done'): Episode =>
  playedEpisode(number, [{ written: [number], reward, call: { context: [4] } }], { stop });

async function learnFrom(
  members: readonly Episode[],
  settings: TrainSettings = {},
): Promise<{ readonly engine: FakeEngine; readonly metrics: Readonly<Record<string, number>> }> {
  const engine = fakeEngine();
  const groups = roleGroups([madeGroup(...members)]);
  const learner = learnerOn(engine, 'rloo', { optimizer: { minibatches: 1 }, ...settings });
  const { metrics } = await learnOnce(learner, keepUsable(groups, 2).groups);
  return { engine, metrics };
}

/** Trained token -> advantage, and its weight. */
const lessons = ({ learned }: FakeEngine): ReadonlyMap<number, readonly [number, number]> =>
  new Map(
    learned.flatMap(({ rows, targets: { row_N, position_N, channels } }) =>
      Array.from(row_N, (row, target) => [
        rows[row]!.ids_T[position_N[target]!]!,
        [channels.advantages![target]!, channels.weight![target]!],
      ]),
    ),
  );

test('a failed, late or cancelled episode changes neither the baseline nor the loss, whatever it earned', async () => {
  const usable = [episode(10, 1), episode(11, 0), episode(12, 0)];
  const failed = (['failed:environment', 'timeout', 'cancelled', 'failed:tool'] as const).map((stop, index) =>
    episode(20 + index, 1000, stop),
  );
  const alone = await learnFrom(usable);
  const together = await learnFrom([
    failed[0]!,
    usable[0]!,
    failed[1]!,
    usable[1]!,
    failed[2]!,
    usable[2]!,
    failed[3]!,
  ]);
  const third = expect.closeTo(1 / 3, 6);
  expect(lessons(alone.engine)).toEqual(
    new Map([
      [10, [1, third]],
      [11, [-0.5, third]],
      [12, [-0.5, third]],
    ]),
  );
  expect(together.engine.learned).toEqual(alone.engine.learned);
  expect(together.metrics).toEqual(alone.metrics);
});

test('the same mistake without curation would be seen by this test', async () => {
  const engine = (await learnFrom([episode(10, 1), episode(11, 0), episode(20, 1000)])).engine;
  expect(lessons(engine).get(10)![0]).toBe(-499);
});

test('samples that teach nothing are left out of the passes, unless entropy or KL counts them', async () => {
  const equal = [episode(10, 1), episode(11, 1)];
  expect((await learnFrom(equal)).engine.learned).toEqual([]);
  const counted = await learnFrom(equal, { objective: { entropyCoefficient: 0.01 } });
  expect([...lessons(counted.engine).keys()].sort()).toEqual([10, 11]);
});

test('the history of entropies goes on after a stage without smoothing', async () => {
  let entropy = 0;
  const engine = fakeEngine({
    score: async ({ rows }) => {
      const each = (number: number) => rows.map(({ ids_T }) => new Float32Array(ids_T.length).fill(number));
      return { logprobs: each(-1), entropies: each(entropy) };
    },
  });
  const groups = keepUsable(roleGroups([madeGroup(episode(10, 1), episode(11, 0))]), 2).groups;
  let memory = initialMemory(learnerOn(engine, 'epo'));
  const historyOf = async (entropySmoothing: number, now: number) => {
    entropy = now;
    const learner = learnerOn(engine, 'epo', { objective: { entropySmoothing } });
    const update = await learnOnce(learner, groups, { step: 0, planned: 3 }, memory);
    memory = { ...memory, ...update.memory };
    return update.memory.recipe;
  };
  const first = { entropies: [{ mean: 1, iterations: 1 }] };
  expect(await historyOf(1, 1)).toEqual(first);
  expect(await historyOf(0, 9)).toEqual(first);
  expect(await historyOf(1, 2)).toEqual({ entropies: [{ mean: 1.5, iterations: 2 }] });
});

test('each part of an epoch is one optimizer step, and every sample is in each epoch once', async () => {
  const members = Array.from({ length: 7 }, (_, index) => episode(10 + index, index));
  const { engine } = await learnFrom(members, { optimizer: { minibatches: 3, epochs: 2 } });
  expect(engine.learned).toHaveLength(6);
  const seen = (parts: FakeEngine['learned']): number[] =>
    parts
      .flatMap(({ rows }) => rows)
      .map(({ ids_T }) => ids_T[1]!)
      .sort();
  // The fourth earned the mean and has nothing to teach.
  expect(seen(engine.learned.slice(0, 3))).toEqual([10, 11, 12, 14, 15, 16]);
  expect(seen(engine.learned.slice(3))).toEqual([10, 11, 12, 14, 15, 16]);
});

/** Lessons of a group whose trajectories have these choices. */
async function learnChosen(
  rewards: readonly number[],
  choices: readonly (Choice | undefined)[],
): Promise<ReadonlyMap<number, readonly [number, number]>> {
  const engine = fakeEngine();
  const [group] = roleGroups([madeGroup(...rewards.map((reward, index) => episode(10 + index, reward)))]);
  const members = group!.members.map((member, index) => {
    const choice = choices[index];
    return choice ? { ...member, choice } : member;
  });
  const learner = learnerOn(engine, 'rloo', { optimizer: { minibatches: 1 } });
  await learnOnce(learner, [{ ...group!, members }]);
  return lessons(engine);
}

test('an episode that curation keeps out of the loss sets baselines and is not counted in the mean', async () => {
  const masked = { inBaseline: true, inLoss: false, weight: 1 };
  expect(await learnChosen([1, 0, 0], [undefined, undefined, masked])).toEqual(
    new Map([
      [10, [1, 0.5]],
      [11, [-0.5, 0.5]],
    ]),
  );
});

test('weights multiply the loss, and weight 0 is out of it', async () => {
  const weighed = (weight: number, ...weights_K: number[]) => ({
    inBaseline: true,
    inLoss: true,
    weight,
    weights_K,
  });
  expect(await learnChosen([1, 0, 0], [weighed(0.5, 1), weighed(2, 3), weighed(1, 0)])).toEqual(
    new Map([
      [10, [1, 0.25]],
      [11, [-0.5, 3]],
    ]),
  );
  await expect(learnChosen([1, 0], [weighed(1, 1, 1), undefined])).rejects.toThrow(
    /weighs another number of turns than .* has\. Seen: 2 weights\. Allowed: 1/,
  );
});
