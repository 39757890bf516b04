import { expect, test } from 'vitest';
import { madeGroup, playedEpisode } from '../../core/testing/made-episodes.ts';
import { roleGroups } from '../../core/trajectory.ts';
import type { Trainer } from './trainer.ts';
import { truthProbabilities } from './truth-probabilities.ts';

/** Scores the token at position t with -t / 10, and knows texts as lists of ids. */
function trainerWith(truths: readonly string[], contextLength = 99) {
  const rows: number[][] = [];
  const trainer = {
    contextLength,
    truth: () => truths,
    renderer: { completionIds: (text: string) => text.split(' ').map(Number) },
    policy: {
      score: async (asked: readonly Int32Array[]) => {
        rows.push(...asked.map((row) => [...row]));
        return { logprobs: asked.map((row) => Float32Array.from(row, (_, token) => -token / 10)) };
      },
    },
  };
  return { trainer: trainer as unknown as Trainer, rows };
}

const trajectoriesOf = (...turns: Parameters<typeof playedEpisode>[1][number][]) =>
  roleGroups([madeGroup(playedEpisode(0, turns))])[0]!.members;

test('the truth stands in place of what was sampled, after the prompt of every turn', async () => {
  const { trainer, rows } = trainerWith(['7 8']);
  const [facts] = await truthProbabilities.find(trainer, trajectoriesOf({ written: 2 }, { written: 1 }));
  expect(rows).toEqual([
    [0, 7, 8],
    [0, 100, 101, 1, 7, 8],
  ]);
  const [first, second] = facts!.map(({ answerProbability }) => answerProbability!);
  expect(first).toBeCloseTo(Math.exp((-0.1 - 0.2) / 2), 6);
  expect(second).toBeCloseTo(Math.exp((-0.4 - 0.5) / 2), 6);
  expect(facts!.map(({ informationGain }) => informationGain)).toEqual([undefined, undefined]);
});

test('a window begins a path of its own, with its own prompt', async () => {
  const { trainer, rows } = trainerWith(['7']);
  await truthProbabilities.find(trainer, trajectoriesOf({ written: 2 }, { anew: true }));
  expect(rows).toEqual([
    [0, 7],
    [1, 7],
  ]);
});

test('of several truths the likeliest counts', async () => {
  const { trainer } = trainerWith(['7 8 9', '7']);
  const [facts] = await truthProbabilities.find(trainer, trajectoriesOf({}));
  expect(facts![0]!.answerProbability).toBeCloseTo(Math.exp(-0.1), 6);
});

test('nothing is gained where there is no truth, no room, or a turn of somebody else', async () => {
  const without = trainerWith([]);
  const [none] = await truthProbabilities.find(without.trainer, trajectoriesOf({}, {}));
  expect(none).toEqual([{ informationGain: 0 }, { informationGain: 0 }]);
  const narrow = trainerWith(['7'], 3);
  const [full] = await truthProbabilities.find(narrow.trainer, trajectoriesOf({ written: 2 }, {}));
  expect(full).toEqual([
    { answerProbability: expect.any(Number), informationGain: 0 },
    { informationGain: 0 },
  ]);
  const scripted = trainerWith(['7']);
  const turns = trajectoriesOf({ call: { trainable: 'scripted' } }, {});
  const [mixed] = await truthProbabilities.find(scripted.trainer, turns);
  expect(mixed).toEqual([{ informationGain: 0 }, { answerProbability: expect.any(Number) }]);
});
