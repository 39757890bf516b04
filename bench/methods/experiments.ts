/** All experiments, and the methods that have none, with the reason. */

import type { Experiment } from './experiment.ts';
import { offPolicyExperiments } from './off-policy.ts';
import { onPolicyExperiments } from './on-policy.ts';
import { tables } from './tables.ts';

export const experiments: readonly Experiment[] = [...onPolicyExperiments, ...offPolicyExperiments];

const tried = new Set(experiments.flatMap(({ methods }) => methods));
const onTables = new Set(tables.flatMap(({ methods }) => methods));

/** Recipes that a claim is about, and no older experiment. */
const claimed = [
  'agent-r',
  'bi-level-gae',
  'cory',
  'distillation',
  'e-grpo',
  'g-ra',
  'gigpo',
  'hgpo',
  'igpo',
  'mars',
  'matchtir',
  'mt-grpo',
  'on-policy-distillation',
  'self-play',
  'spa-rl',
  'turn-gae',
  'waltzrl',
] as const;

/** Recipe -> why it has no experiment. */
export const pending: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...onTables]
      .filter((name) => !tried.has(name))
      .map((name) => [name, 'its credit is tested on tables of logits alone']),
  ),
  ...Object.fromEntries(claimed.map((name) => [name, 'no older experiment; there is a claim'])),
  earl: 'its credit is tested by worked numbers alone',
  sft: 'it imitates recordings, and claims nothing beyond them',
};
