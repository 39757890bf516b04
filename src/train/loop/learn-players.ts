/** One step of learning for every learner of a run, each from the roles that it plays. */

import type { RoleGroup } from '../../core/trajectory.ts';
import type { Moment } from '../kit/gradient-steps.ts';
import type { Learner } from '../kit/learner.ts';
import type { Credited } from '../kit/stored-credit.ts';
import type { Metrics } from './events.ts';
import { learnStep, type Memory, type Update } from './learn-step.ts';

/**
 * The learners one after another: the first under the names of metrics as they are, others under `players/NAME/`. The state
 * of the credit method goes from one to the next.
 */
export async function learnPlayers(
  learner: Learner,
  groups: readonly RoleGroup[],
  moment: Moment,
  memory: Pick<Memory, 'credit' | 'recipe' | 'players'>,
): Promise<Update> {
  const { others } = learner;
  let update = await learnStep(learner, ofPlayer(learner, groups), moment, memory);
  for (const other of others) {
    const { credit } = update.memory;
    const own = { credit, recipe: memory.players?.[other.player] ?? other.recipe.start?.([]) ?? {} };
    const next = await learnStep(other, ofPlayer(other, groups), moment, own);
    update = together(update, next, other.player);
  }
  return update;
}

/** The groups whose role this learner plays. */
function ofPlayer({ player, seats }: Learner, groups: readonly RoleGroup[]): readonly RoleGroup[] {
  return seats ? groups.filter(({ role }) => seats.playerOf(role) === player) : groups;
}

function together(first: Update, other: Update, player: string): Update {
  const own = Object.entries(other.metrics).map(([name, value]) => [`players/${player}/${name}`, value]);
  const credited = new Map<string, Credited>([...(first.credited ?? []), ...(other.credited ?? [])]);
  return {
    ...first,
    metrics: { ...first.metrics, ...(Object.fromEntries(own) as Metrics) },
    ...(credited.size > 0 && { credited }),
    memory: {
      ...first.memory,
      credit: other.memory.credit,
      players: { ...first.memory.players, [player]: other.memory.recipe },
    },
    keep: [...first.keep, ...other.keep],
    trainedTokens: first.trainedTokens + other.trainedTokens,
    updates: first.updates + other.updates,
  };
}
