/** All experiments, and the methods that have none yet, with what they wait for. */

import type { Experiment } from './experiment.ts';
import { offPolicyExperiments } from './off-policy.ts';
import { onPolicyExperiments, onPolicyPending } from './on-policy.ts';

export const experiments: readonly Experiment[] = [...onPolicyExperiments, ...offPolicyExperiments];

/** Method -> what its experiment waits for. */
export const pending: Readonly<Record<string, string>> = onPolicyPending;
