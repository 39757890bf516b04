/** A placebo: WaltzRL whose feedback is paid for the improvement of another episode of its group. */

import { Rng } from 'turnwise';
import { defineCreditMethod, findCreditMethod, z } from 'turnwise/credit';

const { credit } = findCreditMethod('waltzrl').create({});

/** Roles that belong together are dealt anew: each feedback meets the answers of some other episode of its group. */
export const improvementDealt = defineCreditMethod(
  {
    name: 'improvement-dealt',
    summary: 'waltzrl with the answers of a group dealt out anew to its feedback',
    needs: ['turns[].labelCorrect'],
    wholeSteps: true,
  },
  z.strictObject({}),
  () => (trajectories, state) => {
    const steps = typeof state.steps === 'number' ? state.steps : 0;
    const rng = Rng.of('improvement-dealt', steps);
    const episodeOf = (one: (typeof trajectories)[number]): string =>
      one.episode ?? JSON.stringify([one.groupId, one.id]);
    const feedback = trajectories.filter(({ role }) => role === 'feedback');
    const dealt = new Map(
      [...new Set(feedback.map(({ groupId }) => groupId))].flatMap((groupId) => {
        const own = feedback.filter((one) => one.groupId === groupId).map(episodeOf);
        const others = rng.shuffle(own);
        return own.map((episode, index) => [episode, others[index]!] as const);
      }),
    );
    const mixed = trajectories.map((trajectory) =>
      trajectory.role === 'feedback'
        ? { ...trajectory, episode: dealt.get(episodeOf(trajectory))! }
        : { ...trajectory, episode: episodeOf(trajectory) },
    );
    return { credits: credit(mixed, {}).credits, state: { steps: steps + 1 } };
  },
);
