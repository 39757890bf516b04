/** What a stage may change: whatever follows from the number of a step alone. The rest stays, each part for a reason of its own. */

import type { TrainConfig } from './config.ts';

const REMEMBERED = 'what is remembered under one name means nothing to another';
const MODEL = 'it is part of the model, which is made once';
const OPENED = 'it is opened once, before the first step';
const BEFORE = 'it decides what happens before the first step';
const EVALUATED = 'evaluations are compared with one another, so that all of them are played alike';
const RUN = 'it describes the whole run, not a step';
const IN_FLIGHT = 'episodes of several steps may be under way at once';

/** Why a setting stays throughout a run, by its path or by the beginning of it; the longest one counts. */
const STAYS: Readonly<Record<string, string>> = {
  seed: 'it names the chance of the whole run',
  steps: RUN,
  budget: RUN,
  checkpoint: RUN,
  rolloutLog: RUN,
  start: BEFORE,
  clone: BEFORE,
  data: BEFORE,
  engine: OPENED,
  tinker: OPENED,
  threads: OPENED,
  model: MODEL,
  chat: MODEL,
  lora: MODEL,
  players: OPENED,
  seats: OPENED,
  teacher: OPENED,
  rewardModel: OPENED,
  environment:
    'tasks are remembered by their number and stored episodes are played again, which needs one world; a source of tasks (tasks=NAME) chooses harder tasks later',
  evaluation: EVALUATED,
  batches: IN_FLIGHT,
  prompts:
    'what instructions earned is compared over the whole run, and evaluations read the best one; prompts.alone may change',
  'context.name':
    'demonstrations are played, and evaluations measured, under one context; its options may change',
  'objective.name':
    'channels, heads and options belong to one loss, which the run prepares for; its options may change',
  'objective.valueLoss': MODEL,
  'objective.valueBins': MODEL,
  'critic.strength': MODEL,
  'credit.method': REMEMBERED,
  'tasks.name': REMEMBERED,
  'turns.name': REMEMBERED,
  'rollout.concurrency': IN_FLIGHT,
  'rollout.batching': IN_FLIGHT,
  'rollout.policyKey': 'it names the chance of the whole run',
  'rollout.failureLimit': 'failures are counted across stages',
  'rollout.exchangeEvery': 'it counts the steps of the whole run',
};

/** What may differ from step to step, beside what a recipe of one's own reads. */
const CHANGES: readonly string[] = [
  ...['optimizer', 'objective', 'credit', 'replay', 'critic', 'rollout', 'tasks', 'turns', 'curation'],
  ...['branching', 'context', 'prompts.alone'],
];

/** For messages and for documentation. */
export const MAY_CHANGE = `options of ${CHANGES.join(', ')}, and those of a recipe of your own`;

/**
 * Why a stage cannot change this; undefined where it can.
 *
 * @param own what only the recipe of the run reads
 * @param places whether its source of tasks starts at places of earlier episodes
 */
export function reasonToStay(
  path: readonly string[],
  config: Pick<TrainConfig, 'curation'>,
  { own, places }: { readonly own: readonly string[]; readonly places: boolean },
): string | undefined {
  const [group = '', name = ''] = path;
  if (group === 'curation' && !(name in config.curation))
    return `it would remember nothing of the steps before; name it in the run, and leave it out of the other stages ("curation.${name}": false)`;
  if (group === 'context' && places && name !== 'name')
    return 'the source of tasks goes on from places of earlier episodes, whose prompts another context would not build again';
  if (own.includes(group)) return undefined;
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).join('.');
    if (CHANGES.includes(key)) return undefined;
    if (key in STAYS) return STAYS[key];
  }
  return 'nothing in a step reads it';
}
