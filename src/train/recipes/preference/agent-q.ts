/** Agent Q: in a tree of the episodes of a task, the better of two actions at a node is preferred. */

import { z } from 'zod';
import { agentQ as objective } from '../../../objective/preference/dpo.ts';
import { preference } from '../../config/blocks.ts';
import { siblingTurns } from '../../off-policy/pairs.ts';
import { learnFromPreferences } from '../../off-policy/preferences.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe } from '../recipe.ts';

const options = z.strictObject({
  ...objective.schema.shape,
  threshold: z.number().min(0).default(0.1).describe('Least difference of two values that makes a pair'),
});

/**
 * Source: arXiv 2408.07199.
 * 1. The tree is what the episodes of a group have in common from the start on, token by token. They are searched for where
 *    `branching.explorer=mcts` says so; else all begin at the start, and there is no bonus for rare actions.
 * 2. Values are means of outcomes; no critic ranks actions (`mixing` of `agentQPairs` is 1).
 */
export const agentQ = defineRecipe({
  name: 'agent-q',
  summary: 'prefers the action with the better outcomes at each place where episodes of a task diverge',
  formula: [
    'Q(node, a) = mean outcome of the group’s episodes that took a there',
    'loss = mean over siblings with |ΔQ| > θ of −log σ(β · (Δ(better) − Δ(worse))), Δ = Σ over the turn’s tokens of (log π − log π_sampling)',
  ],
  use: 'a success late in an episode tells which early action was right; with large groups',
  source: 'Agent Q, arXiv 2408.07199',
  authors:
    'half search value, half critic’s rank; 5 to 10 actions a node; beta and threshold depend on the task',
  start: remembers,
  learn: learnFromPreferences({
    examples: (groups, config) =>
      groups.flatMap(({ members }) =>
        siblingTurns(members, options.parse(config.objective.options).threshold),
      ),
    objective: (config) => objective({ beta: options.parse(config.objective.options).beta }),
    why: 'no two actions of a node differ by more than the threshold',
  }),
  reads: preference,
  lossOptions: options,
});
