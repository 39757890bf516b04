/** All experiments, and the methods that have none, with the reason. */

import type { Experiment } from './experiment.ts';
import { offPolicyExperiments } from './off-policy.ts';
import { onPolicyExperiments } from './on-policy.ts';
import { tables } from './tables.ts';

export const experiments: readonly Experiment[] = [...onPolicyExperiments, ...offPolicyExperiments];

const tried = new Set(experiments.flatMap(({ methods }) => methods));
const onTables = new Set(tables.flatMap(({ methods }) => methods));

/** Recipes of whose names there is a claim, and no result yet. */
const claimed = ['bi-level-gae', 'gigpo', 'igpo', 'mt-grpo', 'turn-gae'] as const;

/** Recipe -> why it has no experiment. */
export const pending: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...onTables]
      .filter((name) => !tried.has(name))
      .map((name) => [name, 'its credit is tested on tables of logits alone']),
  ),
  ...Object.fromEntries(claimed.map((name) => [name, `the claim \`${name}\` has not been run`])),
  earl: 'its credit is tested by worked numbers alone',
  'self-play': 'its credit is tested by worked numbers alone',
  mars: 'its credit is tested by worked numbers alone',
  'agent-r': 'its splices are tested by worked episodes alone',
  sft: 'it imitates recordings, and claims nothing beyond them',
  'on-policy-distillation': 'the claim `distillation` needs the teachers that its folder makes',
  distillation: 'the claim `distillation` needs the teachers that its folder makes',
};
