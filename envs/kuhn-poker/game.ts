/** The rules of Kuhn poker: three cards, an ante of one chip, one bet of one chip, and chips that are really counted. */

import type { Message } from '../../src/core/messages.ts';
import { user } from '../../src/core/messages.ts';
import type { TaskSet } from '../../src/env/environment.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { equilibriumPolicy } from './equilibrium.ts';
import { sentences } from './wording.ts';

export type Seat = 'first' | 'second';
export type Card = 'J' | 'Q' | 'K';
export type Action = 'check' | 'bet' | 'fold' | 'call';

/** A deal. Chance has no other part in the game. */
export type Deal = { readonly first: Card; readonly second: Card };

export type KuhnState = {
  readonly deal: Deal;
  readonly history: readonly Action[];
  /** The seat that wrote something illegal, which ended the hand. */
  readonly forfeit?: Seat;
};

/** What each seat puts in before the cards are dealt, and the size of the one bet. */
export const ANTE = 1;
export const BET = 1;

const RANK: Readonly<Record<Card, number>> = { J: 0, Q: 1, K: 2 };
const SEATS = ['first', 'second'] as const;

/** The six deals, each as likely as the others. */
export const DEALS: readonly Deal[] = [
  { first: 'J', second: 'Q' },
  { first: 'J', second: 'K' },
  { first: 'Q', second: 'K' },
  { first: 'Q', second: 'J' },
  { first: 'K', second: 'J' },
  { first: 'K', second: 'Q' },
];

const deals: TaskSet<Deal> = { size: DEALS.length, at: (index) => DEALS[index]! };

export function kuhnPokerGame(): Game<Deal, KuhnState> {
  return defineGame<Deal, KuhnState>({
    name: 'kuhn-poker',
    description: 'Poker with three cards and one bet: two roles, hidden cards, mixed equilibrium.',
    roles: SEATS,
    maxTurns: 2,
    tasks: () => deals,
    start: (deal) => ({ deal, history: [] }),
    toMove: mover,
    observe: (state, role) => observe(state, role as Seat),
    natural: (state, role) =>
      sentences(state, role as Seat, isOver(state) ? chipsWon(state, role as Seat) : undefined),
    step: (state, role, action) => step(state, role as Seat, action),
    anchor: (state, role) => view(state, role as Seat),
    actions: (state) => legalActions(state),
    solve: (state, role, rng) => {
      const { action, probability } = equilibriumPolicy(state.deal[role as Seat], state.history);
      return rng.chance(probability) ? action : legalActions(state).find((other) => other !== action)!;
    },
    stumble: (state, _role, rng) => rng.pick(legalActions(state)),
    render,
  });
}

/** Chips in the pot of each seat. Every bet and every call adds to them. */
export function stakes(history: readonly Action[]): Record<Seat, number> {
  const chips = { first: ANTE, second: ANTE };
  for (const [index, action] of history.entries()) {
    if (action === 'bet' || action === 'call') chips[SEATS[index % 2]!] += BET;
  }
  return chips;
}

function isOver(state: KuhnState): boolean {
  const last = state.history.at(-1);
  const bothChecked = state.history.length === 2 && last === 'check';
  return state.forfeit !== undefined || bothChecked || last === 'fold' || last === 'call';
}

function mover(state: KuhnState): Seat | undefined {
  return isOver(state) ? undefined : SEATS[state.history.length % 2];
}

function legalActions(state: KuhnState): readonly Action[] {
  if (isOver(state)) return [];
  return state.history.at(-1) === 'bet' ? ['fold', 'call'] : ['check', 'bet'];
}

function step(state: KuhnState, seat: Seat, action: string): GameStep<KuhnState> {
  const legal = legalActions(state).find((known) => known === action);
  const next: KuhnState =
    legal === undefined ? { ...state, forfeit: seat } : { ...state, history: [...state.history, legal] };
  const done = isOver(next);
  const won = done ? chipsWonByFirst(next) : 0;
  return {
    state: next,
    rewards: { first: won, second: 0 - won },
    done,
    success: { first: won > 0, second: won < 0 },
    valid: legal !== undefined,
  };
}

function chipsWonByFirst({ deal, history, forfeit }: KuhnState): number {
  if (forfeit !== undefined) return forfeit === 'first' ? -(ANTE + BET) : ANTE + BET;
  const chips = stakes(history);
  const firstWins =
    history.at(-1) === 'fold' ? history.length % 2 === 0 : RANK[deal.first] > RANK[deal.second];
  return firstWins ? chips.second : -chips.first;
}

/** All that a seat knows, in two words. */
function view(state: KuhnState, seat: Seat): string {
  return `card:${state.deal[seat]} history:${state.history.join('-') || 'none'}`;
}

function chipsWon(state: KuhnState, seat: Seat): number {
  return chipsWonByFirst(state) * (seat === 'first' ? 1 : -1);
}

function observe(state: KuhnState, seat: Seat): readonly Message[] {
  if (!isOver(state)) return [user(`${seat} ${view(state, seat)}`)];
  const won = chipsWon(state, seat);
  const last = state.forfeit === seat ? 'illegal' : state.forfeit ? 'opponent-illegal' : state.history.at(-1);
  return [user(`over ${last} chips:${won > 0 ? '+' : ''}${won}`)];
}

function render(state: KuhnState): string {
  const chips = stakes(state.history);
  const acted = state.history.map((action, index) => `${SEATS[index % 2]} ${action}s`);
  if (state.forfeit !== undefined) acted.push(`${state.forfeit} makes an illegal move`);
  return [
    `first ${state.deal.first} (${chips.first} chips in)   second ${state.deal.second} (${chips.second} chips in)`,
    acted.join(', ') || 'no move yet',
  ].join('\n');
}
