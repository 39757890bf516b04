/** SPIRAL and MARS: a baseline for each role, in a game that is unfair. */

import type { CreditChoice } from '../../../src/credit/shaping/shapings.ts';
import { unfairGame } from '../environments/unfair.ts';
import { defineExperiment } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const credit: Readonly<Record<string, CreditChoice>> = {
  pooled: { method: 'reinforce', options: { baseline: 'batch' } },
  'self-play': { method: 'rae' },
  mars: { method: 'mars' },
};

export const roles = defineExperiment({
  name: 'roles',
  methods: ['self-play', 'mars'],
  claim:
    'In a game in which one role always gains and the other always loses, a baseline for each role (SPIRAL, MARS) learns in fewer steps than one for both together.',
  source: 'arXiv 2506.24119; arXiv 2510.15414',
  setup:
    'Each role says one word of four; one starts with +2 and the other with −2, and the right word adds 0.5. A table of logits; 120 steps of 4 × 4 episodes. Success: both words right.',
  arms: ['pooled', 'self-play', 'mars'],
  seeds: 20,
  comparisons: [
    { figure: 'area', arm: 'self-play', against: 'pooled', expect: 'higher' },
    { figure: 'area', arm: 'mars', against: 'pooled', expect: 'higher' },
  ],
  remarks:
    'The moving baseline of SPIRAL and the batch mean of MARS both remove what a role gains whatever it does. Which of them is ahead of the pooled baseline in a seed depends on where the pooled one happens to drift, so its runs spread widely.',
  run: async (arm, seed) =>
    tabularRun({
      environment: unfairGame({ gap: 4 }),
      credit: credit[arm]!,
      seed,
      steps: 120,
      groups: 4,
      members: 4,
    }),
});
