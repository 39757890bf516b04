/**
 * A bonus on the entropy of the policy at trained tokens, over the whole vocabulary.
 *
 *   loss = -entropyCoefficient · Σ weight · H,   H = -Σ_v p_v log p_v
 *
 * Source: Williams and Peng, "Function optimization using connectionist reinforcement learning algorithms", 1991.
 */

import { z } from 'zod';
import { multiply } from '../../graph/operators/elementwise.ts';
import { defineObjective, type ObjectiveMethod } from '../contract/define.ts';
import { figureOf, totalOf } from '../policy-gradient/surrogate.ts';

const schema = z.strictObject({
  entropyCoefficient: z.number().min(0).default(0.01).describe('Weight of the entropy'),
});

/** Metric: `policy/entropy_exact`. */
export const entropyBonus: ObjectiveMethod<typeof schema> = defineObjective(
  {
    name: 'entropy-bonus',
    title: 'Entropy bonus',
    summary: 'rewards uncertainty, against early convergence',
    formula: '-c · Σ w H,   H = -Σ_v p_v log p_v',
    source: 'Williams and Peng 1991',
    family: 'regulariser',
  },
  schema,
  ({ entropyCoefficient }) => ({
    channels: [],
    needs: { entropies: true },
    build: (tokens) => {
      const entropies = tokens.entropies();
      return {
        loss: multiply(totalOf(tokens)(entropies), -entropyCoefficient),
        metrics: { 'policy/entropy_exact': figureOf(tokens)(entropies) },
      };
    },
  }),
);
