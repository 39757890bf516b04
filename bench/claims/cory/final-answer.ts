/** A rival: both roles are paid for the last answer alone, which is what an episode is judged by. */

import { defineShaping, z } from 'turnwise/credit';

export const finalAnswer = defineShaping(
  {
    name: 'final-answer',
    summary: 'every role of an episode earns what the last answer earned',
    needs: [],
    uses: ['role', 'episode'],
  },
  z.strictObject({ role: z.string().describe('Role that gives the last answer') }),
  ({ role }) =>
    (trajectories, state) => {
      const episodeOf = (one: (typeof trajectories)[number]): string =>
        one.episode ?? JSON.stringify([one.groupId, one.id]);
      const finals = new Map(
        trajectories.filter((one) => one.role === role).map((one) => [episodeOf(one), lastAnswer(one)]),
      );
      return {
        trajectories: trajectories.map((trajectory) => {
          const outcome = finals.get(episodeOf(trajectory)) ?? trajectory.outcome;
          const last = trajectory.turns.length - 1;
          const turns = trajectory.turns.map((turn, k) => ({ ...turn, reward: k === last ? outcome : 0 }));
          return { ...trajectory, outcome, turns };
        }),
        state,
      };
    },
);

/** What the last response of a role earned; of a role with a single one, all of it. */
function lastAnswer({
  turns,
  outcome,
}: {
  readonly turns: readonly { readonly response?: number; readonly reward: number }[];
  readonly outcome: number;
}): number {
  const last = turns.at(-1)?.response;
  if (last === undefined) return outcome;
  return turns.filter(({ response }) => response === last).reduce((sum, { reward }) => sum + reward, 0);
}
