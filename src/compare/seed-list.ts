/** Lists of seeds: `5` is 1 to 5, `201..212` a range, `3,7,11` these. */

import { TurnwiseError } from '../core/errors.ts';

/** @throws TurnwiseError `option-value` */
export function parseSeeds(text: string): readonly number[] {
  const seeds =
    text.includes(',') || text.includes('..') ? text.split(',').flatMap(range) : range(`1..${text}`);
  const usable = seeds.length > 0 && seeds.every((seed) => Number.isSafeInteger(seed));
  if (usable && new Set(seeds).size === seeds.length) return seeds;
  throw new TurnwiseError('option-value', {
    what: 'The value of --seeds is not allowed',
    seen: text,
    allowed: 'how many, such as 5; a range, such as 201..212; or different numbers, such as 3,7,11',
    fields: { option: '--seeds' },
  });
}

/** At most ten thousand of them. */
function range(text: string): number[] {
  const [, from, to = from] = /^(\d{1,9})(?:\.\.(\d{1,9}))?$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === undefined || last < first || last - first >= 10_000) return [Number.NaN];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** `1..5` where they follow each other, else `3,7,11`. */
export function seedsText(seeds: readonly number[]): string {
  const [first, last] = [seeds[0], seeds.at(-1)];
  if (first === undefined || last === undefined) return 'none';
  const follow = seeds.every((seed, index) => seed === first + index);
  return follow && seeds.length > 1 ? `${first}..${last}` : seeds.join(',');
}
