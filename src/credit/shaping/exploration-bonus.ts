/** Bonuses for reaching states that were seldom reached: in all of training, in the episode, or both. */

import { z } from 'zod';
import { missingField } from '../contract/needs.ts';
import { turnRewards } from '../kit/columns.ts';
import { hashText } from '../kit/hash.ts';
import { sharedTurns } from '../methods/tree/branches.ts';
import type { CreditState, CreditTrajectory } from '../report/rollouts.ts';
import { withTurnRewards } from './rewards.ts';
import { defineShaping, type RewardShaping } from './shaping.ts';
import { fadingOut } from './spear-tool-bonus.ts';

export const explorationBonus: RewardShaping = defineShaping(
  {
    name: 'exploration-bonus',
    title: 'Exploration bonuses, global and episodic',
    summary: 'a reward for reaching rare states, counted over training, over the episode, or both',
    formula: `r_k ← r_k + β·w·b(s_{k+1}),   s_{k+1} = state that turn k led to
global:   b(s) = 1/√N(s),   N = visits in all of training, this step included
episodic: b(s) = 1/√n(s),   n = visits in this episode so far
product:  b(s) = 1/√N(s) · 1/√n(s)
w = ½(1 + cos(π·t/T)) for t steps so far, 0 after T;   1 where steps is 0`,
    source: '"A Study of Global and Episodic Bonuses for Exploration in Contextual MDPs", arXiv 2306.03236',
    deviations: [
      'States are anchors; the state after the last turn is unknown and earns nothing.',
      'Global counts are kept in a fixed number of buckets (65,536) by a hash of the anchor, so that checkpoints stay small.',
      'Visits of a step are counted before any bonus, so that the order of trajectories does not matter.',
      'Turns that a branch shares with its parent are one visit. Episodes that a curation inserts again are visits again.',
    ],
    wholeStepsIf: ({ scope, steps }) => scope !== 'episodic' || steps > 0,
    needs: ['turns[].anchor'],
    uses: ['parent', 'sharedTurns'],
    example: '--method rloo --shape exploration-bonus --set exploration-bonus.scope=product',
  },
  z.strictObject({
    scope: z
      .enum(['global', 'episodic', 'product'])
      .default('episodic')
      .describe('The scope of the counts: all of training, the episode, or the product of both.'),
    beta: z.number().min(0).default(0.1).describe('Weight of the bonus.'),
    steps: z.number().int().min(0).default(0).describe('Steps until nothing is left (T); 0: it never fades.'),
  }),
  ({ scope, beta, steps }) =>
    (trajectories, state) => {
      const step = (state[STEP] as number | undefined) ?? 0;
      const weight = beta * (steps === 0 ? 1 : fadingOut(step, steps));
      const counts =
        scope === 'episodic' ? undefined : countVisits('exploration-bonus', trajectories, state, COUNTS);
      const shaped = trajectories.map((trajectory) => {
        const inEpisode = new Map<string, number>();
        const visit = (anchor: string): number => {
          const visits = (inEpisode.get(anchor) ?? 0) + 1;
          inEpisode.set(anchor, visits);
          return visits;
        };
        const { turns } = trajectory;
        if (turns.length > 0) visit(anchorOf('exploration-bonus', trajectory, 0));
        const rewards_K = turnRewards(trajectory).map((reward, k) => {
          if (k === turns.length - 1) return reward;
          const anchor = anchorOf('exploration-bonus', trajectory, k + 1);
          const visits = visit(anchor);
          const seldom = counts === undefined ? 1 : 1 / Math.sqrt(visitsOf(counts, anchor));
          const fresh = scope === 'global' ? 1 : 1 / Math.sqrt(visits);
          return reward + weight * seldom * fresh;
        });
        return withTurnRewards(trajectory, rewards_K);
      });
      return {
        trajectories: shaped,
        state: { ...state, ...(counts && { [COUNTS]: counts }), ...(steps > 0 && { [STEP]: step + 1 }) },
      };
    },
);

const COUNTS = 'exploration-bonus/counts';
const STEP = 'exploration-bonus/step';
const BUCKETS = 65_536;

/** Visits per bucket, with those of this step; a turn that branches share is one. @param key of the counts so far in the state */
export function countVisits(
  method: string,
  trajectories: readonly CreditTrajectory[],
  state: CreditState,
  key: string,
): Record<string, number> {
  const counts: Record<string, number> = { ...(state[key] as Record<string, number> | undefined) };
  const { keys } = sharedTurns(trajectories);
  const visits = new Set<number>();
  let turn = 0;
  for (const trajectory of trajectories) {
    for (let k = 0; k < trajectory.turns.length; k++) {
      const bucket = bucketOf(anchorOf(method, trajectory, k));
      const visit = keys[turn++]! * BUCKETS + bucket;
      if (visits.has(visit)) continue;
      visits.add(visit);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
  }
  return counts;
}

/** Visits of a state that was counted. */
export const visitsOf = (counts: Readonly<Record<string, number>>, anchor: string): number =>
  counts[bucketOf(anchor)]!;

/** The state in which turn `k` acted. @throws TurnwiseError `credit-needs-field` */
export function anchorOf(method: string, trajectory: CreditTrajectory, k: number): string {
  const { anchor } = trajectory.turns[k]!;
  if (anchor === undefined) throw missingField(method, trajectory, 'turns[].anchor', k);
  return anchor;
}

function bucketOf(anchor: string): number {
  return hashText(anchor) % BUCKETS;
}
