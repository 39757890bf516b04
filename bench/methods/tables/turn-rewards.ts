/** MT-GRPO, IGPO and MatchTIR: signals for single turns, where only some turns matter. */

import type { CreditChoice } from '../../../src/credit/shaping/shapings.ts';
import { lessons } from '../environments/lessons.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const credit: Readonly<Record<string, CreditChoice>> = {
  grpo: { method: 'grpo' },
  'mt-grpo': { method: 'mt-grpo', options: { form: 'multi-turn' } },
  igpo: { method: 'igpo' },
  matchtir: { method: 'matchtir' },
};

// The three methods are given more than grpo: this shows that they use it, not that knowing it is free.
export const turnRewards = defineTable({
  name: 'turn-rewards',
  methods: ['mt-grpo', 'igpo', 'matchtir'],
  claim:
    'Where only some turns matter and the environment can tell, mt-grpo, igpo and matchtir learn in fewer steps than grpo, which knows the outcome only.',
  source: 'arXiv 2505.11821; arXiv 2510.14967; arXiv 2601.10712',
  setup:
    'Eight pages of which the second, fourth and seventh must be answered with one word of four. mt-grpo is told a reward of a third for each right page, igpo the probability of the whole answer, matchtir the calls of an expert. A table of logits; 40 steps of 4 groups × 8 episodes.',
  arms: ['grpo', 'mt-grpo', 'igpo', 'matchtir'],
  comparisons: [
    { figure: 'area', arm: 'mt-grpo', against: 'grpo', expect: 'higher' },
    { figure: 'area', arm: 'igpo', against: 'grpo', expect: 'higher' },
    { figure: 'area', arm: 'matchtir', against: 'grpo', expect: 'higher' },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: lessons({ turns: 8, matter: [1, 3, 6], words: 4 }),
      credit: credit[arm]!,
      seed,
      steps: 40,
      groups: 4,
    }),
});
