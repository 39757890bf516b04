/**
 * An answer, a critique and a refinement, by one policy that sees only the latest turn. The question has one right word of
 * two, which only the critic can see; its critique is one of two words, and what they mean must be agreed upon.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';

const ANSWERS = ['red', 'green'] as const;
const CRITIQUES = ['good', 'bad'] as const;

interface State {
  readonly truth: string;
  readonly answer: string;
  readonly critique: string;
  readonly turn: number;
  readonly [key: string]: string | number;
}

export function review(): Environment {
  const legalAt = (turn: number): readonly string[] => (turn === 1 ? CRITIQUES : ANSWERS);
  const shown = ({ truth, answer, critique, turn }: State): string =>
    turn === 0
      ? 'question'
      : turn === 1
        ? `said:${answer} truth:${truth}`
        : `said:${answer} critique:${critique}`;
  return defineEnvironment<{ truth: string }, State>({
    name: 'review',
    description: 'an answer, a critique and a refinement',
    maxTurns: 3,
    tasks: () => ({ size: 8, at: (index) => ({ truth: ANSWERS[index % ANSWERS.length]! }) }),
    start: ({ truth }) => {
      const state: State = { truth, answer: '', critique: '', turn: 0 };
      return { state, messages: [user(shown(state))] };
    },
    step: (state, action) => {
      const valid = legalAt(state.turn).includes(action);
      const word = valid ? action : 'nothing';
      const turn = state.turn + 1;
      const next = state.turn === 1 ? { ...state, critique: word, turn } : { ...state, answer: word, turn };
      const done = turn === 3;
      const success = done && word === state.truth;
      return {
        state: next,
        observation: done ? '' : shown(next),
        reward: success ? 1 : 0,
        done,
        success,
        valid,
      };
    },
    anchor: shown,
    actions: ({ turn }) => legalAt(turn),
    solve: ({ truth, answer, critique, turn }, rng) => {
      if (turn === 0) return rng.pick(ANSWERS);
      if (turn === 1) return answer === truth ? 'good' : 'bad';
      return critique === 'bad' ? ANSWERS.find((one) => one !== answer)! : answer;
    },
  }) as unknown as Environment;
}
