/** One step of learning for every learner of a run, each from the roles that it plays. */

import type { RoleGroup } from '../../core/trajectory.ts';
import type { Moment } from '../kit/gradient-steps.ts';
import type { Learner } from '../kit/learner.ts';
import { playedBy } from '../kit/seats.ts';
import type { Credited, CreditStates } from '../kit/stored-credit.ts';
import type { Metrics } from './events.ts';
import { learnStep, type Memory, type PlayerMemory, type Update } from './learn-step.ts';

/**
 * The learners one after another: the first under the names of metrics as they are, others under `players/NAME/`. Each has
 * a state of the credit method and a memory of the recipe of its own.
 */
export async function learnPlayers(
  learner: Learner,
  groups: readonly RoleGroup[],
  moment: Moment,
  memory: Pick<Memory, 'credit' | 'recipe' | 'players'>,
  signal: AbortSignal,
): Promise<Update> {
  const { others, config } = learner;
  if (config.prompts.alone) return unlearned(memory);
  let update = await learnStep(learner, ofPlayer(learner, groups), moment, memory, signal);
  for (const other of others) {
    const own = memory.players?.[other.player] ?? { credit: {}, recipe: other.recipe.start?.([]) ?? {} };
    const next = await learnStep(other, ofPlayer(other, groups), moment, own, signal);
    update = together(update, next, other.player);
  }
  return update;
}

/** Where only prompts learn: no weight, no credit, and nothing that a recipe would remember. */
function unlearned({ credit, recipe, players }: Parameters<typeof learnPlayers>[3]): Update {
  return {
    metrics: { 'tokens/trained': 0 },
    memory: { credit, recipe, ...(players && { players }) },
    keep: [],
    trainedTokens: 0,
    updates: 0,
  };
}

/** The states of the credit method before a step, of all learners. */
export function creditStates(
  { others, seats }: Pick<Learner, 'others' | 'seats'>,
  { credit, players }: Pick<Memory, 'credit' | 'players'>,
): CreditStates {
  if (!seats) return { credit };
  const own = others.map(({ player }) => [player, { credit: players?.[player]?.credit ?? {} }] as const);
  return { credit, players: Object.fromEntries(own) };
}

/** The groups in which this learner plays the role. */
function ofPlayer({ player, seats }: Learner, groups: readonly RoleGroup[]): readonly RoleGroup[] {
  return seats ? playedBy(groups, (name) => name === player) : groups;
}

const playerMemory = ({ credit, recipe }: Update['memory']): PlayerMemory => ({ credit, recipe });

function together(first: Update, other: Update, player: string): Update {
  const own = Object.entries(other.metrics).map(([name, value]) => [`players/${player}/${name}`, value]);
  const credited = new Map<string, Credited>([...(first.credited ?? []), ...(other.credited ?? [])]);
  return {
    ...first,
    metrics: { ...first.metrics, ...(Object.fromEntries(own) as Metrics) },
    ...(credited.size > 0 && { credited }),
    memory: {
      ...first.memory,
      players: { ...first.memory.players, [player]: playerMemory(other.memory) },
    },
    keep: [...first.keep, ...other.keep],
    trainedTokens: first.trainedTokens + other.trainedTokens,
    updates: first.updates + other.updates,
  };
}
