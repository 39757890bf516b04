/** The search of the shop: BM25 over the words of a product; equal scores in the order of the catalogue. */

import { catalogueOf, type Product } from './catalogue.ts';

/** How fast repeated words count less, and how much long texts do; the usual values. */
const SATURATION = 1.2;
const LENGTH = 0.75;
/** Products of one search, as in WebShop. */
const MOST = 50;

interface Index {
  /** Of each word, the number of each product that has it, with its weight there. */
  readonly postings: ReadonlyMap<string, readonly (readonly [number: number, weight: number])[]>;
}

const indexes = new Map<number, Index>();

/** All that a product says of itself, word by word. */
const wordsOf = ({ department, shelf, nouns, attributes, options }: Product): readonly string[] => [
  ...[department, shelf, ...nouns, ...attributes],
  ...Object.values(options).flat(),
];

function indexOf(count: number): Index {
  const known = indexes.get(count);
  if (known) return known;
  const texts = catalogueOf(count).map(wordsOf);
  const meanLength = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
  const counts = new Map<string, Map<number, number>>();
  for (const [number, words] of texts.entries())
    for (const word of words) {
      const of = counts.get(word) ?? new Map<number, number>();
      counts.set(word, of.set(number, (of.get(number) ?? 0) + 1));
    }
  const postings = new Map(
    [...counts].map(([word, of]) => {
      const rarity = Math.log(1 + (texts.length - of.size + 0.5) / (of.size + 0.5));
      const weights = [...of].map(([number, times]) => {
        const long = 1 - LENGTH + (LENGTH * texts[number]!.length) / meanLength;
        const weight = (rarity * times * (SATURATION + 1)) / (times + SATURATION * long);
        return [number, weight] as const;
      });
      return [word, weights] as const;
    }),
  );
  const index = { postings };
  indexes.set(count, index);
  return index;
}

/** The words of a query that some product has, each once; lower case. */
export function knownWords(count: number, query: string): readonly string[] {
  const { postings } = indexOf(count);
  const words = query.toLowerCase().split(/[^a-z0-9-]+/);
  return [...new Set(words)].filter((word) => postings.has(word));
}

/** What was found lately: a page is asked for again and again. */
const found = new Map<string, readonly Product[]>();
const REMEMBERED = 500;

/** Products that have a word of the query, the best first. */
export function search(count: number, query: string): readonly Product[] {
  const words = knownWords(count, query);
  const key = [count, ...words].join(' ');
  const known = found.get(key);
  if (known) return known;
  if (found.size >= REMEMBERED) found.clear();
  const results = ranked(count, words);
  found.set(key, results);
  return results;
}

function ranked(count: number, words: readonly string[]): readonly Product[] {
  const { postings } = indexOf(count);
  const scores = new Map<number, number>();
  for (const word of words)
    for (const [number, weight] of postings.get(word)!)
      scores.set(number, (scores.get(number) ?? 0) + weight);
  const products = catalogueOf(count);
  return [...scores]
    .sort(([one, a], [other, b]) => b - a || one - other)
    .slice(0, MOST)
    .map(([number]) => products[number]!);
}
