/** All experiments, and the methods that have none yet, with what they wait for. */

import type { Experiment } from './experiment.ts';
import { offPolicyExperiments } from './off-policy.ts';
import { onPolicyExperiments } from './on-policy.ts';

export const experiments: readonly Experiment[] = [...onPolicyExperiments, ...offPolicyExperiments];

/** Recipe -> what its experiment waits for. At present none waits. */
export const pending: Readonly<Record<string, string>> = {
  sft: 'imitates recordings, and claims nothing beyond them',
};
