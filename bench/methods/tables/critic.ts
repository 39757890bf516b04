/** PPO: what a critic is for, where episodes are long and rewards are noisy. */

import type { CreditChoice } from '../../../src/credit/shaping/shapings.ts';
import { noisy } from '../environments/noisy.ts';
import { scored } from '../environments/scored.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const credit: Readonly<Record<string, CreditChoice>> = {
  reinforce: { method: 'reinforce', options: { baseline: 'batch' } },
  'reinforce++': { method: 'reinforce++' },
  ppo: { method: 'gae', options: { gamma: 0.99, lambda: 0.95 } },
};

// At the same scale of steps, which whitening gives to ppo and reinforce++, the critic is worth having. Against
// reinforce the reason is the scale: its returns are not divided by their deviation, so that its steps at the same rate
// are as much larger, and a table bears them.
export const critic = defineTable({
  name: 'critic',
  methods: ['ppo'],
  claim:
    'In long episodes with noisy rewards along the way, the advantages of ppo, from a critic, learn in fewer steps than returns without one that are whitened in the same way (reinforce++); returns that are not whitened (reinforce) make larger steps, and are ahead.',
  source: 'PPO, arXiv 1707.06347; GAE, arXiv 1506.02438',
  setup:
    'Twelve pages, each of which pays 1 for one word of four and adds a normal number of deviation 1. Tables of logits and values; 60 steps of 4 groups × 8 episodes; γ 0.99 and λ 0.95 as in the recipe; reinforce with the mean of the batch as its baseline. area and final are the share of pages answered rightly. There is one update a batch, so that nothing is clipped.',
  arms: ['reinforce', 'reinforce++', 'ppo'],
  comparisons: [
    { figure: 'area', arm: 'ppo', against: 'reinforce++', expect: 'higher' },
    { figure: 'area', arm: 'ppo', against: 'reinforce', expect: 'lower' },
  ],
  run: async (arm, seed) =>
    tabularRun({
      environment: noisy(scored({ turns: 12, words: 4 }), 1),
      credit: credit[arm]!,
      seed,
      steps: 60,
      groups: 4,
      valueRate: 0.02,
      watches: (trajectories) => {
        const turns = trajectories.flatMap((trajectory) => trajectory.turns);
        return turns.filter(({ dense }) => dense![0]! > 0).length / turns.length;
      },
    }),
});
