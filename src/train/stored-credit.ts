/** What credit made of the episodes of a step, as they are stored with it. */

import type { ByRole, Episode, Group, StoredCredit } from '../core/episode.ts';
import { roleGroups } from '../core/trajectory.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../credit/rollouts.ts';

export interface Credited {
  readonly credit: TrajectoryCredit;
  readonly input: CreditTrajectory;
}

/** The groups with the credit of `step`; episodes without any stay as they are. */
export function withCredit(
  groups: readonly Group[],
  credited: ReadonlyMap<string, Credited>,
  step: number,
): Group[] {
  return groups.map((group) => {
    const found = new Map<Episode, Record<string, StoredCredit>>();
    for (const { role, members } of roleGroups([group])) {
      for (const { id, episode } of members) {
        const own = credited.get(id);
        if (own) found.set(episode, { ...found.get(episode), [role]: storedCredit(own, step) });
      }
    }
    const members = group.members.map((episode): Episode => {
      const credit: ByRole<StoredCredit> | undefined = found.get(episode);
      return credit ? { ...episode, credit } : episode;
    });
    return { ...group, members };
  });
}

function storedCredit({ credit, input }: Credited, step: number): StoredCredit {
  const { turns } = input;
  return {
    inBaseline: true,
    inLoss: true,
    weight: 1,
    trainedIn: step,
    advantages_K: credit.turnAdvantages_K,
    ...(credit.tokenAdvantages_T && { advantages_T: Array.from(credit.tokenAdvantages_T) }),
    ...(turns.some(({ values }) => values) && { values: turns.flatMap(({ values = [] }) => values) }),
    ...(turns.some(({ entropies }) => entropies) && {
      entropies: turns.flatMap(({ entropies = [] }) => entropies),
    }),
  };
}
