/** Experiments about methods that learn from the episodes of the step. */

import type { Experiment } from './experiment.ts';

export const onPolicyExperiments: readonly Experiment[] = [];

export const onPolicyPending: Readonly<Record<string, string>> = {};
