/** Feedback on a guess, who survives it, and the guess that tells most: the rules of Wordle as pure functions. */

export type FeedbackRule = 'letter' | 'official';
export type Colour = 'green' | 'yellow' | 'grey';

/**
 * The colour of each of the five positions.
 * `official`: a repeated letter is yellow at most as often as the secret has it left over.
 * `letter`: each position by itself, so every misplaced copy of a letter that the secret has is yellow (LMRL-Gym).
 */
export function feedback(guess: string, secret: string, rule: FeedbackRule): Colour[] {
  const colours = [...guess].map((letter, i): Colour => (letter === secret[i] ? 'green' : 'grey'));
  const unused = [...secret].filter((_, i) => colours[i] !== 'green');
  for (const [i, letter] of [...guess].entries()) {
    if (colours[i] === 'green') continue;
    if (rule === 'letter') {
      if (secret.includes(letter)) colours[i] = 'yellow';
    } else if (unused.includes(letter)) {
      colours[i] = 'yellow';
      unused.splice(unused.indexOf(letter), 1);
    }
  }
  return colours;
}

/** Feedback as one number from 0 to 242, to compare and to count. */
export function feedbackCode(guess: string, secret: string, rule: FeedbackRule): number {
  return feedback(guess, secret, rule).reduce(
    (code, colour) => code * 3 + (colour === 'green' ? 2 : colour === 'yellow' ? 1 : 0),
    0,
  );
}

/** A vocabulary with the feedback of every pair of words, computed once when first needed. */
export class Dictionary {
  readonly words: readonly string[];
  readonly rule: FeedbackRule;
  readonly #indices: ReadonlyMap<string, number>;
  readonly #codes: (Uint8Array | undefined)[] = [];
  readonly #survivors = new Map<string, readonly number[]>();
  readonly #best = new Map<string, string>();

  constructor(words: readonly string[], rule: FeedbackRule) {
    this.words = words;
    this.rule = rule;
    this.#indices = new Map(words.map((word, index) => [word, index]));
  }

  has(word: string): boolean {
    return this.#indices.has(word);
  }

  /** The words that `secret` cannot be told from after `guesses`, in the order of the vocabulary. */
  survivors(secret: string, guesses: readonly string[]): readonly string[] {
    return this.#surviving(secret, guesses).map((index) => this.words[index]!);
  }

  /** The word whose feedback is expected to tell most about the survivors; among equals, one that may be the secret. */
  mostTelling(secret: string, guesses: readonly string[]): string {
    const survivors = this.#surviving(secret, guesses);
    const key = survivors.join();
    const known = this.#best.get(key);
    if (known !== undefined) return known;
    const surviving = new Set(survivors);
    let best = { index: survivors[0]!, entropy: -1 };
    if (survivors.length > 2) {
      for (const index of this.words.keys()) {
        const entropy = this.#entropy(index, survivors);
        const better = entropy > best.entropy + 1e-9;
        const equal = Math.abs(entropy - best.entropy) <= 1e-9;
        if (better || (equal && surviving.has(index) && !surviving.has(best.index)))
          best = { index, entropy };
      }
    }
    const word = this.words[best.index]!;
    this.#best.set(key, word);
    return word;
  }

  #surviving(secret: string, guesses: readonly string[]): readonly number[] {
    if (guesses.length === 0) return [...this.words.keys()];
    const row = this.#row(this.#indices.get(guesses.at(-1)!)!);
    const code = row[this.#indices.get(secret)!]!;
    const key = `${secret}:${guesses.join()}`;
    let survivors = this.#survivors.get(key);
    if (survivors === undefined) {
      survivors = this.#surviving(secret, guesses.slice(0, -1)).filter((index) => row[index] === code);
      if (this.#survivors.size >= MEMORY) this.#survivors.clear();
      this.#survivors.set(key, survivors);
    }
    return survivors;
  }

  #entropy(guess: number, survivors: readonly number[]): number {
    const row = this.#row(guess);
    const counts = new Uint32Array(243);
    for (const index of survivors) counts[row[index]!]!++;
    let entropy = 0;
    for (const count of counts) {
      if (count > 0) entropy -= (count / survivors.length) * Math.log2(count / survivors.length);
    }
    return entropy;
  }

  #row(guess: number): Uint8Array {
    const word = this.words[guess]!;
    this.#codes[guess] ??= Uint8Array.from(this.words, (secret) => feedbackCode(word, secret, this.rule));
    return this.#codes[guess];
  }
}

/** Entries of the memory of survivors; beyond it, it starts afresh. */
const MEMORY = 50_000;
