/** ETO: an expert’s episode of the same task is preferred to those of the policy that earned less. */

import { eto as objective } from '../../../objective/preference/dpo.ts';
import { preference } from '../../config/blocks.ts';
import { againstExpert } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const eto = defineRecipe({
  name: 'eto',
  summary: 'an expert’s episode of the same task is preferred to those of the policy that earned less',
  formula: [
    'S(τ) = Σ over sampled tokens of (log π − log π before the update)',
    'loss = mean over pairs of −log σ(β · (S(higher return) − S(lower return))), one of each pair an expert’s; ties make none',
  ],
  use: 'there is a scripted expert, and the policy’s own failures are lessons, too',
  source: 'ETO, arXiv 2403.02502',
  authors:
    'beta 0.1 in the first of three iterations, then 0.5; learning rate 1e-6, then 5e-7; 3 epochs of DPO',
  needs: { oneRole: true, script: true },
  start: remembers,
  learn: learnFromPreferences({
    examples: async (groups, _, trainer) => {
      const experts = await trainer.expert(groups);
      return groups.flatMap(({ id, members }) => {
        const expert = experts.get(id);
        return expert ? againstExpert(members, expert) : [];
      });
    },
    objective: (config) => objective(config.objective.options),
    reference: 'before',
    why: 'no episode earned less or more than the expert’s',
  }),
  reads: preference,
  lossOptions: objective.schema,
});
