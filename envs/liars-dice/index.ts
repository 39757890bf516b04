/** Liar's Dice: bid on dice of which you see your own, or call the other player's bid. Bidding as in TextArena (MIT). */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import type { Rng } from '../../src/core/rng.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';
import { gameTree, type Strategy } from '../../src/eval/exploitability.ts';
import { regretMinimisation } from '../../src/eval/regret.ts';

/** The dice of both seats in the first round. */
export type Rolls = readonly [readonly number[], readonly number[]];
export type LiarState = {
  readonly dice: Rolls;
  /** Bids of this round, such as `2x5`: at least two dice show five. */
  readonly bids: readonly string[];
  /** Who opened this round, 0 or 1. */
  readonly opener: number;
  readonly isFirstRound: boolean;
  readonly loser?: number;
  /** Whether the loser wrote something illegal. */
  readonly illegal?: boolean;
};

export interface LiarOptions {
  readonly dice: number;
  readonly faces: number;
}

const ROLES = ['first', 'second'] as const;
const ITERATIONS = 50;

const options = z.strictObject({
  dice: z.int().min(1).max(3).default(1).describe('Dice of each player; with 1 the game is solved'),
  faces: z.int().min(2).max(6).default(6).describe('Faces of a die'),
  wording: wordingOption,
});

/** The chance that at least `count` of `dice` unknown dice show one given face. */
export function chanceOf(count: number, dice: number, faces: number): number {
  if (count <= 0) return 1;
  if (dice < count) return 0;
  return (
    chanceOf(count - 1, dice - 1, faces) / faces + (chanceOf(count, dice - 1, faces) * (faces - 1)) / faces
  );
}

/** The game. The last player with dice wins 1 from the other. */
export function liarsDiceGame({ dice, faces }: LiarOptions): Game<Rolls, LiarState> {
  const mover = ({ bids, opener, loser }: LiarState): string | undefined =>
    loser === undefined ? ROLES[(opener + bids.length) % 2] : undefined;

  function legal(state: LiarState): readonly string[] {
    if (state.loser !== undefined) return [];
    const total = state.dice[0].length + state.dice[1].length;
    const [quantity, face] = state.bids.length > 0 ? numbers(state.bids.at(-1)!) : [1, 1];
    const higher: string[] = [];
    for (let q = quantity; q <= total; q++) for (let f = face; f <= faces; f++) higher.push(`${q}x${f}`);
    return state.bids.length === 0 ? higher : ['call', ...higher.filter((bid) => bid !== state.bids.at(-1))];
  }

  function step(state: LiarState, role: string, action: string, rng: Rng): GameStep<LiarState> {
    const seat = ROLES.indexOf(role as 'first');
    const valid = legal(state).includes(action);
    const next: LiarState = !valid
      ? { ...state, loser: seat, illegal: true }
      : action === 'call'
        ? reveal(state, seat, rng)
        : { ...state, bids: [...state.bids, action] };
    const won = next.loser === undefined ? 0 : next.loser === 0 ? -1 : 1;
    return {
      state: next,
      rewards: { first: won, second: 0 - won },
      done: won !== 0,
      success: { first: won > 0, second: won < 0 },
      valid,
    };
  }

  /** A call takes a die from the bidder whose bid was too high, else from the caller; the loser of a die opens. */
  function reveal(state: LiarState, caller: number, rng: Rng): LiarState {
    const [quantity, face] = numbers(state.bids.at(-1)!);
    const loses = state.dice.flat().filter((die) => die === face).length < quantity ? 1 - caller : caller;
    const left = state.dice.map((own, seat) => own.length - (seat === loses ? 1 : 0));
    if (left[loses] === 0) return { ...state, loser: loses };
    const roll = (count: number): number[] => Array.from({ length: count }, () => 1 + rng.int(faces));
    return { dice: [roll(left[0]!), roll(left[1]!)], bids: [], opener: loses, isFirstRound: false };
  }

  /** The number of matching dice that are still needed among the other's, and how likely they are. */
  function chance(state: LiarState, seat: number, bid: string): number {
    const [quantity, face] = numbers(bid);
    const own = state.dice[seat]!.filter((die) => die === face).length;
    return chanceOf(quantity - own, state.dice[1 - seat]!.length, faces);
  }

  /** Calls what is unlikely, else makes the likeliest bid. */
  function cautious(state: LiarState, role: string): string {
    const seat = ROLES.indexOf(role as 'first');
    const last = state.bids.at(-1);
    const likely = (bid: string): number => chance(state, seat, bid);
    const higher = legal(state).filter((action) => action !== 'call');
    const best = higher.reduce((a, b) => (likely(b) > likely(a) ? b : a), higher[0] ?? 'call');
    if (last === undefined || best === 'call') return best;
    return 1 - likely(last) > likely(best) ? 'call' : best;
  }

  const maxTurns = Math.ceil(((2 * dice - 1) * (2 * dice + faces)) / 2);
  const rolls = (count: number): readonly (readonly number[])[] =>
    count === 0
      ? [[]]
      : rolls(count - 1).flatMap((own) => Array.from({ length: faces }, (_, die) => [...own, die + 1]));
  const all: readonly Rolls[] = rolls(2 * dice).map((both) => [both.slice(0, dice), both.slice(dice)]);
  let solved: Strategy | undefined;

  const game: Game<Rolls, LiarState> = defineGame<Rolls, LiarState>({
    name: 'liars-dice',
    description: "Liar's Dice: bid on hidden dice or call a bid, for two roles.",
    roles: ROLES,
    maxTurns,
    returns: [-1, 1],
    // With one die each, chance lies only in the rolls, and exploitability needs all of them.
    tasks: dice === 1 ? () => all : all,
    start: (both) => ({ dice: both, bids: [], opener: 0, isFirstRound: true }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: [
        `You play Liar's Dice with dice of ${faces} faces. Each player sees only their own dice. A bid such as 2x5 says that at least two`,
        'of all dice show five. Each bid keeps or raises both numbers of the last one, and raises at least one. Instead, you may',
        'call the last bid: if it was too high, its bidder loses a die, else you do. Whoever has no dice left loses.',
        'Answer with a bid or with call and nothing else. Any other answer loses.',
      ].join(' '),
      example: [
        ['Your dice: 2. The other player has 1. Bids: none.', '1x2'],
        ['Your dice: 1. The other player has 1. Bids: 1x2, 2x2.', 'call'],
      ],
      isFirstTurn: ({ bids, isFirstRound }) => isFirstRound && bids.length < 2,
      toMove: mover,
      observe: describe,
    }),
    step,
    anchor: observe,
    actions: legal,
    solve: (state, role, rng) => {
      if (dice > 1) return cautious(state, role);
      solved ??= regretMinimisation(gameTree(game), ITERATIONS);
      const weights = Object.entries(solved[`${role}: ${observe(state, role)}`]!);
      return drawn(weights, rng);
    },
    stumble: cautious,
    render: ({ dice: both, bids }) =>
      `${both.map((own) => own.join(' ')).join(' | ')}   ${bids.join(' ') || 'no bid yet'}`,
  });
  return game;
}

function drawn(weights: readonly (readonly [string, number])[], rng: Rng): string {
  let left = rng.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const chosen = weights.find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
  return (chosen ?? weights[0]!)[0];
}

function numbers(bid: string): readonly [quantity: number, face: number] {
  const [quantity, face] = bid.split('x').map(Number);
  return [quantity!, face!];
}

function observe({ dice, bids, loser, illegal }: LiarState, role: string): string {
  const seat = ROLES.indexOf(role as 'first');
  if (loser !== undefined)
    return `${illegal ? (loser === seat ? 'illegal ' : 'opponent-illegal ') : ''}${loser === seat ? 'lost' : 'won'}`;
  const own = [...dice[seat]!].sort().map((die) => `mine:${die}`);
  return [...own, `theirs:${dice[1 - seat]!.length}`, ...(bids.length > 0 ? bids : ['open'])].join(' ');
}

function describe(state: LiarState, role: string): string {
  const seat = ROLES.indexOf(role as 'first');
  const { dice, bids, loser, illegal } = state;
  if (loser !== undefined) {
    const how = !illegal
      ? ''
      : loser === seat
        ? 'That was no legal bid. '
        : 'The other player did nothing legal. ';
    return `${how}You have ${loser === seat ? 'lost' : 'won'}.`;
  }
  const own = [...dice[seat]!].sort().join(', ');
  return `Your dice: ${own}. The other player has ${dice[1 - seat]!.length}. Bids: ${bids.join(', ') || 'none'}.`;
}

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'liars-dice',
  description: "Liar's Dice: bid on hidden dice or call a bid, for two roles.",
  options,
  settings: {
    steps: 300,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 0.7, steps: 150 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.05 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...rest }) => fromGame(liarsDiceGame(rest), { wording }),
});
