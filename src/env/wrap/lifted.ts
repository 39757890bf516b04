/** Everything of an environment that a wrapper leaves as it is, over the wrapper's own states. */

import { canonicalJson, type Json } from '../../core/json/json.ts';
import type { Rng } from '../../core/rng.ts';
import type { Environment } from '../environment.ts';

type Kept<Task, State> = Pick<
  Environment<Task, State>,
  'actions' | 'solve' | 'stumble' | 'correctThought' | 'notes' | 'slots' | 'render' | 'facts'
>;

/** @param inside the state of the wrapped environment */
export function lifted<Task, Inner, State>(
  inner: Environment<Task, Inner>,
  inside: (state: State) => Inner,
): Kept<Task, State> {
  const { actions, solve, stumble, correctThought, notes, slots, render, facts } = inner;
  return {
    ...(actions && { actions: (state: State) => actions(inside(state)) }),
    ...(solve && { solve: (state: State, rng: Rng) => solve(inside(state), rng) }),
    ...(stumble && { stumble: (state: State, rng: Rng) => stumble(inside(state), rng) }),
    ...(correctThought && {
      correctThought: (state: State, thought: string, rng: Rng) =>
        correctThought(inside(state), thought, rng),
    }),
    ...(notes && { notes: (state: State) => notes(inside(state)) }),
    ...(slots && { slots: (state: State) => slots(inside(state)) }),
    ...(render && { render: (state: State) => render(inside(state)) }),
    ...(facts && { facts }),
  };
}

/** The key of a wrapped state. */
export function anchorOf<State>({ anchor }: Environment<never, State>, state: State): string {
  return anchor?.(state) ?? canonicalJson(state as Json);
}

/** What the agent reads at the start, as one text. */
export const openingOf = (messages: readonly { readonly content: string }[]): string =>
  messages.map(({ content }) => content).join('\n');
