import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import {
  BEST,
  type Card,
  DECK,
  type HanabiState,
  legal,
  miniHanabiGame,
  name,
  score,
  world,
} from './index.ts';

const game = miniHanabiGame();
const hanabi = world.create({ wording: 'compact' });
const SPLITS = ['train', 'validation', 'test'] as const;
const DEALS: readonly (readonly Card[])[] = SPLITS.flatMap((split) => {
  const { size, at } = game.tasks(split);
  return Array.from({ length: size }, (_, index) => at(index));
});

/** The best score with open hands, by rules of its own: hints are only turns that pass. */
function openScore(deal: readonly Card[]): number {
  const cards = deal.map((card) => (card.colour === 'red' ? 0 : 2) + Number(card.rank) - 1);
  const seen = new Map<string, number>();
  const best = (
    hands: number[][],
    drawn: number,
    tall: number[],
    hints: number,
    left: number,
    seat: number,
  ): number => {
    const points = tall[0]! + tall[1]!;
    if (points === 4 || left === 0) return points;
    const key = JSON.stringify([hands, drawn, tall, hints, left, seat]);
    const known = seen.get(key);
    if (known !== undefined) return known;
    const remaining = drawn === 8 ? left - 1 : left;
    let most = hints > 0 ? best(hands, drawn, tall, hints - 1, remaining, 1 - seat) : 0;
    for (const [place, card] of hands[seat]!.entries()) {
      const own = hands[seat]!.filter((_, other) => other !== place);
      if (drawn < 8) own.push(cards[drawn]!);
      const next = seat === 0 ? [own, hands[1]!] : [hands[0]!, own];
      const colour = card >> 1;
      if (tall[colour] === (card & 1)) {
        const grown = colour === 0 ? [tall[0]! + 1, tall[1]!] : [tall[0]!, tall[1]! + 1];
        most = Math.max(most, best(next, Math.min(8, drawn + 1), grown, hints, remaining, 1 - seat));
      } else if (hints < 3)
        most = Math.max(most, best(next, Math.min(8, drawn + 1), tall, hints + 1, remaining, 1 - seat));
      if (most === 4) break;
    }
    seen.set(key, most);
    return most;
  };
  return best([cards.slice(0, 3), cards.slice(3, 6)], 6, [0, 0], 3, 2, 0);
}

describe('oracles', () => {
  test('1120 deals, each in one split, all different', () => {
    expect(DEALS).toHaveLength(1120);
    expect(new Set(DEALS.map((deal) => deal.map(name).join())).size).toBe(1120);
  });

  test('with open hands every deal can reach the full score', () => {
    expect(DEALS.filter((deal) => openScore(deal) !== BEST)).toEqual([]);
  });

  test('no play scores more than 4, nor after the last life; the other colour or seat changes nothing', () => {
    const swap = (card: Card): Card => ({ ...card, colour: card.colour === 'red' ? 'blue' : 'red' });
    for (let seed = 0; seed < 200; seed++) {
      const rng = Rng.of('random', seed);
      const deal = rng.pick(DEALS);
      let [state, mirror] = [game.start(deal, rng), game.start(deal.map(swap), rng)];
      while (game.toMove(state) !== undefined) {
        const action = rng.pick(legal(state));
        const other = action.replace(/red|blue/, (colour) => (colour === 'red' ? 'blue' : 'red'));
        expect([...legal(mirror)].sort()).toEqual(
          [...legal(state)]
            .map((one) => one.replace(/red|blue/, (c) => (c === 'red' ? 'blue' : 'red')))
            .sort(),
        );
        const [one, two] = [game.step(state, '', action, rng), game.step(mirror, '', other, rng)];
        expect(one.rewards).toEqual(two.rewards);
        expect(one.rewards.first).toBe(one.rewards.second);
        [state, mirror] = [one.state, two.state];
      }
      expect(score(state)).toBeLessThanOrEqual(BEST);
      if (state.lives === 0) expect(score(state)).toBe(0);
    }
  });
});

describe('rules', () => {
  const deal = ['red1', 'red2', 'blue1', 'red1', 'blue2', 'blue1', 'red1', 'blue1'].map((card) => ({
    colour: card.slice(0, -1),
    rank: card.slice(-1),
  }));
  const played = (actions: readonly string[]): HanabiState =>
    actions.reduce(
      (state, action) => game.step(state, game.toMove(state)!, action, Rng.of(0)).state,
      game.start(deal, Rng.of(0)),
    );

  // TextArena marks one card only.
  test('a hint marks every card of its kind', () => {
    expect(game.observe(played(['hint 1']), 'second')[0]!.content).toBe(
      'red:0 blue:0 hints:2 lives:3 deck:2 last:hint-1 mine1:1 mine2:unknown mine3:1 theirs1:red1:unknown theirs2:red2:unknown theirs3:blue1:unknown',
    );
  });

  test('nothing is discarded while all hints are there, and hints name what is there', () => {
    expect(legal(played([]))).toEqual([
      'play 1',
      'play 2',
      'play 3',
      'hint red',
      'hint blue',
      'hint 1',
      'hint 2',
    ]);
    expect(legal(played(['hint red']))).toContain('discard 2');
  });

  test('three wrong cards lose everything', () => {
    const lost = played(['play 1', 'play 2', 'play 1', 'play 1', 'play 1', 'play 1']);
    expect(score(played(['play 1']))).toBe(1);
    const wrong = played(['play 2', 'play 2', 'hint 1', 'play 1', 'play 2', 'hint 1']);
    expect([lost.lives, wrong.lives].every((lives) => lives < 3)).toBe(true);
    expect(score({ ...wrong, lives: 0 })).toBe(0);
  });

  test('after the last card of the deck each player has one turn', () => {
    const empty = played(['hint red', 'hint red', 'discard 1', 'discard 1']);
    expect([empty.deck.length, empty.turnsLeft, game.toMove(empty)]).toEqual([0, 2, 'first']);
    const over = played(['hint red', 'hint red', 'discard 1', 'discard 1', 'play 1', 'hint 1']);
    expect(game.toMove(over)).toBeUndefined();
  });

  test('an illegal action ends the game without points', () => {
    expect(game.step(played(['play 1']), 'second', 'discard 1', Rng.of(0))).toMatchObject({
      valid: false,
      done: true,
      rewards: { first: 0, second: 0 },
    });
  });

  test('in sentences', () => {
    expect(
      game.natural!(played(['hint 1', 'play 1', 'hint 2']), 'second').at(-1)!.content,
    ).toMatchInlineSnapshot(
      `"Fireworks: red 1, blue 0. Hints: 1. Lives: 3. Deck: 1. The other player's last turn: hint 2. Your cards: 2, 1, unknown. Theirs: red 1 (known: unknown), red 2 (known: unknown), blue 1 (known: unknown). You may: play 1, play 2, play 3, discard 1, discard 2, discard 3, hint red, hint blue, hint 1, hint 2."`,
    );
  });
});

describe('players', () => {
  test('the expert chooses the same whatever its own hidden cards are', () => {
    const rng = Rng.of('hidden');
    for (const deal of rng.shuffle(DEALS).slice(0, 100)) {
      const state = game.start(deal, rng);
      const hidden = rng.shuffle([...deal.slice(0, 3), ...deal.slice(6)]);
      const other = game.start([...hidden.slice(0, 3), ...deal.slice(3, 6), ...hidden.slice(3)], rng);
      expect(game.solve!(other, 'first', rng)).toBe(game.solve!(state, 'first', rng));
    }
    expect(DECK).toHaveLength(8);
  });

  test('it scores more than chance', async () => {
    const [expert, random] = await Promise.all([
      measurePlayer(hanabi, 'expert', 100),
      measurePlayer(hanabi, 'random', 100),
    ]);
    expect(expert.outcome).toBeGreaterThan(2.7);
    expect(random.outcome).toBeLessThan(1.7);
    expect((await playEpisode(hanabi, DEALS[0]!, 0, 'expert')).done).toBe(true);
  });
});
