/** EARL: each turn against what the policy itself makes of another action in its place. */

import { lessons } from '../environments/lessons.ts';
import { defineExperiment } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

const TURNS = 6;
const WORDS = 4;
const MEMBERS = 8;
/** Every turn is played again from its state on: 6 + (6 + 5 + … + 1) turns for an episode of 6. */
const COST = 1 + (TURNS + 1) / 2;
/** The right word is better than another one by so many times what it is better than the mean of all. */
const RATE = (0.3 * WORDS) / (WORDS - 1);

export const counterfactuals = defineExperiment({
  name: 'counterfactuals',
  methods: ['earl'],
  claim:
    'Where only some turns matter, comparing each turn with what the policy reaches after another action there (earl) learns in fewer steps than comparing whole episodes (dr-grpo).',
  source: 'arXiv 2510.07581',
  setup:
    'Six pages of which the second and the fifth must be answered with one word of four. After each episode every turn is taken again with another word, and the policy plays on from there. A table of logits; 80 steps of 2 groups × 8 episodes. dr-grpo has a rate a third higher, since a word is further from another one than from the mean of all. As many turns: 36 episodes a group, which take as many turns as 8 and their continuations; no claim is made of it.',
  arms: ['dr-grpo', 'dr-grpo, as many turns', 'earl'],
  seeds: 10,
  comparisons: [{ figure: 'area', arm: 'earl', against: 'dr-grpo', expect: 'higher' }],
  remarks:
    'The difference is small. For the turns that earl spends on continuations dr-grpo could play four and a half times as many episodes, and is then about as fast.',
  run: async (arm, seed) =>
    tabularRun({
      environment: lessons({ turns: TURNS, matter: [1, 4], words: WORDS }),
      credit: { method: arm === 'earl' ? 'earl' : 'dr-grpo' },
      seed,
      steps: 80,
      groups: 2,
      members: arm === 'dr-grpo, as many turns' ? MEMBERS * COST : MEMBERS,
      ...(arm === 'earl' ? { counterfactuals: true } : { learningRate: RATE }),
    }),
});
