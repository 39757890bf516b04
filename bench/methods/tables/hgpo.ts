/** HGPO: equal states with different histories are not compared alike. */

import { cave } from '../environments/cave.ts';
import { defineTable } from '../experiment.ts';
import { tabularRun } from '../tabular.ts';

// Both methods solve the task; hgpo is a little slower. A table keeps histories apart by itself, so that what gigpo
// mixes is only its baseline, while the finer comparisons of hgpo have fewer members. A model that has to tell
// histories apart might show another picture; none was tried.
export const hgpo = defineTable({
  name: 'hgpo',
  methods: ['hgpo'],
  claim:
    'Where the right action in a state depends on what came before, hgpo compares turns of one history alone; in a table, which keeps histories apart by itself, that leaves fewer to compare, and gigpo is a little ahead.',
  source: 'arXiv 2602.22817',
  setup:
    'Two ways into a cave whose words depend on the way that was taken; four words, three words deep, ten turns. A table with a row for each history of states; 80 steps of 4 groups × 8 episodes; both methods with the defaults of their authors, and hgpo with the episode’s own comparison as well, which gigpo has.',
  arms: ['gigpo', 'hgpo', 'hgpo with base group'],
  comparisons: [{ figure: 'area', arm: 'hgpo', against: 'gigpo', expect: 'lower' }],
  run: async (arm, seed) =>
    tabularRun({
      environment: cave({ depths: 3, turns: 10, words: 4 }),
      credit:
        arm === 'gigpo' ? { method: 'gigpo' } : { method: 'hgpo', options: { baseGroup: arm !== 'hgpo' } },
      seed,
      steps: 80,
      groups: 4,
      remembers: 'history',
    }),
});
