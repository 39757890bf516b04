/** A learner whose settings follow the stages of its run. */

import { configAt, stageOf } from '../config/stages.ts';
import { type Learner, partsOf } from './learner.ts';

/** The learner of a step, counted from 1: the same one throughout a stage, with the weights of all. */
export function staged(learner: Learner): (step: number) => Learner {
  const made = new Map<number, Learner>();
  return (step) => {
    const stage = stageOf(learner.config.stages, step);
    if (stage === -1) return learner;
    const known = made.get(stage);
    if (known) return known;
    const own = withConfigOf(learner, step);
    made.set(stage, own);
    return own;
  };
}

function withConfigOf(learner: Learner, step: number): Learner {
  const config = configAt(learner.config, step);
  return {
    ...learner,
    config,
    ...partsOf(config, learner.catalogue),
    others: learner.others.map((other) => withConfigOf(other, step)),
  };
}
