/** DAPO: GRPO on outcomes that are punished softly for coming close to the length limit. */

import { z } from 'zod';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';
import { broadcastToTurns } from '../../kit/groups.ts';
import { overlong, overlongFields } from '../../shaping/overlong.ts';
import { shapedCredit } from '../../shaping/shaping.ts';
import { grpoAdvantages, grpoFields } from './grpo.ts';

export const dapo: CreditMethod = defineCreditMethod(
  {
    name: 'dapo',
    title: 'DAPO shaping',
    summary: 'grpo on outcomes with a soft penalty for length',
    formula: `R_i ← R_i - p · clip((length_i - (L_max - L_buf)) / L_buf, 0, 1)
A_i = (R_i - mean R) / (std R + ε)`,
    source: '"DAPO: An Open-Source LLM Reinforcement Learning System at Scale", arXiv 2503.14476',
    deviations: [
      'The other parts of the method are settings: clip-higher and the token-mean loss of the objective, dynamic sampling of the curation. A group whose shaped outcomes are all equal gives 0 here.',
      'Beyond the limit the penalty stays at p, for trajectories without a cut there.',
    ],
    level: 'turn',
    needs: [],
    uses: ['turns[].tokens'],
    example: '--method dapo --set maximumLength=200 --set bufferLength=50',
  },
  z.strictObject({ ...grpoFields, ...overlongFields }),
  ({ std, epsilon, ...length }) =>
    shapedCredit(overlong.create(length).shape, (trajectories, state) => ({
      credits: broadcastToTurns(trajectories, grpoAdvantages(trajectories, { std, epsilon })),
      state,
    })),
);
