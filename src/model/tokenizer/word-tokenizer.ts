/**
 * A tokenizer whose tokens are whole words, made from the text of a task: the right one for small models trained from
 * scratch, where every word of an observation should mean something by itself. Knows words and ids, nothing of chats.
 */

import { TurnwiseError } from '../../core/errors.ts';

/** Reserved ids, in this order at the start of every vocabulary. */
export const SPECIAL_TOKENS = ['<pad>', '<unk>', '<act>', '<end>'] as const;
export const UNKNOWN_ID = 1;
export const ACT_ID = 2;
export const END_ID = 3;

export class WordTokenizer {
  readonly words: readonly string[];
  readonly #ids: ReadonlyMap<string, number>;

  /** `words` in id order, the special tokens first. */
  constructor(words: readonly string[]) {
    for (const [id, special] of SPECIAL_TOKENS.entries()) {
      if (words[id] !== special) {
        throw new TurnwiseError('tokenizer-invalid', {
          what: `A word tokenizer must have ${special} as id ${id}`,
          seen: JSON.stringify(words[id] ?? null),
          next: 'Use the tokenizer.json that was saved with the checkpoint',
        });
      }
    }
    this.words = words;
    this.#ids = new Map(words.map((word, id) => [word, id]));
  }

  /** The tokenizer of all words in `texts`, sorted, so that the order of the texts does not matter. */
  static fromTexts(texts: Iterable<string>): WordTokenizer {
    const words = new Set<string>();
    for (const text of texts) for (const word of splitWords(text)) words.add(word);
    for (const special of SPECIAL_TOKENS) words.delete(special);
    return new WordTokenizer([...SPECIAL_TOKENS, ...[...words].sort()]);
  }

  get size(): number {
    return this.words.length;
  }

  /** Ids of the words of `text`; words never seen become `<unk>`. */
  encode(text: string): number[] {
    return splitWords(text).map((word) => this.#ids.get(word) ?? UNKNOWN_ID);
  }

  /** Words joined by single spaces; special tokens are written out, so that nothing sampled is hidden. */
  decode(ids: readonly number[]): string {
    return ids.map((id) => this.words[id] ?? `<${id}>`).join(' ');
  }
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
