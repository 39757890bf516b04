/** Mini Hanabi: two players who see each other's cards and not their own build two fireworks together. */

import { z } from 'zod';
import { user } from '../../src/core/messages.ts';
import { defineWorld, type WorldFactory } from '../../src/env/factory.ts';
import { fromGame } from '../../src/env/from-game.ts';
import { defineGame, type Game, type GameStep } from '../../src/env/game.ts';
import { gameSentences, wordingOption } from '../../src/env/wording.ts';
import { chooseAction } from './player.ts';

export const COLOURS = ['red', 'blue'] as const;
export const RANKS = ['1', '2'] as const;
export type Card = { readonly colour: string; readonly rank: string };
/** A card, and whether its holder knows colour and rank. */
export type Held = Card & { readonly knowsColour: boolean; readonly knowsRank: boolean };

export type HanabiState = {
  readonly hands: readonly (readonly Held[])[];
  readonly deck: readonly Card[];
  readonly discarded: readonly Card[];
  readonly fireworks: Readonly<Record<string, number>>;
  readonly hints: number;
  readonly lives: number;
  readonly turn: number;
  /** Turns that are left once the deck is empty: one for each player. */
  readonly turnsLeft: number;
  readonly last: string;
  readonly illegal?: boolean;
};

export const ROLES = ['first', 'second'] as const;
export const BEST = COLOURS.length * RANKS.length;
const HAND = 3;
export const HINTS = 3;
const LIVES = 3;

/** Three ones and one two of each colour. */
export const DECK: readonly Card[] = COLOURS.flatMap((colour) =>
  ['1', '1', '1', '2'].map((rank) => ({ colour, rank })),
);

/** Every order of the deck in which equal cards are not told apart: 1120. */
function orders(cards: readonly Card[]): readonly (readonly Card[])[] {
  if (cards.length === 0) return [[]];
  const kinds = new Map(cards.map((card, index) => [name(card), index]));
  return [...kinds.values()].flatMap((index) =>
    orders(cards.filter((_, other) => other !== index)).map((rest) => [cards[index]!, ...rest]),
  );
}

/** The game. Both roles are paid the cards that were played well, at the end; nothing where all lives were lost. */
export function miniHanabiGame(): Game<readonly Card[], HanabiState> {
  return defineGame<readonly Card[], HanabiState>({
    name: 'mini-hanabi',
    description: 'Two fireworks, built together by two players who do not see their own cards.',
    roles: ROLES,
    maxTurns: 8,
    tasks: orders(DECK),
    start: (deck) => ({
      hands: [0, HAND].map((from) =>
        deck.slice(from, from + HAND).map((card) => ({ ...card, knowsColour: false, knowsRank: false })),
      ),
      deck: deck.slice(2 * HAND),
      discarded: [],
      fireworks: { red: 0, blue: 0 },
      hints: HINTS,
      lives: LIVES,
      turn: 0,
      turnsLeft: ROLES.length,
      last: 'none',
    }),
    toMove: mover,
    observe: (state, role) => [user(observe(state, role))],
    natural: gameSentences({
      rules: RULES,
      example: [[describe(EXAMPLE, 'first'), 'hint 1']],
      isFirstTurn: ({ turn }) => turn < 2,
      toMove: mover,
      observe: describe,
    }),
    step,
    anchor: observe,
    actions: legal,
    solve: (state) => chooseAction(state, legal(state)),
    stumble: (state, _, rng) =>
      rng.chance(0.5) ? chooseAction(state, legal(state)) : rng.pick(legal(state)),
    render: (state) =>
      [
        ...state.hands.map((hand, seat) => `${ROLES[seat]}: ${hand.map(name).join(' ')}`),
        table(state).join(' '),
      ].join('\n'),
  });
}

export const name = ({ colour, rank }: Card): string => `${colour}${rank}`;
export const isPlayable = ({ fireworks }: HanabiState, { colour, rank }: Card): boolean =>
  fireworks[colour] === Number(rank) - 1;
export const score = ({ fireworks, lives, illegal }: HanabiState): number =>
  lives === 0 || illegal ? 0 : Object.values(fireworks).reduce((sum, height) => sum + height, 0);

function mover(state: HanabiState): string | undefined {
  const isOver = state.illegal || state.lives === 0 || state.turnsLeft === 0 || score(state) === BEST;
  return isOver ? undefined : ROLES[state.turn % 2];
}

/** Hints name what the other has; with all hints there nothing may be discarded. */
export function legal(state: HanabiState): readonly string[] {
  if (mover(state) === undefined) return [];
  const [own, other] = [state.hands[state.turn % 2]!, state.hands[1 - (state.turn % 2)]!];
  const places = own.map((_, place) => place + 1);
  const named = [...COLOURS, ...RANKS].filter((word) => other.some((card) => touches(card, word)));
  return [
    ...places.map((place) => `play ${place}`),
    ...(state.hints < HINTS ? places.map((place) => `discard ${place}`) : []),
    ...(state.hints > 0 ? named.map((word) => `hint ${word}`) : []),
  ];
}

export const touches = ({ colour, rank }: Card, word: string): boolean => colour === word || rank === word;

/** The state after a legal action. */
export function after(state: HanabiState, action: string): HanabiState {
  const [verb, word] = action.split(' ') as [string, string];
  const seat = state.turn % 2;
  const turnsLeft = state.deck.length === 0 ? state.turnsLeft - 1 : state.turnsLeft;
  const next = { ...state, turn: state.turn + 1, turnsLeft, last: action.replace(' ', '-') };
  if (verb === 'hint') {
    const hand = state.hands[1 - seat]!.map((card) => ({
      ...card,
      knowsColour: card.knowsColour || card.colour === word,
      knowsRank: card.knowsRank || card.rank === word,
    }));
    return { ...next, hints: state.hints - 1, hands: withHand(state, 1 - seat, hand) };
  }
  const { colour, rank } = state.hands[seat]![Number(word) - 1]!;
  const [drawn, ...deck] = state.deck;
  const hand = [
    ...state.hands[seat]!.filter((_, place) => place !== Number(word) - 1),
    ...(drawn ? [{ ...drawn, knowsColour: false, knowsRank: false }] : []),
  ];
  const moved = { ...next, deck, hands: withHand(state, seat, hand) };
  if (verb === 'play' && isPlayable(state, { colour, rank }))
    return { ...moved, fireworks: { ...state.fireworks, [colour]: Number(rank) } };
  const gone = { ...moved, discarded: [...state.discarded, { colour, rank }] };
  return verb === 'play' ? { ...gone, lives: state.lives - 1 } : { ...gone, hints: state.hints + 1 };
}

function withHand({ hands }: HanabiState, seat: number, hand: readonly Held[]): readonly (readonly Held[])[] {
  return hands.map((known, other) => (other === seat ? hand : known));
}

function step(state: HanabiState, _role: string, action: string): GameStep<HanabiState> {
  const valid = legal(state).includes(action);
  const next: HanabiState = valid ? after(state, action) : { ...state, illegal: true };
  const done = mover(next) === undefined;
  const points = done ? score(next) : 0;
  const success = score(next) === BEST;
  return {
    state: next,
    rewards: { first: points, second: points },
    done,
    success: { first: success, second: success },
    valid,
  };
}

function table({ fireworks, hints, lives, deck }: HanabiState): readonly string[] {
  const heights = COLOURS.map((colour) => `${colour}:${fireworks[colour]}`);
  return [...heights, `hints:${hints}`, `lives:${lives}`, `deck:${deck.length}`];
}

const known = (card: Held): string =>
  `${card.knowsColour ? card.colour : ''}${card.knowsRank ? card.rank : ''}` || 'unknown';

/** What is on the table, what one knows of the own cards, and the other's cards with what the other knows. */
function observe(state: HanabiState, role: string): string {
  if (mover(state) === undefined) return `over ${state.illegal ? 'illegal ' : ''}points:${score(state)}`;
  const seat = ROLES.indexOf(role as 'first');
  const own = state.hands[seat]!.map((card, place) => `mine${place + 1}:${known(card)}`);
  const other = state.hands[1 - seat]!.map(
    (card, place) => `theirs${place + 1}:${name(card)}:${known(card)}`,
  );
  const gone = state.discarded.map((card) => `gone:${name(card)}`);
  return [...table(state), `last:${state.last}`, ...own, ...other, ...gone].join(' ');
}

const RULES = [
  'You play Hanabi together with another player. There are red and blue cards, of each colour three ones and one two. A one may be played on an empty',
  'firework, a two on the one of its colour; any other card costs one of three lives, and without lives all is lost. You see the other',
  "player's cards and not your own. A hint names a colour or a rank and shows the other player all cards of it; it uses up one of three hints, and discarding a",
  'card brings one back. After the last card of the deck each player has one more turn. The points are the cards on the fireworks.',
  'Answer with play, discard and the number of a card, or with hint and a colour or rank: play 1, discard 3, hint red, hint 2.',
].join(' ');

const EXAMPLE: HanabiState = {
  hands: [
    [1, 2, 2].map((rank) => ({ colour: 'blue', rank: String(rank), knowsColour: false, knowsRank: false })),
    [1, 1, 2].map((rank) => ({ colour: 'red', rank: String(rank), knowsColour: false, knowsRank: false })),
  ],
  deck: DECK.slice(0, 2),
  discarded: [],
  fireworks: { red: 0, blue: 0 },
  hints: HINTS,
  lives: LIVES,
  turn: 0,
  turnsLeft: 2,
  last: 'none',
};

function describe(state: HanabiState, role: string): string {
  if (mover(state) === undefined)
    return `${state.illegal ? 'That was no legal action. ' : ''}The game is over with ${score(state)} points.`;
  const seat = ROLES.indexOf(role as 'first');
  const spelt = (card: Card): string => `${card.colour} ${card.rank}`;
  const own = state.hands[seat]!.map((card) => known(card).replace(/(\D)(\d)/, '$1 $2'));
  const other = state.hands[1 - seat]!.map(
    (card) => `${spelt(card)} (known: ${known(card).replace(/(\D)(\d)/, '$1 $2')})`,
  );
  const gone = state.discarded.length > 0 ? ` Discarded: ${state.discarded.map(spelt).join(', ')}.` : '';
  const last = state.last === 'none' ? '' : ` The other player's last turn: ${state.last.replace('-', ' ')}.`;
  return [
    `Fireworks: red ${state.fireworks.red}, blue ${state.fireworks.blue}. Hints: ${state.hints}. Lives: ${state.lives}. Deck: ${state.deck.length}.${gone}${last}`,
    `Your cards: ${own.join(', ')}. Theirs: ${other.join(', ')}. You may: ${legal(state).join(', ')}.`,
  ].join(' ');
}

const options = z.strictObject({ wording: wordingOption });

export const world: WorldFactory<typeof options> = defineWorld({
  name: 'mini-hanabi',
  description: 'Two fireworks, built together by two players who do not see their own cards.',
  options,
  settings: {
    steps: 200,
    model: { width: 64, layers: 2, hidden: 172 },
    clone: { demonstrations: 1000, randomRate: 0.5, steps: 200 },
    rollout: { tasks: 32, group: 8 },
  },
  create: ({ wording }) => fromGame(miniHanabiGame(), { wording }),
});
