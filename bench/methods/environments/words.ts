/** What the small environments of the experiments speak of. */

export const WORDS = ['red', 'green', 'blue', 'black', 'white', 'brown'] as const;

/** The word of a place: a fixed table that looks random, so that nothing but trying shows it. */
export function secretWord(place: number, words: number): string {
  return WORDS[Math.floor((Math.imul(place + 1, 0x9e3779b1) >>> 8) % words)]!;
}
