/** The credit of a step as it is stored: how it was computed, and what it gave each episode. */

import type { ByRole, Choice, Episode, Group, StepCredit, StoredCredit } from '../../core/episode.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { roleGroups } from '../../core/trajectory.ts';
import type { TurnScores } from '../../credit/contract/view.ts';
import type { CreditState, TrajectoryCredit } from '../../credit/report/rollouts.ts';
import { composeCredit } from '../../credit/shaping/shapings.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';

export interface Credited {
  readonly credit: TrajectoryCredit;
  readonly scores_K: readonly TurnScores[];
  readonly choice: Choice;
}

/** The state of the credit method before a step, and those of further learners where roles have seats. */
export interface CreditStates {
  readonly credit: CreditState;
  readonly players?: Readonly<Record<string, { readonly credit: CreditState }>>;
}

/** How a step computes credit. */
export function stepCredit(
  { credit }: Pick<TrainConfig, 'credit'>,
  { credit: state, players: others }: CreditStates,
  catalogue: Catalogue = builtIns,
): StepCredit {
  const { method, rewardScale, shape: shapings, ...given } = credit;
  const { options, shape } = composeCredit({ method, options: given, shape: shapings }, catalogue);
  const players =
    others && Object.fromEntries(Object.entries(others).map(([name, own]) => [name, own.credit]));
  const computed = { method, options, shape, rewardScale, state, ...(players && { players }) };
  // Options are JSON: they stand in config.json.
  return computed as unknown as StepCredit & JsonObject;
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

function storedCredit({ credit, scores_K, choice }: Credited, step: number): StoredCredit {
  const has = (name: keyof TurnScores): boolean => scores_K.some((scores) => scores[name] !== undefined);
  return {
    ...choice,
    trainedIn: step,
    advantages_K: credit.turnAdvantages_K,
    ...(credit.tokenAdvantages_T && { advantages_T: Array.from(credit.tokenAdvantages_T) }),
    ...(has('bonus') && { bonus_K: scores_K.map(({ bonus = 0 }) => bonus) }),
    ...(has('values') && { values: scores_K.flatMap(({ values = [] }) => values) }),
    ...(has('facts') && { facts_K: scores_K.map(({ facts = {} }) => facts) }),
    ...(has('entropies') && { entropies: scores_K.flatMap(({ entropies = [] }) => entropies) }),
  };
}
