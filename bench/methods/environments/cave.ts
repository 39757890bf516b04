/**
 * A cave that is reached by two ways. The word that leads on depends on the way that was taken, which the policy chose
 * itself and remembers; the cave looks the same. A wrong word costs a turn.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { WORDS } from './words.ts';

interface State {
  readonly place: string;
  readonly way: string;
  readonly depth: number;
  readonly turn: number;
  readonly [key: string]: string | number;
}

const WAYS = ['lamp', 'rope'] as const;

export function cave({ depths = 3, turns = 8, words = 4 } = {}): Environment {
  const legal: readonly string[] = [...WAYS, ...WORDS.slice(0, words)];
  const wayOn = ({ way, depth }: State): string => WORDS[(depth + (way === 'lamp' ? 0 : 1)) % words]!;
  const start: State = { place: 'hall', way: '', depth: 0, turn: 0 };
  const next = (state: State, action: string): State => {
    const turn = state.turn + 1;
    if (state.place === 'hall')
      return WAYS.includes(action as (typeof WAYS)[number])
        ? { place: `${action}-room`, way: action, depth: 0, turn }
        : { ...state, turn };
    if (state.place.endsWith('-room')) return { ...state, place: 'cave', turn };
    return { ...state, depth: state.depth + (action === wayOn(state) ? 1 : 0), turn };
  };
  const seen = ({ place, depth }: State): string => (place === 'cave' ? `cave:${depth}` : place);
  return defineEnvironment<Record<string, never>, State>({
    name: 'cave',
    description: 'two ways into a cave whose words depend on the way',
    maxTurns: turns,
    tasks: () => ({ size: 8, at: () => ({}) }),
    start: () => ({ state: start, messages: [user(seen(start))] }),
    step: (before, action) => {
      const state = next(before, action);
      const success = state.depth === depths;
      const done = success || state.turn === turns;
      return {
        state,
        observation: done ? '' : seen(state),
        reward: success ? 1 : 0,
        done,
        success,
        valid: legal.includes(action),
      };
    },
    anchor: seen,
    actions: () => legal,
    solve: (state, rng) => (state.place === 'hall' ? rng.pick(WAYS) : wayOn(state)),
  }) as unknown as Environment;
}
