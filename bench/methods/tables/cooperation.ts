/** CORY and WaltzRL: what a role earns whose own actions pay nothing. */

import type { CreditChoice } from '../../../src/credit/shaping/shapings.ts';
import { duetGame } from '../environments/duet.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const credit: Readonly<Record<string, CreditChoice>> = {
  'own rewards': { method: 'dr-grpo' },
  cory: { method: 'cory', options: { baseline: 'group' } },
  waltzrl: { method: 'waltzrl' },
  'waltzrl, labels paid': { method: 'waltzrl', options: { lambda: 0.25 } },
};

export const cooperation = defineTable({
  name: 'cooperation',
  methods: ['cory', 'waltzrl'],
  claim:
    'Where feedback is worth something only by the answer that follows, the shared reward of CORY and the improvement reward of WaltzRL teach the role that gives it, and its own reward does not.',
  source: 'arXiv 2410.06101; arXiv 2510.08240',
  setup:
    'One role answers with one of three words without knowing the question, the other sees the truth and says a word, and the first answers again. Only answers are paid for. A table of logits; 120 steps of 8 × 8 episodes. Success: the last answer is right.',
  arms: ['own rewards', 'cory', 'waltzrl', 'waltzrl, labels paid'],
  comparisons: [
    { figure: 'final', arm: 'cory', against: 'own rewards', expect: 'higher' },
    { figure: 'final', arm: 'waltzrl', against: 'own rewards', expect: 'higher' },
  ],
  run: async (arm, seed) => tabularRun({ environment: duetGame(), credit: credit[arm]!, seed, steps: 120 }),
});
