/** A small hash of texts, for sorting them into a fixed number of buckets. */

/** 32 bits: FNV-1a over UTF-16 units, with its bits spread so that remainders depend on all of them. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return mixBits(hash);
}

/** Spreads the bits of a 32-bit number. */
export function mixBits(number: number): number {
  let hash = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
