/** Reminders: the task is said again every few turns, for agents that lose it out of sight. */

import type { Environment } from '../environment.ts';
import { anchorOf, lifted, openingOf } from './lifted.ts';

/** `opening` in the compact and the natural wording. */
export type Reminded<State> = {
  readonly now: State;
  readonly opening: readonly [compact: string, natural: string];
  readonly turn: number;
};

export interface ReminderOptions {
  /** Turns from one reminder to the next. Default 5. */
  readonly every?: number;
  /** Said before the opening. Default `remember:`. */
  readonly words?: string;
}

/**
 * The environment, whose opening stands behind every few observations.
 *
 * @example
 * export const reminded = reminders(crafting, { every: 4 });
 */
export function reminders<Task, State>(
  inner: Environment<Task, State>,
  { every = 5, words = 'remember:' }: ReminderOptions = {},
): Environment<Task, Reminded<State>> {
  const { natural } = inner;
  const isDue = ({ turn }: Reminded<State>): boolean => turn % every === 0;
  return {
    name: `${inner.name}-reminders`,
    description: `${inner.description} The task is said again every ${every} turns.`,
    maxTurns: inner.maxTurns,
    ...(inner.returns && { returns: inner.returns }),
    ...(inner.truth && { truth: inner.truth }),
    tasks: (split) => inner.tasks(split),
    ...lifted(inner, ({ now }: Reminded<State>) => now),
    anchor: ({ now }) => anchorOf(inner as Environment<never, State>, now),
    start(task, rng) {
      const { state, messages } = inner.start(task, rng);
      const opening = openingOf(messages);
      return {
        state: { now: state, opening: [opening, natural?.observe(state) ?? opening], turn: 0 },
        messages,
      };
    },
    step(before, action, rng) {
      const step = inner.step(before.now, action, rng);
      const state = { ...before, now: step.state, turn: before.turn + 1 };
      const said =
        isDue(state) && !step.done ? `${step.observation} ${words} ${before.opening[0]}` : step.observation;
      return { ...step, state, observation: said };
    },
    ...(natural && {
      natural: {
        instructions: natural.instructions,
        example: natural.example,
        observe(state, step) {
          const said = natural.observe(state.now, step && { ...step, state: step.state.now });
          return step && isDue(state) && !step.done ? `${said} Remember: ${state.opening[1]}` : said;
        },
      },
    }),
  };
}
