/** A player of Mini Hanabi who uses only what may be known: its choice never depends on its own hidden cards. */

import { type Card, DECK, type HanabiState, type Held, isPlayable, name, touches } from './index.ts';

/** Below this chance a card is not played. */
const BOLD = 0.5;
/** The least that a hint has to make clearer. Hints cost no card of the deck, so they come before bold plays. */
const GAIN = 0.05;

/** Plays what is likely to fit, else tells the other what fits, else discards what is worth least. */
export function chooseAction(state: HanabiState, legal: readonly string[]): string {
  const seat = state.turn % 2;
  const [own, other] = [state.hands[seat]!, state.hands[1 - seat]!];
  const fits = (kind: Card): boolean => isPlayable(state, kind);
  const chances = own.map((card) => chance(state, card, other, fits));
  const bestChance = Math.max(...chances);
  const isLast = state.deck.length === 0;
  const bar = state.lives === 1 ? 0.99 : isLast ? 0.01 : BOLD;
  if (bestChance >= 0.99) return `play ${chances.indexOf(bestChance) + 1}`;
  // The hint that makes what the other could play most likely to be played; nobody knows what the other sees here.
  const hints = legal.filter((action) => action.startsWith('hint'));
  const gain = (action: string): number => {
    const word = action.slice('hint '.length);
    const told = other.map((card) => (touches(card, word) ? { ...card, ...learnt(card, word) } : card));
    const sure = (hand: readonly Held[]): number =>
      Math.max(
        0,
        ...hand.map((card) => (fits(card) ? chance(state, card, [], fits) : -chance(state, card, [], fits))),
      );
    return sure(told) - sure(other);
  };
  const bestHint = hints.reduce((a, b) => (gain(b) > gain(a) ? b : a), hints[0] ?? '');
  if (bestHint !== '' && gain(bestHint) > GAIN) return bestHint;
  if (bestChance >= bar) return `play ${chances.indexOf(bestChance) + 1}`;
  const useless = own.map((card) =>
    chance(state, card, other, ({ colour, rank }) => state.fireworks[colour]! >= Number(rank)),
  );
  const discard = `discard ${useless.indexOf(Math.max(...useless)) + 1}`;
  return legal.includes(discard) ? discard : bestHint || `play ${chances.indexOf(bestChance) + 1}`;
}

function learnt(card: Card, word: string): { readonly knowsColour?: true; readonly knowsRank?: true } {
  return card.colour === word ? { knowsColour: true } : { knowsRank: true };
}

/** How likely a card is of a wanted kind, by what its holder knows of it and sees elsewhere. */
function chance(
  state: HanabiState,
  card: Held,
  sees: readonly Card[],
  wanted: (kind: Card) => boolean,
): number {
  const seen = [...sees, ...state.discarded].map(name);
  const possible = DECK.filter((kind) => {
    const at = seen.indexOf(name(kind));
    if (at >= 0) seen.splice(at, 1);
    const isHidden = at < 0 && !played(state, kind);
    const isColour = !card.knowsColour || kind.colour === card.colour;
    return isHidden && isColour && (!card.knowsRank || kind.rank === card.rank);
  });
  return possible.length === 0 ? 0 : possible.filter(wanted).length / possible.length;
}

/** Whether the copy of `kind` that stands first in the deck's list lies on a firework. */
function played({ fireworks }: HanabiState, kind: Card): boolean {
  return (
    DECK.find((card) => name(card) === name(kind)) === kind && fireworks[kind.colour]! >= Number(kind.rank)
  );
}
