/** Experiments about methods that learn from preferences, from a buffer or from a critic. */

import type { Experiment } from './experiment.ts';

export const offPolicyExperiments: readonly Experiment[] = [];

export const offPolicyPending: Readonly<Record<string, string>> = {};
