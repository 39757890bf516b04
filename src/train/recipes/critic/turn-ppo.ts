/** Turn-level PPO: advantages of whole turns, from values at their first token; ratios per token or per turn. */

import { clippedLoss, creditFormula, lossFormula } from '../formulas.ts';
import { defineRecipe } from '../recipe.ts';

export const turnGae = defineRecipe({
  name: 'turn-gae',
  summary:
    'advantages of whole turns from a value head, so that discounts count turns; clipped policy gradient',
  formula: [...creditFormula('turn-gae'), clippedLoss],
  use: 'turns and observations are long, so that a discount per token would erase the past',
  source: 'Turn-PPO, arXiv 2512.17008; turn-wise GAE of VAGEN',
  authors: 'gamma 0.99, lambda 0.9, a critic that learns faster than the actor, many tasks and few repeats',
  critic: true,
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'turn-gae', gamma: 0.99, lambda: 0.9, rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3 },
  },
});

export const turnPpo = defineRecipe({
  name: 'turn-ppo',
  summary: 'advantages of whole turns, and one clipped ratio for each turn',
  formula: [...creditFormula('turn-gae'), lossFormula('turn-ppo')],
  use: 'turn-gae fits, and turns have many tokens whose ratios should move together',
  source: 'Turn-PPO, arXiv 2512.17008',
  authors:
    'gamma 0.99, lambda 0.9; whether the ratio of a turn is a product or a geometric mean is not published',
  critic: true,
  settings: {
    rollout: { minimumMembers: 1 },
    credit: { method: 'turn-gae', gamma: 0.99, lambda: 0.9, rewardScale: 0.1 },
    objective: { valueClip: 0, valueWarmup: 3, name: 'turn-ppo' },
  },
});
