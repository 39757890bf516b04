/**
 * A chain of doors: at each only one word opens, and which it is must be learned. A wrong word costs a turn. The end pays 1;
 * nothing is paid on the way, but the environment tells what methods with denser signals ask for.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { secretWord, WORDS } from './words.ts';

interface State {
  readonly door: number;
  readonly turn: number;
  readonly [key: string]: number;
}

export interface ChainOptions {
  readonly doors: number;
  readonly turns: number;
  readonly words: number;
  /** Paid, as a dense reward that is no part of the outcome, for the word "knock", which opens nothing. */
  readonly knock?: number;
  /** Whether "mumble" is a word, which no door understands. */
  readonly mumble?: boolean;
}

export function chain(given: Partial<ChainOptions> = {}): Environment {
  const { doors, turns, words, knock, mumble }: ChainOptions = { doors: 3, turns: 6, words: 3, ...given };
  const legal = [...WORDS.slice(0, words), ...(knock === undefined ? [] : ['knock'])];
  const observation = (door: number): string => `door:${door}`;
  return defineEnvironment<Record<string, never>, State>({
    name: 'chain',
    description: 'doors that open to one word each',
    maxTurns: turns,
    facts: ['dense', 'answerProbability', 'calls', 'goldenCalls', 'entityShare', 'counterfactual'],
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ state: { door: 0, turn: 0 }, messages: [user(observation(0))] }),
    step: (state, action) => {
      const opened = action === secretWord(state.door, words);
      const door = state.door + (opened ? 1 : 0);
      const turn = state.turn + 1;
      const success = door === doors;
      const left = turns - turn;
      return {
        state: { door, turn },
        observation: success ? '' : observation(door),
        reward: success ? 1 : 0,
        done: success || left === 0,
        success,
        valid: legal.includes(action),
        info: {
          credit: {
            dense: action === 'knock' ? (knock ?? 0) : opened ? 0.1 : 0,
            answerProbability: (state.door + 1) / (doors + 1),
            calls: [{ name: action === '' ? 'nothing' : action, arguments: { door: state.door } }],
            goldenCalls: Array.from({ length: doors }, (_, place) => ({
              name: secretWord(place, words),
              arguments: { door: place },
            })),
            entityShare: door / doors,
            // Another word here, and the right ones afterwards.
            counterfactual: doors - state.door <= left ? 1 : 0,
          },
        },
      };
    },
    anchor: ({ door }) => `door ${door}`,
    actions: () => [...legal, ...(mumble ? ['mumble'] : [])],
    solve: ({ door }) => secretWord(door, words),
  }) as unknown as Environment;
}
