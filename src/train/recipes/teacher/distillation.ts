/** Distillation by forward KL: a teacher's likeliest tokens, from a file or asked of the teacher itself, become the policy's. */

import { forwardKl } from '../../../objective/imitation/forward-kl.ts';
import { replayed, taught } from '../../config/blocks.ts';
import { learnFromReplay } from '../../off-policy/imitation.ts';
import { remembers } from '../../off-policy/replay.ts';
import { taughtRows } from '../../off-policy/taught-rows.ts';
import { lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const distillation = defineRecipe({
  name: 'distillation',
  summary:
    'the policy becomes as likely as a teacher to write each of its likeliest tokens, on recorded or own episodes',
  formula: [lossFormula('forward-kl')],
  use: 'a file has the log-probabilities of a teacher, or a teacher can score: without reward, and with more to learn from a token than its sampled id',
  source: 'arXiv 1503.02531; arXiv 1606.07947; GKD, arXiv 2306.13649',
  authors: 'GKD: whole distributions, student’s own completions for a share of 1, temperature 1',
  learnsFrom: 'either',
  start: remembers,
  needs: { teacher: 'unless-recorded' },
  learn: learnFromReplay({
    rows: taughtRows,
    objective: (config) => forwardKl(config.objective.options),
  }),
  reads: (plays) => [...replayed(plays), taught],
  lossOptions: forwardKl.schema,
  settings: { rollout: { minimumMembers: 1 }, optimizer: { learningRate: 1e-3 } },
});
