/** What MatchTIR is told, in the simplest way: what turns earn is added up, and episodes are compared. */

import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';
import { standardScores } from '../igpo/standard-scores.ts';

const { credit } = findCreditMethod('matchtir').create({});

export const matchesSummed = defineCreditMethod(
  {
    name: 'matches-summed',
    summary: 'standard score of the worth of all calls and the rewards of turns without calls',
    needs: ['goldenCalls'],
    uses: ['turns[].calls', 'turns[].reward'],
    ownRewards: true,
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const worths = credit(trajectories, {}).credits.map(
      ({ shaped }, index) => shaped?.outcome ?? trajectories[index]!.outcome,
    );
    const scores = standardScores(
      worths,
      trajectories.map(({ groupId }) => groupId),
    );
    const credits = trajectories.map(({ id, turns }, index) => ({
      id,
      turnAdvantages_K: turns.map(() => scores[index]!),
    }));
    return { credits, state };
  },
);
