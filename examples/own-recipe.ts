/** A recipe of your own, in a file: the best episodes of every group are imitated. `turnwise train frozen-lake --recipe ./own-recipe.ts` */

import { defineRecipe, z } from 'turnwise';
import { crossEntropy } from 'turnwise/objective';
import { averagedRows, batchOf, playSettings, recordedOf } from 'turnwise/recipes';

export const bestOfGroup = defineRecipe({
  name: 'best-of-group',
  summary: 'the best episodes of every group are imitated',
  // What can be set besides how episodes are played, with --set best.share=0.5.
  reads: () => [playSettings],
  options: z.strictObject({
    best: z
      .strictObject({ share: z.number().min(0).max(1).default(0.25).describe('Share that is imitated') })
      .prefault({})
      .describe('What best-of-group imitates'),
  }),
  settings: { optimizer: { learningRate: 1e-3 } },
  learn:
    ({ best }) =>
    async (trainer, groups, { memory }) => {
      const chosen = groups.flatMap(({ members }) => {
        const sorted = [...members].sort((a, b) => b.outcome - a.outcome);
        const worst = sorted.at(-1)?.outcome ?? 0;
        const better = sorted.filter(({ outcome }) => outcome > worst);
        return better.slice(0, Math.ceil(best.share * members.length));
      });
      if (chosen.length > 0)
        await trainer.policy.learn(batchOf(averagedRows(recordedOf(chosen))), crossEntropy());
      return { memory, metrics: { 'best/episodes': chosen.length }, why: 'no group has a best episode' };
    },
});
