/** ArCHer, online and in its IQL form: a critic of utterances learns off-policy, and the policy from the critic. */

import { archerActor, archerHeads } from '../../../objective/critic/archer.ts';
import { actorCritic, sampling } from '../../config/blocks.ts';
import { archerIqlOptions, learnArcher, learnArcherIql } from '../../off-policy/archer.ts';
import { remembers } from '../../off-policy/replay.ts';
import { defineRecipe, type Recipe } from '../recipe.ts';

export const utteranceHeads: NonNullable<Recipe['criticHeads']> = Object.fromEntries(
  archerHeads.map((name) => [name, 'scalar'] as const),
);

export const archer = defineRecipe({
  name: 'archer',
  summary: 'a double critic of utterances learns from all kept episodes, and the policy from its advantages',
  formula: [
    'Q_j ← r + γ V̄_j(next state), V_j ← Q̄_j(state, fresh action); V̄, Q̄ of a target network',
    'A = min Q − min V; loss = −mean A · Σ over the utterance’s tokens of log π',
  ],
  use: 'playing costs more than learning, and episodes have many turns',
  source: 'ArCHer, arXiv 2402.19446',
  authors:
    'discount 0.95, target rate 0.1, 50 critic epochs and 3 actor epochs a step, 10 to 20 steps of warm-up, critic 2e-5, actor 1e-5, 128 episodes a step',
  criticHeads: utteranceHeads,
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnArcher,
  // Its token baseline would need a value head besides the critic.
  reads: (plays) => [...actorCritic(plays), sampling, { objective: { entropyCoefficient: true } }],
  lossOptions: archerActor.schema.omit({ tokenBaseline: true }),
  settings: { rollout: { tasks: 32, group: 1, minimumMembers: 1 } },
});

export const archerIql = defineRecipe({
  name: 'archer-iql',
  summary: 'the same from recorded utterances alone: expectile values, and imitation by advantage',
  formula: [
    'Q_j ← r + γ V̄_j(next state), V_j ← τ-expectile of min Q̄(state, recorded action)',
    'A = min Q − min V; loss = −mean min(exp(A / temperature), largestWeight) · Σ log π over recorded utterances',
  ],
  use: 'you have recorded episodes and cannot play',
  source: 'ArCHer, arXiv 2402.19446; IQL, arXiv 2110.06169',
  authors: 'expectile 0.9; as archer otherwise',
  criticHeads: utteranceHeads,
  learnsFrom: 'either',
  start: remembers,
  needs: { wholeSteps: true },
  learn: learnArcherIql,
  reads: actorCritic,
  lossOptions: archerIqlOptions,
  settings: {
    data: 'demonstrations',
    rollout: { minimumMembers: 1 },
    objective: { options: { temperature: 0.2 } },
  },
});
