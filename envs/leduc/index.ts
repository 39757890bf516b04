/** Leduc hold'em: six cards, two rounds of betting, a public card between them. Rules of OpenSpiel (Apache-2.0). */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import type { Rng } from '../../src/core/rng.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';
import { gameTree, type Strategy } from '../../src/eval/exploitability.ts';
import { regretMinimisation } from '../../src/eval/regret.ts';

export type Deal = { readonly first: string; readonly second: string; readonly table: string };
export type LeducState = {
  readonly deal: Deal;
  /** Actions of both rounds of betting. */
  readonly rounds: readonly [readonly string[], readonly string[]];
  readonly forfeit?: string;
};

const ROLES = ['first', 'second'] as const;
const DECK = ['J', 'J', 'Q', 'Q', 'K', 'K'] as const;
const ANTE = 1;
/** What a raise adds, by round. */
const RAISES = [2, 4] as const;
const MOST_RAISES = 2;
/** The most that a hand can cost, and so what an illegal action costs. */
export const MOST = ANTE + MOST_RAISES * (RAISES[0] + RAISES[1]);

/** The 120 ordered deals of three cards out of six; suits are not shown. */
export const DEALS: readonly Deal[] = DECK.flatMap((first, a) =>
  DECK.flatMap((second, b) =>
    DECK.flatMap((table, c) => (a === b || a === c || b === c ? [] : [{ first, second, table }])),
  ),
);

/** The game. Both roles are paid the chips that they win. */
export function leducGame(): Game<Deal, LeducState> {
  const game: Game<Deal, LeducState> = defineGame<Deal, LeducState>({
    name: 'leduc',
    description: "Leduc hold'em: poker with six cards and two rounds of betting, for two roles.",
    roles: ROLES,
    maxTurns: 4,
    tasks: () => DEALS,
    start: (deal) => ({ deal, rounds: [[], []] }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: RULES,
      example: EXAMPLE,
      isFirstTurn: ({ rounds }) => rounds[0].length + rounds[1].length < 2,
      toMove: mover,
      observe: describe,
    }),
    step,
    anchor: view,
    actions: legal,
    solve: (state, role, rng) => draw(equilibrium(game)[`${role}: ${view(state, role)}`]!, rng),
    stumble: (state, _, rng) => rng.pick(legal(state)),
    render: (state) =>
      `first ${state.deal.first}, second ${state.deal.second}, table ${table(state)}; ${said(state).join(' | ')}`,
  });
  return game;
}

const ITERATIONS = 200;
let solved: Strategy | undefined;

/** Close to an equilibrium: no opponent wins 0.02 chips a hand against it. Computed when it is first asked for. */
export function equilibrium(game: Game<Deal, LeducState>): Strategy {
  solved ??= regretMinimisation(gameTree(game), ITERATIONS);
  return solved;
}

function draw(weights: Readonly<Record<string, number>>, rng: Rng): string {
  let left = rng.next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  const chosen = Object.entries(weights).find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
  return chosen?.[0] ?? Object.keys(weights)[0]!;
}

function isClosed(round: readonly string[]): boolean {
  return round.length >= 2 && (round.at(-1) === 'check' || round.at(-1) === 'call');
}

/** 0 or 1, the round that is played. */
function present({ rounds }: LeducState): 0 | 1 {
  return isClosed(rounds[0]) ? 1 : 0;
}

function isOver({ rounds, forfeit }: LeducState): boolean {
  return forfeit !== undefined || rounds.some((round) => round.at(-1) === 'fold') || isClosed(rounds[1]);
}

function mover(state: LeducState): string | undefined {
  return isOver(state) ? undefined : ROLES[state.rounds[present(state)].length % 2];
}

function legal(state: LeducState): readonly string[] {
  if (isOver(state)) return [];
  const round = state.rounds[present(state)];
  const raises = round.filter((action) => action === 'raise').length;
  const more = raises < MOST_RAISES ? ['raise'] : [];
  return round.at(-1) === 'raise' ? ['fold', 'call', ...more] : ['check', ...more];
}

/** Chips that each role has put in. A call pays what is missing, a raise that and its size. */
export function stakes({ rounds }: Pick<LeducState, 'rounds'>): readonly [number, number] {
  const chips: [number, number] = [ANTE, ANTE];
  for (const [round, actions] of rounds.entries()) {
    for (const [turn, action] of actions.entries()) {
      if (action !== 'call' && action !== 'raise') continue;
      chips[turn % 2] = chips[1 - (turn % 2)]! + (action === 'raise' ? RAISES[round]! : 0);
    }
  }
  return chips;
}

/** Chips that the first role won. */
function wonByFirst(state: LeducState): number {
  const { deal, rounds, forfeit } = state;
  if (forfeit !== undefined) return forfeit === 'first' ? -MOST : MOST;
  const [first, second] = stakes(state);
  const folded = rounds.find((round) => round.at(-1) === 'fold');
  if (folded) return folded.length % 2 === 1 ? -first : second;
  const strength = (card: string): number => 'JQK'.indexOf(card) + (card === deal.table ? 10 : 0);
  const lead = strength(deal.first) - strength(deal.second);
  return lead === 0 ? 0 : lead > 0 ? second : -first;
}

function step(state: LeducState, role: string, action: string): GameStep<LeducState> {
  const valid = legal(state).includes(action);
  const [one, two] = state.rounds;
  const rounds: LeducState['rounds'] =
    present(state) === 0 ? [[...one, action], two] : [one, [...two, action]];
  const next: LeducState = valid ? { ...state, rounds } : { ...state, forfeit: role };
  const done = isOver(next);
  const won = done ? wonByFirst(next) : 0;
  return {
    state: next,
    rewards: { first: won, second: 0 - won },
    done,
    success: { first: won > 0, second: won < 0 },
    valid,
  };
}

function table(state: LeducState): string {
  return isClosed(state.rounds[0]) ? state.deal.table : 'hidden';
}

function said({ rounds }: LeducState): readonly string[] {
  return rounds.map((round) => round.join('-') || 'none');
}

/** All that a role knows, in four words. */
function view(state: LeducState, role: string): string {
  const [one, two] = said(state);
  return `card:${state.deal[role as 'first']} table:${table(state)} round1:${one} round2:${two}`;
}

function observe(state: LeducState, role: string): string {
  if (!isOver(state)) return `${role} ${view(state, role)}`;
  const won = wonByFirst(state) * (role === 'first' ? 1 : -1);
  const last = state.forfeit === undefined ? '' : state.forfeit === role ? 'illegal ' : 'opponent-illegal ';
  return `over ${last}chips:${won > 0 ? '+' : ''}${0 + won}`;
}

const RULES = [
  "You play Leduc hold'em. The deck has two jacks, two queens and two kings (J, Q, K). Each player has put in one chip and holds",
  'one card. After a round of betting a card is laid on the table, and a second round follows. A raise adds two chips in the first round',
  'and four in the second; each round has at most two raises. A card equal to that of the table wins, else the higher one.',
  `Answer with one word: check or raise; after a raise fold, call or raise. Any other word costs you ${MOST} chips.`,
].join(' ');
const EXAMPLE = [
  ['Your card is Q, the table is hidden. First round: none. What do you do?', 'raise'],
  ['Your card is J, the table is K. First round: check, check. Second round: raise. What do you do?', 'fold'],
] as const;

function describe(state: LeducState, role: string): string {
  if (isOver(state)) {
    const won = wonByFirst(state) * (role === 'first' ? 1 : -1);
    const how =
      state.forfeit === undefined
        ? ''
        : state.forfeit === role
          ? 'That was no legal action. '
          : 'The other player did nothing legal. ';
    return `${how}The hand is over. ${won === 0 ? 'Nobody wins.' : `You ${won > 0 ? 'win' : 'lose'} ${Math.abs(won)} chips.`}`;
  }
  const [one, two] = state.rounds.map((round) => round.join(', ') || 'none');
  const second = present(state) === 1 ? ` Second round: ${two}.` : '';
  const own = state.deal[role as 'first'];
  return `Your card is ${own}, the table is ${table(state)}. First round: ${one}.${second} What do you do?`;
}

const options = z.strictObject({ wording: wordingOption });

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'leduc',
  description: "Leduc hold'em: poker with six cards and two rounds of betting, for two roles.",
  options,
  settings: {
    steps: 400,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 1, steps: 100 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.1 },
    optimizer: { learningRate: 1e-3 },
    evaluation: { every: 50, tasks: 120, finalTasks: 120 },
    checkpoint: { every: 50 },
  },
  create: ({ wording }) => fromGame(leducGame(), { wording }),
});
