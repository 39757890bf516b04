/** Agent-R: in a tree of the episodes of a task, how to go on from a mistake is imitated. */

import { z } from 'zod';
import { batchOf } from '../../../engine/token-batch.ts';
import { crossEntropy } from '../../../objective/imitation/cross-entropy.ts';
import { preference } from '../../config/blocks.ts';
import { minibatches } from '../../kit/batch.ts';
import type { Trainer } from '../../kit/trainer.ts';
import { revisionOf, splicesOf } from '../../off-policy/revisions.ts';
import { averagedRows, recordedOf } from '../../off-policy/rows.ts';
import { defineRecipe } from '../recipe.ts';

const options = z.strictObject({
  alpha: z.number().default(0.5).describe('Least outcome of an episode that is imitated, at the first step'),
  finalAlpha: z.number().default(1).describe('The same at the last step; in between it rises evenly'),
  beta: z.number().min(0).default(0.2).describe('By how much more the better of two earned'),
  sameState: z
    .boolean()
    .default(true)
    .describe(
      'Only where the better one goes on from the state in which the worse one is; false as in the paper',
    ),
  revisions: z
    .array(z.string())
    .default([
      'Wait, that was a mistake. ',
      'My last step did not help; I should do something else. ',
      'I went wrong there. Let me go on differently. ',
    ])
    .describe('Words before the first act after a mistake; of models and environments that know thoughts'),
});

/** Words that the policy can write before an action, and the environment reads as no part of it. */
function sayable({ renderer, protocol }: Trainer, revisions: readonly string[]): readonly string[] {
  if (protocol.thought === undefined) return [];
  return revisions.filter((text) => renderer.text(renderer.completionIds(text)).trim() === text.trim());
}

/**
 * Source: arXiv 2501.11425.
 * 1. In the paper the policy judges the turns of the worse episode. Here the search does: a turn is bad where the episodes that took it
 *    earned more than beta less than the better one.
 * 2. The revision is a thought before the next act in the paper’s words, not a turn of its own, which an environment would have to ignore.
 *    Models of a task’s words know none of it, and raw actions have no room for it: there the good act follows at once.
 * 3. The good continuation saw other observations than the bad turns would have left behind. The paper lets that be; `sameState` keeps the
 *    pairs in which both were in the same state, by its key.
 * 4. An outcome of alpha counts as good, so that alpha may rise to the best one. No general data is mixed in.
 */
export const agentR = defineRecipe({
  name: 'agent-r',
  summary: 'imitates good episodes of a search, and how they go on after the mistakes of bad ones',
  formula: [
    'revision = bad turns up to the first whose mean outcome is more than β below the good outcome, then the good episode from there',
    'loss = −mean log π over the tokens of episodes with outcome ≥ α and over the good parts of revisions; α rises from alpha to finalAlpha',
  ],
  use: 'episodes fail by early mistakes that could be made good, and the policy rarely does',
  source: 'Agent-R, arXiv 2501.11425',
  authors:
    'MCTS with c 0.25, 4 samples a node, depth 10; 3 rounds of 3 epochs; alpha up to 1, beta 0.2; ten sentences of revision',
  needs: { oneRole: true },
  idle: {
    metric: 'agent-r/revisions',
    atMost: 0,
    means:
      'good episodes alone are imitated, since no bad one came to a state from which a good one of its task went on',
  },
  learn:
    (config) =>
    async (trainer, groups, { step, planned, memory }) => {
      const { alpha, finalAlpha, revisions, ...rest } = options.parse(config.objective.options);
      const least = alpha + (finalAlpha - alpha) * ((step - 1) / Math.max(1, planned - 1));
      const rng = trainer.rng('minibatches');
      const said = sayable(trainer, revisions);
      const good = groups.flatMap(({ members }) => members.filter(({ outcome }) => outcome >= least));
      const revised = groups
        .flatMap(({ members }) => splicesOf(members, { ...rest, alpha: least }))
        .map((splice) => revisionOf(splice, trainer.renderer, said[rng.int(Math.max(1, said.length))]));
      const fitting = revised.filter(
        ({ calls }) =>
          calls.reduce((sum, { context, ids }) => sum + context.length + ids.length, 0) <=
          trainer.contextLength,
      );
      const lessons = [...good, ...fitting];
      const { epochs, minibatches: parts } = config.optimizer;
      for (let epoch = 0; epoch < epochs && lessons.length > 0; epoch++) {
        for (const part of minibatches(lessons, parts, rng))
          await trainer.policy.learn(batchOf(averagedRows(recordedOf(part))), crossEntropy());
      }
      const metrics = { 'agent-r/good': good.length, 'agent-r/revisions': fitting.length };
      return { memory, metrics, why: 'no episode earned as much as alpha' };
    },
  reads: preference,
  lossOptions: options,
  settings: {
    branching: { explorer: 'mcts', width: 4, exploration: 0.25 },
    rollout: { tasks: 32, group: 16 },
  },
});
