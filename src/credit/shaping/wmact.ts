/** WMAct: the reward shrinks with the share of actions that changed nothing. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import { withFactor } from './rewards.ts';
import { defineShaping, each, type RewardShaping } from './shaping.ts';

export const wmact: RewardShaping = defineShaping(
  {
    name: 'wmact',
    title: 'WMAct (reward rescaling)',
    summary: 'the reward times the share of actions that changed the environment',
    formula:
      'R ← R · N_eff / N,   N = actions taken, N_eff = those that changed the state;   0 without actions',
    source:
      '"Thinking by Doing: Building Efficient World Model Reasoning in LLMs via Multi-turn Interaction", arXiv 2511.23476',
    deviations: [
      'Without `effectiveActions`, an action is effective if the next turn acts in another state (`anchor`); the last turn counts as effective.',
      'The limit on turns that falls with them belongs to a turn control.',
    ],
    needs: ['turns[].effectiveActions'],
    uses: ['turns[].actionCount', 'turns[].anchor'],
    example: '--method rloo --shape wmact',
  },
  z.strictObject({}),
  () =>
    each((trajectory) => {
      const { turns } = trajectory;
      let taken = 0;
      let effective = 0;
      for (const [k, { actionCount = 1, effectiveActions, anchor }] of turns.entries()) {
        taken += actionCount;
        const next = turns[k + 1];
        if (effectiveActions !== undefined) effective += Math.min(effectiveActions, actionCount);
        else if (anchor === undefined || (next !== undefined && next.anchor === undefined)) {
          throw missingField(
            'wmact',
            trajectory,
            'turns[].effectiveActions',
            k,
            'Or give turns[].anchor of every turn',
          );
        } else effective += next === undefined || next.anchor !== anchor ? actionCount : 0;
      }
      return withFactor(trajectory, taken === 0 ? 0 : effective / taken);
    }),
);
