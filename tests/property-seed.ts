/**
 * Properties draw the same cases in every run, so that a failure of the gate can be repeated; `PROPERTY_SEED=$RANDOM npm test`
 * tries others.
 */

import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });
