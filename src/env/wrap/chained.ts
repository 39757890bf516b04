/** Chained objectives, as in MEM1 (arXiv 2506.15841): several tasks of one environment, one after the other in one episode. */

import { Rng } from '../../core/rng.ts';
import type { Environment, Step } from '../environment.ts';
import { anchorOf, lifted, openingOf } from './lifted.ts';

export type Chained<State> = {
  readonly states: readonly State[];
  readonly openings: readonly string[];
  /** Which objective is under way, and its turns so far. */
  readonly current: number;
  readonly turn: number;
  readonly solved: number;
};

export interface ChainedOptions {
  /** Tasks of one episode. Default 2. */
  readonly objectives?: number;
}

/**
 * The environment, with several tasks an episode. The next begins when one has ended, or has used up its turns. Rewards add up;
 * success means that all were solved.
 *
 * @example
 * export const long = chained(guessNumber, { objectives: 4 });
 */
export function chained<Task, State>(
  inner: Environment<Task, State>,
  { objectives = 2 }: ChainedOptions = {},
): Environment<readonly Task[], Chained<State>> {
  const { natural } = inner;
  const inside = ({ states, current }: Chained<State>): State => states[current]!;
  /** The state after a step of the present objective, and whether that was its last. */
  const advance = (before: Chained<State>, step: Step<State>) => {
    const { current, turn, solved } = before;
    // What is no action costs a turn, and leads nowhere.
    const ends = step.valid && (step.done || turn + 1 >= inner.maxTurns);
    const isLast = current + 1 === objectives;
    const state = {
      ...before,
      states: before.states.map((own, index) => (index === current && step.valid ? step.state : own)),
      current: ends && !isLast ? current + 1 : current,
      turn: ends ? 0 : turn + 1,
      solved: solved + (ends && step.success ? 1 : 0),
    };
    return { state, moves: ends && !isLast, ends: ends && isLast };
  };
  return {
    name: `${inner.name}-chained`,
    description: `${inner.description} ${objectives} tasks, one after the other.`,
    maxTurns: objectives * inner.maxTurns,
    ...(inner.returns && {
      returns: [objectives * inner.returns[0], objectives * inner.returns[1]] as const,
    }),
    tasks: (split) => {
      const { size, at } = inner.tasks(split);
      const most = Math.min(size, 1_000_000);
      return {
        size,
        at: (index) => {
          const rng = Rng.of('chained', split, index);
          return Array.from({ length: objectives }, (_, place) => at(place === 0 ? index : rng.int(most)));
        },
      };
    },
    ...lifted(inner as unknown as Environment<readonly Task[], State>, inside),
    anchor: (state) =>
      `${state.current} ${state.solved} ${anchorOf(inner as Environment<never, State>, inside(state))}`,
    start(tasks, rng) {
      const starts = tasks.map((task, index) => inner.start(task, rng.at(index)));
      return {
        state: {
          states: starts.map(({ state }) => state),
          openings: starts.map(({ messages }) => openingOf(messages)),
          ...{ current: 0, turn: 0, solved: 0 },
        },
        messages: starts[0]!.messages,
      };
    },
    step(before, action, rng) {
      const step = inner.step(inside(before), action, rng);
      const { state, moves, ends } = advance(before, step);
      return {
        ...step,
        state,
        observation: moves ? `${step.observation} next ${state.openings[state.current]}` : step.observation,
        done: ends,
        success: ends && state.solved === objectives,
        metrics: { ...step.metrics, objectives: state.solved },
      };
    },
    ...(natural && {
      natural: {
        instructions: `${natural.instructions} There are ${objectives} tasks, one after the other.`,
        example: natural.example,
        observe(state, step) {
          if (step === undefined) return natural.observe(inside(state));
          if (state.turn === 0 && !step.done)
            return `Task ${state.current + 1} of ${objectives}: ${natural.observe(inside(state))}`;
          return natural.observe(inside(state), { ...step, state: inside(step.state) });
        },
      },
    }),
  };
}
