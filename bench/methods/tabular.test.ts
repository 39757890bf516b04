import { expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { chain } from './environments/chain.ts';
import { quiz } from './environments/quiz.ts';
import { ramble } from './environments/ramble.ts';
import { recital } from './environments/recital.ts';
import { review } from './environments/review.ts';
import { tabularRun } from './tabular.ts';

const once = { seed: 1, steps: 1, groups: 4, members: 4 };

test('a turn is told how its episode would have ended with another action, rewards before it included', () => {
  // One door and two words: where one is wrong, the other opens, and the other way round.
  tabularRun({
    ...once,
    environment: chain({ doors: 1, turns: 1, words: 2 }),
    credit: { method: 'earl' },
    counterfactuals: true,
    watches: (trajectories) => {
      for (const { outcome, turns } of trajectories) expect(turns[0]!.counterfactual).toBe(1 - outcome);
      return trajectories.length;
    },
  });
  expect.assertions(16);
});

test('weights of turns follow the aggregation: with a mean over each answer long wrong ones are blamed less', () => {
  const lengths = (aggregation: 'sequence-mean-token-mean' | 'token-mean'): number =>
    tabularRun({
      environment: ramble(),
      credit: { method: 'grpo' },
      seed: 1,
      steps: 40,
      aggregation,
      watches: (trajectories) => {
        const wrong = trajectories.filter(({ success }) => !success);
        return wrong.reduce((sum, { turns }) => sum + turns.length, 0) / wrong.length;
      },
    }).figures.final!;
  expect(lengths('sequence-mean-token-mean')).toBeGreaterThan(lengths('token-mean') + 2);
});

test('experts earn what the environments promise', () => {
  const rng = Rng.of('experts');
  for (const [environment, outcome] of [
    [quiz({ base: 1, gains: [2, 5] }), 6],
    [recital({ turns: 2, phrase: 5, words: 3 }), 1],
    [review(), 1],
  ] as const) {
    let { state } = environment.start(environment.tasks('train').at(1), rng);
    let total = 0;
    for (let done = false; !done; ) {
      const step = environment.step(state, environment.solve!(state, rng), rng);
      expect(step.valid).toBe(true);
      total += step.reward;
      ({ state, done } = step);
    }
    expect(total).toBe(outcome);
  }
});
