/** Kuhn poker in sentences, for models that read. */

import { type Message, user } from '../../src/core/messages.ts';
import { naturalOpening } from '../../src/env/wording.ts';
import type { Action, Card, KuhnState, Seat } from './game.ts';

const RULES = [
  'You play Kuhn poker. The cards are J, Q and K, and K is the highest. Each of two players has put in one chip and holds',
  'one card. A bet and a call cost one chip each. The higher card takes all chips, unless someone folds.',
  'Answer with one word: check or bet; after a bet, fold or call. Any other word costs you two chips.',
].join(' ');

const EXAMPLE = [
  [ask('Q', []), 'check'],
  [ask('J', ['check', 'bet']), 'fold'],
  [ask('K', ['check']), 'bet'],
] as const;

/** What a seat reads before its turn. @param chips won or lost by the seat, once the hand is over */
export function sentences(state: KuhnState, seat: Seat, chips: number | undefined): readonly Message[] {
  if (chips !== undefined) return [user(ending(state, seat, chips))];
  const question = ask(state.deal[seat], state.history);
  // The other seat's move comes between the two turns that one may have.
  return state.history.length < 2 ? naturalOpening(RULES, EXAMPLE, question) : [user(question)];
}

function ask(card: Card, history: readonly Action[]): string {
  const [opened, answered] = history;
  const allowed = history.at(-1) === 'bet' ? 'fold or call' : 'check or bet';
  const told =
    opened === undefined
      ? 'You act first.'
      : answered === undefined
        ? `The other player says ${opened}.`
        : `You said ${opened}, and the other player says ${answered}.`;
  return `Your card is ${card}. ${told} Answer ${allowed}.`;
}

function ending({ forfeit }: KuhnState, seat: Seat, chips: number): string {
  const won = `You ${chips > 0 ? 'win' : 'lose'} ${Math.abs(chips)} chip${Math.abs(chips) === 1 ? '' : 's'}.`;
  if (forfeit === undefined) return `The hand is over. ${won}`;
  return `${forfeit === seat ? 'That was no legal action.' : 'The other player did nothing legal.'} ${won}`;
}
