/**
 * RAE, role-conditioned advantage estimation for self-play: each role's outcome against its own moving baseline, so that
 * a role that tends to win is not praised for it.
 */

import { z } from 'zod';
import type { JsonObject } from '../../../core/json/json.ts';
import { type CreditMethod, defineCreditMethod } from '../../contract/method.ts';

export const rae: CreditMethod = defineCreditMethod(
  {
    name: 'rae',
    aliases: ['spiral'],
    title: 'RAE (SPIRAL)',
    summary: "outcome minus a moving baseline of the role's outcomes, for self-play",
    formula: 'A_k = (R - b_{game,role}) · γ^(turns to the end),   b ← decay·b + (1 - decay)·R',
    source:
      '"SPIRAL: Self-Play on Zero-Sum Games Incentivizes Reasoning via Multi-Agent Multi-Turn Reinforcement Learning", arXiv 2506.24119',
    deviations: [
      'The baseline is read before its update, so it does not depend on the outcome that it is subtracted from. The paper’s listing updates first: `order=update-first`.',
      'Baselines are kept by game and role, as in the paper. The released code keeps them by role: `key=role`.',
      'Baselines begin at 0 and move with every trajectory, so results depend on the order of trajectories.',
    ],
    level: 'turn',
    wholeSteps: true,
    needs: [],
    uses: ['role', 'game'],
  },
  z.strictObject({
    decay: z.number().min(0).max(1).default(0.95).describe('Share of the old baseline kept at each update.'),
    gamma: z.number().min(0).max(1).default(1).describe('Discount per turn before the end.'),
    order: z
      .enum(['read-first', 'update-first'])
      .default('read-first')
      .describe('Whether the baseline is read before or after the outcome moves it.'),
    key: z.enum(['game-and-role', 'role']).default('game-and-role').describe('The unit that has a baseline.'),
  }),
  ({ decay, gamma, order, key }) =>
    (trajectories, state) => {
      const baselines: Record<string, JsonObject[string]> = { ...state };
      const credits = trajectories.map(({ id, role, game = '', outcome, turns }) => {
        const name = key === 'role' ? `rae/${role}` : `rae/${game}/${role}`;
        const before = (baselines[name] as number | undefined) ?? 0;
        const after = decay * before + (1 - decay) * outcome;
        baselines[name] = after;
        const advantage = outcome - (order === 'read-first' ? before : after);
        return { id, turnAdvantages_K: turns.map((_, k) => advantage * gamma ** (turns.length - 1 - k)) };
      });
      return { credits, state: baselines };
    },
);
