/** Turn-level GAE against token-level GAE, where turns have many tokens. */

import type { CreditChoice } from '../../../src/credit/shaping/shapings.ts';
import { lessons } from '../environments/lessons.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const credit: Readonly<Record<string, CreditChoice>> = {
  gae: { method: 'gae', options: { gamma: 0.99, lambda: 0.95 } },
  'turn-gae': { method: 'turn-gae', options: { gamma: 0.99, lambda: 0.9 } },
  'bi-level-gae': { method: 'bi-level-gae' },
};

// Observation tokens are skipped by both, so that what is long here are the turns. Language models are mostly
// trained with γ = λ = 1, where token GAE does not forget either.
export const turnGae = defineTable({
  name: 'turn-gae',
  methods: ['turn-gae', 'bi-level-gae'],
  claim:
    'Where turns are long and one score comes at the end, turn-level GAE learns in fewer steps than token-level GAE, whose discount and λ count tokens; so does bi-level GAE.',
  source: 'arXiv 2512.17008; arXiv 2510.16907',
  setup:
    'Eight pages of thirty tokens each, of which the first and the fifth must be answered with one word of four. Tables of logits and values; 60 steps of 8 groups × 8 episodes; γ and λ as the recipes ppo (0.99, 0.95), turn-gae (0.99, 0.9) and bi-level-gae (authors’ defaults) have them.',
  arms: ['gae', 'turn-gae', 'bi-level-gae'],
  comparisons: [
    { figure: 'area', arm: 'turn-gae', against: 'gae', expect: 'higher' },
    { figure: 'area', arm: 'bi-level-gae', against: 'gae', expect: 'higher' },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: lessons({ turns: 8, matter: [0, 4], words: 4 }),
      credit: credit[arm]!,
      seed,
      steps: 60,
      valueRate: 0.02,
      tokens: 30,
    }),
});
