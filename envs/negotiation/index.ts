/** Simple Negotiation: two roles trade resources that are worth something else to each. Rules as in TextArena (MIT). */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import { Rng } from '../../src/core/rng.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';

export const BASE: Readonly<Record<string, number>> = { wheat: 5, wood: 10, sheep: 15, brick: 25, ore: 40 };
export const RESOURCES: readonly string[] = Object.keys(BASE);
type Amounts = Readonly<Record<string, number>>;
/** What a role has, and what each resource is worth to it. */
export type Side = { readonly stock: Amounts; readonly worth: Amounts };
/** Of both roles. */
export type NegotiationTask = readonly [Side, Side];
export type Offer = {
  readonly gives: string;
  readonly given: number;
  readonly wants: string;
  readonly wanted: number;
};
export type NegotiationState = {
  readonly start: NegotiationTask;
  readonly stocks: readonly [Amounts, Amounts];
  readonly turn: number;
  readonly offer?: Offer;
  readonly last: string;
  readonly forfeit?: string;
};

const ROLES = ['first', 'second'] as const;

const options = z.strictObject({
  turns: z.int().min(2).max(40).default(10).describe('Turns of both roles together'),
  most: z.int().min(1).max(5).default(3).describe('The most of one resource that an offer names'),
  wording: wordingOption,
});

function side(rng: Rng): Side {
  const each = (value: (name: string) => number): Amounts =>
    Object.fromEntries(RESOURCES.map((name) => [name, value(name)]));
  return {
    stock: each(() => 5 + rng.int(21)),
    // Within a fifth of the base, and from 5 to 40.
    worth: each((name) => Math.min(40, Math.max(5, Math.round(BASE[name]! * (0.8 + 0.4 * rng.next()))))),
  };
}

/** What a role's stock has gained in its own eyes. */
export function gain({ start, stocks }: NegotiationState, seat: number): number {
  const { stock, worth } = start[seat]!;
  return RESOURCES.reduce((sum, name) => sum + worth[name]! * (stocks[seat]![name]! - stock[name]!), 0);
}

/** What an offer brings the one who makes it (`sign` 1) or takes it (-1), at these values. */
export function worthOf({ gives, given, wants, wanted }: Offer, worth: Amounts, sign: 1 | -1): number {
  return sign * (worth[wants]! * wanted - worth[gives]! * given);
}

const words = ({ gives, given, wants, wanted }: Offer): string =>
  `offer ${given} ${gives} for ${wanted} ${wants}`;

/** The game. Whoever's stock gained more in its own eyes wins 1 from the other; an illegal action loses. */
export function negotiationGame({
  turns,
  most,
}: {
  readonly turns: number;
  readonly most: number;
}): Game<NegotiationTask, NegotiationState> {
  const amounts = Array.from({ length: most }, (_, index) => index + 1);
  const OFFERS: readonly Offer[] = RESOURCES.flatMap((gives) =>
    RESOURCES.filter((wants) => wants !== gives).flatMap((wants) =>
      amounts.flatMap((given) => amounts.map((wanted) => ({ gives, given, wants, wanted }))),
    ),
  );
  const byWords = new Map(OFFERS.map((offer) => [words(offer), offer]));

  const mover = ({ turn, forfeit }: NegotiationState): string | undefined =>
    forfeit === undefined && turn < turns ? ROLES[turn % 2] : undefined;

  /** Both sides have to have what they would give. */
  const isCovered = (
    { stocks }: NegotiationState,
    seat: number,
    { gives, given, wants, wanted }: Offer,
  ): boolean => stocks[seat]![gives]! >= given && stocks[1 - seat]![wants]! >= wanted;

  function offersOf(state: NegotiationState): readonly Offer[] {
    const seat = state.turn % 2;
    return OFFERS.filter(({ gives, given }) => state.stocks[seat]![gives]! >= given);
  }

  function legal(state: NegotiationState): readonly string[] {
    if (mover(state) === undefined) return [];
    const seat = state.turn % 2;
    const answers = state.offer && isCovered(state, 1 - seat, state.offer) ? ['accept'] : [];
    return ['deny', ...answers, ...offersOf(state).map(words)];
  }

  function step(state: NegotiationState, role: string, action: string): GameStep<NegotiationState> {
    const valid = legal(state).includes(action);
    const next = valid ? act(state, action) : { ...state, forfeit: role };
    const done = mover(next) === undefined;
    const lead = done ? leadOfFirst(next) : 0;
    return {
      state: next,
      rewards: { first: lead, second: 0 - lead },
      done,
      success: { first: lead > 0, second: lead < 0 },
      valid,
    };
  }

  /** An offer that is not accepted is gone. */
  function act(state: NegotiationState, action: string): NegotiationState {
    const { offer, ...rest } = state;
    const next = { ...rest, turn: state.turn + 1, last: action };
    const made = byWords.get(action);
    if (made) return { ...next, offer: made };
    if (action !== 'accept' || offer === undefined) return next;
    const seat = 1 - (state.turn % 2);
    const stocks = state.stocks.map((stock, index) => {
      const sign = index === seat ? 1 : -1;
      return {
        ...stock,
        [offer.gives]: stock[offer.gives]! - sign * offer.given,
        [offer.wants]: stock[offer.wants]! + sign * offer.wanted,
      };
    });
    return { ...next, stocks: stocks as unknown as readonly [Amounts, Amounts] };
  }

  function leadOfFirst(state: NegotiationState): number {
    if (state.forfeit !== undefined) return state.forfeit === 'first' ? -1 : 1;
    return 0 + Math.sign(gain(state, 0) - gain(state, 1));
  }

  /** Accepts what gains more than the other is likely to gain, else offers what gains most of what the other may like. */
  function trade(state: NegotiationState): string {
    const seat = state.turn % 2;
    const { worth } = state.start[seat]!;
    const { offer } = state;
    if (offer && legal(state).includes('accept')) {
      const own = worthOf(offer, worth, -1);
      if (own > 0 && own > worthOf(offer, BASE, 1)) return 'accept';
    }
    // By the base values, which are the best guess at the other's.
    const tempting = offersOf(state).filter(
      (one) => worthOf(one, BASE, -1) > 0 && worthOf(one, worth, 1) > worthOf(one, BASE, -1),
    );
    if (tempting.length === 0) return 'deny';
    return words(tempting.reduce((a, b) => (worthOf(b, worth, 1) > worthOf(a, worth, 1) ? b : a)));
  }

  /** All that a role knows. */
  function observe(state: NegotiationState, role: string): string {
    const seat = ROLES.indexOf(role as 'first');
    if (mover(state) === undefined) {
      const lead = leadOfFirst(state) * (seat === 0 ? 1 : -1);
      const how =
        state.forfeit === undefined ? '' : state.forfeit === role ? 'illegal ' : 'opponent-illegal ';
      return `${how}${lead > 0 ? 'won' : lead < 0 ? 'lost' : 'drawn'} gain:${gain(state, seat)}`;
    }
    const { worth } = state.start[seat]!;
    const own = RESOURCES.map((name) => `${name}:${state.stocks[seat]![name]}@${worth[name]}`);
    return [`turn:${state.turn}`, ...own, 'last', state.last].join(' ');
  }

  function describe(state: NegotiationState, role: string): string {
    const seat = ROLES.indexOf(role as 'first');
    if (mover(state) === undefined) {
      const lead = leadOfFirst(state) * (seat === 0 ? 1 : -1);
      const how =
        state.forfeit === undefined
          ? ''
          : state.forfeit === role
            ? 'That was no legal action. '
            : 'The other player did nothing legal. ';
      return `${how}${lead > 0 ? 'You have won' : lead < 0 ? 'You have lost' : 'Nobody wins'}: your stock gained ${gain(state, seat)}.`;
    }
    const { worth } = state.start[seat]!;
    const own = RESOURCES.map((name) => `${state.stocks[seat]![name]} ${name} (worth ${worth[name]} each)`);
    const last = state.turn === 0 ? '' : ` The other player says: ${state.last}.`;
    return `You have ${own.join(', ')}.${last} ${turns - state.turn} turns are left. What do you say?`;
  }

  return defineGame<NegotiationTask, NegotiationState>({
    name: 'negotiation',
    description: 'Trade resources that two roles value differently; the larger gain wins.',
    roles: ROLES,
    maxTurns: Math.ceil(turns / 2),
    tasks: {
      size: Number.POSITIVE_INFINITY,
      at: (index) => [side(Rng.of('negotiation', index, 0)), side(Rng.of('negotiation', index, 1))],
    },
    start: (start) => ({ start, stocks: [start[0].stock, start[1].stock], turn: 0, last: 'nothing' }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: [
        `You trade wheat, wood, sheep, brick and ore with another player, for whom they are worth something else. You have ${turns} turns together. Whoever's stock`,
        `gains more value in the owner's eyes wins. An offer names 1 to ${most} of one resource for 1 to ${most} of another. Answer with accept, with deny, or with an offer such as`,
        'offer 2 wood for 1 brick, and nothing else. You need what you offer. Any other answer loses.',
      ].join(' '),
      example: [
        [
          'You have 9 wheat (worth 6 each), 8 wood (worth 11 each), 5 sheep (worth 13 each), 7 brick (worth 22 each), 6 ore (worth 44 each). What do you say?',
          'offer 3 sheep for 1 ore',
        ],
      ],
      isFirstTurn: ({ turn }) => turn < 2,
      toMove: mover,
      observe: describe,
    }),
    step,
    anchor: observe,
    actions: legal,
    solve: trade,
    stumble: (state, _, rng) => {
      // Accepts whatever gains anything, and asks for bargains that nobody grants.
      if (
        state.offer &&
        legal(state).includes('accept') &&
        worthOf(state.offer, state.start[state.turn % 2]!.worth, -1) > 0
      )
        return 'accept';
      return words(rng.pick(offersOf(state)));
    },
    render: (state) =>
      ROLES.map((role, seat) => `${role} ${gain(state, seat)}: ${observe(state, role)}`).join('\n'),
  });
}

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'negotiation',
  description: 'Trade resources that two roles value differently; the larger gain wins.',
  options,
  settings: {
    steps: 200,
    model: { width: 96, layers: 2, hidden: 256 },
    clone: { demonstrations: 1000, randomRate: 0.5, steps: 300 },
    rollout: { tasks: 32, group: 8 },
    objective: { entropyCoefficient: 0.02 },
    optimizer: { learningRate: 1e-3 },
  },
  create: ({ wording, ...rest }) => fromGame(negotiationGame(rest), { wording }),
});
