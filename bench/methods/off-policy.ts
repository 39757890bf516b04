/** Experiments about methods that learn from preferences, from a buffer or from a critic. */

import { archerExperiment } from './archer.ts';
import type { Experiment } from './experiment.ts';

export const offPolicyExperiments: readonly Experiment[] = [archerExperiment];

export const offPolicyPending: Readonly<Record<string, string>> = {};
