/** Noise and faults: actions that get lost on the way, and words that cannot be read. */

import { Rng } from '../../core/rng.ts';
import type { Environment } from '../environment.ts';
import { anchorOf, lifted } from './lifted.ts';

/** `lost`: the last action; `blur` seeds the words that cannot be read. */
export type Faulty<State> = { readonly now: State; readonly lost: boolean; readonly blur: number };

export interface FaultOptions {
  /** Probability that an action does nothing, which the agent is told. Default 0.1. */
  readonly faults?: number;
  /** Probability that a word of an observation is replaced by `?`. Default 0. */
  readonly noise?: number;
  /** What is said when an action was lost. Default `lost, try again`. */
  readonly words?: string;
}

/**
 * The environment, as it is over a bad line. Faults are chance and no mistakes: a lost action counts as valid, costs a turn and
 * changes nothing.
 *
 * @example
 * export const shaky = faults(taxi, { faults: 0.2, noise: 0.05 });
 */
export function faults<Task, State>(
  inner: Environment<Task, State>,
  { faults: rate = 0.1, noise = 0, words = 'lost, try again' }: FaultOptions = {},
): Environment<Task, Faulty<State>> {
  const { natural } = inner;
  const blurred = (text: string, seed: number): string => {
    if (noise === 0) return text;
    const rng = Rng.of('blur', seed);
    return text.replace(/\S+/g, (word) => (rng.chance(noise) ? '?' : word));
  };
  return {
    name: `${inner.name}-faults`,
    description: `${inner.description} Some actions get lost, and some words.`,
    maxTurns: inner.maxTurns,
    ...(inner.facts && { facts: inner.facts }),
    tasks: (split) => inner.tasks(split),
    ...lifted(inner, ({ now }: Faulty<State>) => now),
    anchor: ({ now }) => anchorOf(inner as Environment<never, State>, now),
    start(task, rng) {
      const { state, messages } = inner.start(task, rng);
      return { state: { now: state, lost: false, blur: 0 }, messages };
    },
    step(before, action, rng) {
      // Streams of their own: what goes wrong never shifts what the environment draws.
      const chance = rng.at(1);
      const step = inner.step(before.now, action, rng.at(0));
      const lost = chance.chance(rate) && step.valid;
      const blur = chance.int(2 ** 31);
      if (!lost)
        return {
          ...step,
          state: { now: step.state, lost, blur },
          observation: step.done ? step.observation : blurred(step.observation, blur),
        };
      const { info: _, metrics: __, ...rest } = step;
      return {
        ...rest,
        state: { now: before.now, lost, blur },
        observation: words,
        reward: 0,
        done: false,
        success: false,
        ...(inner.facts?.includes('effectiveActions') && { info: { credit: { effectiveActions: 0 } } }),
      };
    },
    ...(natural && {
      natural: {
        instructions: `${natural.instructions} Some actions get lost: you are told, and may try again.`,
        example: natural.example,
        observe({ now, lost, blur }, step) {
          if (step === undefined) return natural.observe(now);
          if (lost) return 'Your action got lost. Try again.';
          const said = natural.observe(now, { ...step, state: step.state.now });
          return step.done ? said : blurred(said, blur);
        },
      },
    }),
  };
}
