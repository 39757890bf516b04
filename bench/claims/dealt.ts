/** Values of turns dealt out anew to the turns of their group: how many turns have each value stays as it is. */

import { Rng } from 'turnwise';

interface Turns<Turn> {
  readonly groupId: string;
  readonly turns: readonly Turn[];
}

/** @param seed another one for each step @returns the values of each trajectory's turns */
export function dealtAnew<Turn, Value>(
  trajectories: readonly Turns<Turn>[],
  read: (turn: Turn) => Value,
  seed: number,
): readonly (readonly Value[])[] {
  const rng = Rng.of('dealt anew', seed);
  const decks = new Map<string, Value[]>();
  for (const { groupId, turns } of trajectories) {
    const deck = decks.get(groupId) ?? [];
    decks.set(groupId, deck);
    deck.push(...turns.map(read));
  }
  const shuffled = new Map([...decks].map(([group, deck]) => [group, rng.shuffle(deck)]));
  return trajectories.map(({ groupId, turns }) => shuffled.get(groupId)!.splice(0, turns.length));
}
