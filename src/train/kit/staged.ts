/** A learner whose settings follow the stages of its run. */

import { configAt, type StageEnds, stageOf } from '../config/stages.ts';
import { type Learner, partsOf } from './learner.ts';

/**
 * The learner of a step, counted from 1: the same one throughout a stage, with the weights of all.
 *
 * @param ends of measured stages, as far as they have ended when it is asked
 */
export function staged(
  learner: Learner,
  ends: () => StageEnds | undefined = () => undefined,
): (step: number) => Learner {
  const made = new Map<number, Learner>();
  return (step) => {
    const stage = stageOf(learner.config.stages, step, ends());
    if (stage === -1) return learner;
    const known = made.get(stage);
    if (known) return known;
    const own = withConfigOf(learner, step, ends());
    made.set(stage, own);
    return own;
  };
}

function withConfigOf(learner: Learner, step: number, ends?: StageEnds): Learner {
  const config = configAt(learner.config, step, ends);
  return {
    ...learner,
    config,
    ...partsOf(config, learner.catalogue),
    others: learner.others.map((other) => withConfigOf(other, step, ends)),
  };
}
