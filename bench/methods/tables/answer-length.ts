/** Dr. GRPO: the length of wrong answers, where no length is better than another. */

import type { Aggregation } from '../../../src/objective/contract/weights.ts';
import { ramble } from '../environments/ramble.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const LONGEST = 24;

const arms: Readonly<
  Record<
    string,
    { readonly method: string; readonly aggregation: Aggregation; readonly learningRate: number }
  >
> = {
  'no training': { method: 'grpo', aggregation: 'sequence-mean-token-mean', learningRate: 0 },
  grpo: { method: 'grpo', aggregation: 'sequence-mean-token-mean', learningRate: 0.3 },
  'dr-grpo': { method: 'dr-grpo', aggregation: 'sequence-sum-constant', learningRate: 3 },
};

// What is left with dr-grpo is a random walk, since nothing holds the length either: some seeds end a word or two
// longer.
export const answerLength = defineTable({
  name: 'answer-length',
  methods: ['dr-grpo'],
  claim:
    'Where each answer is averaged over its tokens, as in the original grpo, wrong answers grow longer although length changes nothing, since a long one is blamed less per token; dr-grpo leaves them as long as they were.',
  source: 'arXiv 2503.20783',
  setup:
    'An answer is right half the time, whatever is said, and then the policy says further words until it says "end", 24 at most; it sees whether it was right. A table of logits; 100 steps of 8 groups × 8 episodes. area and final are the mean length of wrong answers, over all steps and over the last fifth. dr-grpo has ten times the rate, which makes up for its constant (24, where answers have five words) and for differences that are not divided by their deviation of a half.',
  arms: ['no training', 'grpo', 'dr-grpo'],
  comparisons: [
    { figure: 'final', arm: 'grpo', against: 'no training', expect: 'higher' },
    { figure: 'final', arm: 'dr-grpo', against: 'grpo', expect: 'lower' },
  ],
  run: async (arm, seed) => {
    const { method, ...settings } = arms[arm]!;
    return tabularRun({
      environment: ramble({ longest: LONGEST }),
      credit: { method },
      seed,
      steps: 100,
      ...settings,
      watches: (trajectories) => {
        const lengths = trajectories.filter(({ success }) => !success).map(({ turns }) => turns.length);
        return lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
      },
    });
  },
});
