/** Unary feedback (arXiv 2507.14295): a failed attempt is told to be wrong, and nothing else, and the task begins anew. */

import type { Environment } from '../environment.ts';
import { lifted } from './lifted.ts';

/** A type alias, since interfaces are not assignable to `Json`. */
export type Attempted<State> = { readonly now: State; readonly start: State; readonly attempt: number };

export interface UnaryFeedbackOptions {
  /** Attempts at one task. Default 5. */
  readonly attempts?: number;
  /** What a success is worth at each further attempt, as a factor. Default 0.5. */
  readonly decay?: number;
  /** What is said after a failed attempt. Default `wrong, try again`. */
  readonly feedback?: string;
}

/**
 * The environment, with several attempts at each task. A failed one pays nothing, and a success pays less the later it comes.
 *
 * @example
 * export const patient = unaryFeedback(countdown, { attempts: 3 });
 */
export function unaryFeedback<Task, State>(
  inner: Environment<Task, State>,
  { attempts = 5, decay = 0.5, feedback = 'wrong, try again' }: UnaryFeedbackOptions = {},
): Environment<Task, Attempted<State>> {
  const { natural } = inner;
  return {
    name: `${inner.name}-unary-feedback`,
    description: `${inner.description} ${attempts} attempts, each told only whether it was right.`,
    maxTurns: attempts * inner.maxTurns,
    tasks: (split) => inner.tasks(split),
    ...lifted(inner, ({ now }: Attempted<State>) => now),
    start(task, rng) {
      const { state, messages } = inner.start(task, rng);
      return { state: { now: state, start: state, attempt: 0 }, messages };
    },
    step({ now, start, attempt }, action, rng) {
      const step = inner.step(now, action, rng);
      // What is no answer costs a turn, and no attempt.
      if (!step.valid)
        return { ...step, reward: 0, state: { now, start, attempt }, done: false, success: false };
      if (!step.done) return { ...step, reward: 0, state: { now: step.state, start, attempt } };
      if (step.success)
        return {
          ...step,
          reward: step.reward * decay ** attempt,
          state: { now: step.state, start, attempt },
        };
      const next = attempt + 1;
      return {
        ...step,
        observation: feedback,
        reward: 0,
        done: next === attempts,
        success: false,
        state: { now: start, start, attempt: next },
      };
    },
    ...(natural && {
      natural: {
        instructions: `${natural.instructions} You have ${attempts} attempts.`,
        example: natural.example,
        observe: ({ now, attempt }, step) =>
          step?.valid === false
            ? `That is no answer. ${natural.observe(now)}`
            : step?.observation === feedback && attempt > 0
              ? `That is wrong. Attempt ${attempt + 1} of ${attempts}: ${natural.observe(now)}`
              : natural.observe(now, step && { ...step, state: step.state.now }),
      },
    }),
  };
}
