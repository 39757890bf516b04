/** Codes of Mastermind, answers to guesses, and the guess that is best in the worst case (Knuth 1976). */

export interface Answer {
  /** Pegs of the right colour in the right place. */
  readonly exact: number;
  /** Further pegs of a right colour in a wrong place. */
  readonly near: number;
}

/** What two codes have in common; colours count as often as they occur in both. */
export function compare(guess: readonly number[], secret: readonly number[]): Answer {
  let exact = 0;
  const ofGuess: number[] = [];
  const ofSecret: number[] = [];
  for (const [place, colour] of guess.entries()) {
    if (secret[place] === colour) exact++;
    else {
      ofGuess.push(colour);
      ofSecret.push(secret[place]!);
    }
  }
  let near = 0;
  for (const colour of ofGuess) {
    const match = ofSecret.indexOf(colour);
    if (match < 0) continue;
    ofSecret.splice(match, 1);
    near++;
  }
  return { exact, near };
}

/** All codes of a game, numbered in ascending order. */
export class Codes {
  readonly pegs: number;
  /** Colours from 1, separated by spaces. */
  readonly texts: readonly string[];
  readonly #pegs: readonly (readonly number[])[];
  /** exact × (pegs + 1) + near of each pair; filled when it is first asked for. */
  readonly #answers: Int8Array;
  readonly #survivors = new Map<string, readonly number[]>();
  readonly #best = new Map<string, number>();

  constructor(pegs: number, colours: number) {
    this.pegs = pegs;
    this.#pegs = Array.from({ length: colours ** pegs }, (_, number) =>
      Array.from(
        { length: pegs },
        (_, place) => 1 + (Math.floor(number / colours ** (pegs - 1 - place)) % colours),
      ),
    );
    this.texts = this.#pegs.map((code) => code.join(' '));
    this.#answers = new Int8Array(this.texts.length ** 2).fill(-1);
  }

  answer(guess: number, secret: number): Answer {
    const code = this.#answer(guess, secret);
    return { exact: Math.floor(code / (this.pegs + 1)), near: code % (this.pegs + 1) };
  }

  /** Codes that give the same answers to these guesses as the secret does. */
  survivors(secret: number, guesses: readonly number[]): readonly number[] {
    const last = guesses.at(-1);
    if (last === undefined) return this.texts.map((_, number) => number);
    const key = this.#key(secret, guesses);
    const known = this.#survivors.get(key);
    if (known) return known;
    const answer = this.#answer(last, secret);
    const found = this.survivors(secret, guesses.slice(0, -1)).filter(
      (code) => this.#answer(last, code) === answer,
    );
    this.#survivors.set(key, found);
    return found;
  }

  /** The guess after which the most codes that can be left are fewest; of those, one that may be the secret, then the first. */
  best(secret: number, guesses: readonly number[]): number {
    const key = this.#key(secret, guesses);
    let best = this.#best.get(key);
    if (best === undefined) {
      best = this.#search(this.survivors(secret, guesses));
      this.#best.set(key, best);
    }
    return best;
  }

  #search(survivors: readonly number[]): number {
    if (survivors.length <= 2) return survivors[0]!;
    const possible = new Set(survivors);
    const counts = new Uint16Array((this.pegs + 1) ** 2);
    let best = 0;
    let lowest = Number.POSITIVE_INFINITY;
    for (let guess = 0; guess < this.texts.length; guess++) {
      counts.fill(0);
      for (const code of survivors) counts[this.#answer(guess, code)]!++;
      // Half a code less where the guess may be right.
      const worst = Math.max(...counts) - (possible.has(guess) ? 0.5 : 0);
      if (worst >= lowest) continue;
      lowest = worst;
      best = guess;
    }
    return best;
  }

  /** Guesses with their answers: all that is known of the secret. */
  #key(secret: number, guesses: readonly number[]): string {
    return guesses.map((guess) => `${guess}:${this.#answer(guess, secret)}`).join(' ');
  }

  #answer(guess: number, secret: number): number {
    const place = guess * this.texts.length + secret;
    if (this.#answers[place] === -1) {
      const { exact, near } = compare(this.#pegs[guess]!, this.#pegs[secret]!);
      this.#answers[place] = exact * (this.pegs + 1) + near;
    }
    return this.#answers[place]!;
  }
}
