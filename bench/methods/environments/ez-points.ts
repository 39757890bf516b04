/**
 * EZPoints of gym-cards, which GTR was tried on: two cards that make 12, by a sum or a product, and a formula that is written
 * one symbol a turn. Every turn is a thought and a symbol. Only the finished formula pays; one that cannot come out right any
 * more ends the episode, as in GTR's code.
 */

import { user } from '../../../src/core/messages.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';

type Cards = readonly [number, number];
type State = { readonly cards: Cards; readonly written: readonly string[] };

const NUMBERS = Array.from({ length: 9 }, (_, index) => index + 2);
const SYMBOLS = [...NUMBERS.map(String), '+', '*', '='];
const DEALS: readonly Cards[] = NUMBERS.flatMap((a) => NUMBERS.map((b): Cards => [a, b])).filter(
  ([a, b]) => a + b === 12 || a * b === 12,
);
const aimOf = ([a, b]: Cards): 'sum' | 'product' => (a + b === 12 ? 'sum' : 'product');

/** What may be written next for a formula that comes out right. */
function nextSymbols({ cards, written }: State): readonly string[] {
  const [a, b] = cards.map(String) as [string, string];
  const sign = aimOf(cards) === 'sum' ? '+' : '*';
  const formulas = [
    [a, sign, b, '='],
    [b, sign, a, '='],
  ];
  const open = formulas.filter((formula) => written.every((symbol, place) => symbol === formula[place]));
  return open.flatMap((formula) => formula.slice(written.length, written.length + 1));
}

const shown = ({ cards, written }: State): string =>
  ['cards', ...cards, 'written', ...(written.length === 0 ? ['nothing'] : written)].join(' ');

export const ezPoints: Environment<Cards, State> = defineEnvironment<Cards, State>({
  name: 'ez-points',
  description: 'write a formula of two cards that makes 12',
  maxTurns: 4,
  tasks: () => ({ size: DEALS.length, at: (index) => DEALS[index]! }),
  start: (cards) => {
    const state = { cards, written: [] };
    return { state, messages: [user(shown(state))] };
  },
  step: (state, action) => {
    const next = { ...state, written: [...state.written, action] };
    const lost = !nextSymbols(state).includes(action);
    const success = !lost && action === '=';
    const done = lost || success;
    return {
      state: next,
      observation: done ? '' : shown(next),
      reward: success ? 1 : 0,
      done,
      success,
      valid: SYMBOLS.includes(action),
    };
  },
  anchor: ({ cards, written }) => `${cards} ${written.join('')}`,
  actions: () => SYMBOLS,
  solve: (state, rng) => rng.pick(nextSymbols(state)),
  // What the cards make, and what comes next for it.
  correctThought: (state, thought, rng) => {
    const rights = nextSymbols(state).map((symbol) => `aim:${aimOf(state.cards)} next:${symbol}`);
    return rights.includes(thought) ? thought : rng.pick(rights);
  },
});
