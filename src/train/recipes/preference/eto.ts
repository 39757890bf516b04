/** ETO: prefers an expert’s episode to the policy’s worse episodes of the same task. */

import { eto as objective } from '../../../objective/preference/dpo.ts';
import { preference } from '../../config/blocks.ts';
import { againstExpert } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

export const eto = defineRecipe({
  name: 'eto',
  summary: 'prefers an expert’s episode to the policy’s worse episodes of the same task',
  formula: [
    'S(τ) = Σ over sampled tokens of (log π − log π before the update)',
    'loss = mean over pairs of −log σ(β · (S(higher return) − S(lower return))), one of each pair an expert’s; ties make none',
  ],
  use: 'you have a scripted expert, and want to learn from the policy’s failures, too',
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
  // Episodes are compared with the expert’s, not with each other.
  settings: { rollout: { minimumMembers: 1 } },
});
