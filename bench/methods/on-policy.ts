/** Experiments about methods that learn from the episodes of the step. */

import type { Experiment } from './experiment.ts';
import { arpo } from './experiments/arpo.ts';
import { cispo } from './experiments/cispo.ts';
import { dapo } from './experiments/dapo.ts';
import { epo } from './experiments/epo.ts';
import { simpletir } from './experiments/simpletir.ts';

export const onPolicyExperiments: readonly Experiment[] = [dapo, cispo, simpletir, epo, arpo];

export const onPolicyPending: Readonly<Record<string, string>> = {};
