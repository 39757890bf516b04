/** One step of learning: the recipe learns from the groups of the step, and what it did is counted. */

import { badDefinition } from '../../core/definition.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { findNonJson, type Json, type JsonObject } from '../../core/json/json.ts';
import { thrownText } from '../../core/safe-text.ts';
import type { RoleGroup } from '../../core/trajectory.ts';
import type { CreditState } from '../../credit/report/rollouts.ts';
import type { Moment } from '../kit/gradient-steps.ts';
import type { Kept, Learned } from '../kit/learn.ts';
import type { Learner } from '../kit/learner.ts';
import { policyGradient } from '../kit/policy-gradient.ts';
import { groupsInLoss, StepTrainer } from '../kit/step-trainer.ts';
import type { Credited } from '../kit/stored-credit.ts';
import { strippedGroups } from '../kit/strip-guidance.ts';
import type { Metrics } from './events.ts';

/** What is remembered from step to step; plain JSON. */
export interface Memory {
  /** Of the credit method. */
  readonly credit: CreditState;
  readonly recipe: Json;
  /** Of the source of tasks, of the turn control, and of each curation by its name. */
  readonly tasks: Json;
  readonly turns: Json;
  readonly curation: JsonObject;
  /** Of the source of prompts. */
  readonly prompts: Json;
  /** Of each learner besides the first, by its name. */
  readonly players?: Readonly<Record<string, PlayerMemory>>;
}

/** Of the credit method and of the recipe, for one learner. */
export type PlayerMemory = Pick<Memory, 'credit' | 'recipe'>;

/** What is remembered before the first step, by a recipe that may learn from what was recorded. */
export function initialMemory(
  {
    recipe,
    tasks,
    turns,
    curations,
    prompts,
  }: Pick<Learner, 'recipe' | 'tasks' | 'turns' | 'curations' | 'prompts'>,
  recorded: readonly Kept[] = [],
): Memory {
  return {
    credit: {},
    recipe: recipe.start?.(recorded) ?? {},
    tasks: tasks.start(),
    turns: turns.start(),
    curation: Object.fromEntries([...curations].map(([name, curation]) => [name, curation.start()])),
    prompts: prompts.start(),
  };
}

export interface Update {
  readonly metrics: Metrics;
  /** The credit of each trajectory, for the stored rollouts; absent where the recipe learns without. */
  readonly credited?: ReadonlyMap<string, Credited>;
  readonly memory: Pick<Memory, 'credit' | 'recipe' | 'players'>;
  /** Episodes that are learned from again. */
  readonly keep: readonly Kept[];
  readonly trainedTokens: number;
  /** Optimizer steps taken; 0 when there was nothing to learn from. */
  readonly updates: number;
  readonly why?: string;
}

/** @param played those in the baseline, with their choices @param signal of the run */
export async function learnStep(
  learner: Learner,
  played: readonly RoleGroup[],
  moment: Moment,
  { credit, recipe: memory }: PlayerMemory,
  signal: AbortSignal,
): Promise<Update> {
  const { config, recipe } = learner;
  const { groups, metrics: ofGuidance } = await strippedGroups(learner, played);
  const trainer = new StepTrainer(learner, moment, credit, groups, signal);
  const learn = recipe.learn ?? policyGradient;
  const at = { step: moment.step + 1, part: moment.part ?? 0, planned: moment.planned, memory };
  const learned = await askRecipe(recipe.name, () => learn(config)(trainer, groupsInLoss(groups), at));
  const { metrics, trainedTokens, updates } = trainer.figures();
  return {
    metrics: { ...metrics, ...ofGuidance, ...learned.metrics },
    ...(trainer.credited && { credited: trainer.credited }),
    memory: { credit: trainer.creditState, recipe: learned.memory },
    keep: learned.keep ?? [],
    trainedTokens,
    updates,
    ...(learned.why !== undefined && { why: learned.why }),
  };
}

/** What a recipe's own code left, or an error that names the recipe: the run ends at its last checkpoint. */
async function askRecipe(name: string, work: () => Promise<Learned>): Promise<Learned> {
  const subject = `Recipe "${name}"`;
  let learned: Learned;
  try {
    learned = await work();
  } catch (cause) {
    if (TurnwiseError.isInstance(cause)) throw cause;
    throw new TurnwiseError('definition-failed', {
      what: `${subject} threw an error while it learned`,
      seen: thrownText(cause),
      next: 'Correct it, then go on with "turnwise resume"',
      fields: { definition: subject },
      cause,
    });
  }
  if (typeof learned !== 'object' || learned === null)
    throw badDefinition(
      subject,
      'returned nothing from a step',
      learned,
      '{ memory, metrics?, keep?, why? }',
    );
  const strange = findNonJson(learned.memory);
  if (strange !== undefined)
    throw badDefinition(
      subject,
      'remembers something that is not JSON',
      strange,
      'plain JSON: it is in the checkpoint',
    );
  const [metric] = Object.entries(learned.metrics ?? {}).filter(([, value]) => typeof value !== 'number');
  if (metric)
    throw badDefinition(subject, `gave a metric "${metric[0]}" that is no number`, metric[1], 'a number');
  return learned;
}
