/**
 * What IGPO is told, in the simplest way: the gain of the whole episode is added to its outcome, and episodes are compared. The
 * recipe finds out the gains; `credit.method` names the method beside it.
 */

import { defineRecipe } from 'turnwise';
import { defineCreditMethod, z } from 'turnwise/credit';
import { truthProbabilities } from 'turnwise/recipes';
import { standardScores } from './standard-scores.ts';

export const summed = defineCreditMethod(
  {
    name: 'gain-summed',
    summary: 'standard score of the outcome plus that of the information gain of the whole episode',
    needs: ['turns[].answerProbability'],
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const groups = trajectories.map(({ groupId }) => groupId);
    const outcomes = standardScores(
      trajectories.map(({ outcome }) => outcome),
      groups,
    );
    const gains = standardScores(
      trajectories.map(({ turns }) => {
        const [first, last] = [turns[0], turns.at(-1)].map((turn) => Math.log(turn?.answerProbability ?? 1));
        return last! - first!;
      }),
      groups,
    );
    const credits = trajectories.map(({ id, turns }, index) => ({
      id,
      turnAdvantages_K: turns.map(() => outcomes[index]! + gains[index]!),
    }));
    return { credits, state };
  },
);

export const gainSummed = defineRecipe({
  name: 'gain-summed',
  summary: 'grpo on the outcome plus the information gain of the episode',
  needs: { truth: true },
  turnFacts: truthProbabilities,
});
