/** A critic that classifies returns against one that regresses them, where returns are noisy. */

import { Rng } from '../../../src/core/rng.ts';
import { createEmbeddedEngine } from '../../../src/engine/embedded/embedded-engine.ts';
import { forwardBackwardStep } from '../../../src/engine/objective-step.ts';
import { batchOf, type TokenRow } from '../../../src/engine/token-batch.ts';
import { findObjective } from '../../../src/objective/objectives.ts';
import { defineExperiment, type Experiment } from '../experiment.ts';

const WORDS = 12;
const LENGTH = 4;
const bins = { count: 51, low: -0.1, high: 1.1 };

/** What a state is worth: the share of its words that are of the second half of the vocabulary, and more where two meet. */
function worth(words: readonly number[]): number {
  const high = words.filter((word) => word > WORDS / 2).length / words.length;
  return words[0] === words[1] ? 1 : 0.8 * high;
}

/** A state as a row; the value is read before the token that closes it. The return is 1 with the chance that it is worth. */
function rowOf(words: readonly number[], outcome: number, rows: number): TokenRow {
  const ids_T = Int32Array.of(...words, 0);
  const last = (value: number): Float32Array =>
    Float32Array.from(ids_T, (_, token) => (token === words.length ? value : 0));
  return { ids_T, channels: { weight: last(1 / rows), returns: last(outcome) } };
}

async function errorOf(arm: string, seed: number): Promise<number> {
  const rng = Rng.of('noisy-returns', seed);
  const state = (): number[] => Array.from({ length: LENGTH }, () => 1 + rng.int(WORDS));
  const recorded = Array.from({ length: 2000 }, () => {
    const words = state();
    return { words, outcome: rng.chance(worth(words)) ? 1 : 0 };
  });
  const unseen = Array.from({ length: 400 }, state);
  const engine = await createEmbeddedEngine({
    shape: {
      vocabulary: WORDS + 1,
      width: 32,
      layers: 1,
      heads: 2,
      keyValueHeads: 2,
      headWidth: 16,
      hidden: 64,
      activation: 'swiglu',
      tiedHead: false,
      ropeTheta: 10_000,
      contextLength: 8,
      normEpsilon: 1e-5,
      valueHead: arm === 'mse' ? true : bins,
    },
    seed,
    threads: 1,
    tokenBudget: 2048,
    inProcess: true,
  });
  const objective =
    arm === 'mse'
      ? findObjective('value-loss').create({ valueClip: 0 })
      : findObjective(arm).create({ ...bins });
  try {
    for (let step = 0; step < 400; step++) {
      const batch = Array.from({ length: 64 }, () => rng.pick(recorded));
      const rows = batch.map(({ words, outcome }) => rowOf(words, outcome, batch.length));
      const options = { temperature: 1, step, rng: Rng.of('none') };
      await forwardBackwardStep(engine, batchOf(rows), objective, options);
      await engine.optimStep({
        learningRate: 2e-3,
        beta1: 0.9,
        beta2: 0.98,
        epsilon: 1e-8,
        weightDecay: 0,
        clipNorm: 1,
      });
    }
    const rows = unseen.map((words) => ({ ids_T: Int32Array.of(...words, 0), channels: {} }));
    const { values } = await engine.score({ rows }, { temperature: 1, values: true });
    const errors = unseen.map((words, row) => (values![row]![LENGTH]! - worth(words)) ** 2);
    return Math.sqrt(errors.reduce((sum, error) => sum + error, 0) / errors.length);
  } finally {
    await engine.close();
  }
}

export const noisyReturns: Experiment = defineExperiment({
  name: 'noisy-returns',
  methods: ['hl-gauss', 'two-hot'],
  claim:
    'With returns that are 0 or 1 by chance, a critic that classifies them is nearer to the true values than one with a squared error',
  source: 'Stop Regressing, arXiv 2403.03950',
  setup:
    'States of 4 words of 12, worth between 0 and 1 by a rule; 2000 recorded returns, each 1 with the chance that its state is worth, else 0. A decoder of width 32, 400 updates on 64 of them at learning rate 0.002. The figure is the root mean squared error of its values on 400 unseen states.',
  arms: ['mse', 'hl-gauss', 'two-hot'],
  comparisons: [
    { figure: 'error', arm: 'hl-gauss', against: 'mse', expect: 'lower' },
    { figure: 'error', arm: 'two-hot', against: 'mse', expect: 'lower' },
  ],
  seeds: 8,
  remarks:
    'The difference is small, a twentieth of the error; both critics still follow the noise of the returns that they were shown more than once.',
  run: async (arm, seed) => ({ figures: { error: await errorOf(arm, seed) } }),
});
