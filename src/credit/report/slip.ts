/** Telling a misspelt field name from a field that simply belongs to someone else. */

/**
 * Whether `word` is `known` in another spelling: other case, underscores, or one slip of the finger (a letter too many,
 * too few, wrong, or two swapped). Stricter than a search for the nearest word, because a match is refused.
 */
export function isSlipOf(word: string, known: string): boolean {
  let a = plain(word);
  let b = plain(known);
  if (a === b) return true;
  if (Math.min(a.length, b.length) < 5) return false;
  while (a !== '' && a[0] === b[0]) [a, b] = [a.slice(1), b.slice(1)];
  while (a !== '' && a.at(-1) === b.at(-1)) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  const swapped = a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0];
  return swapped || (a.length <= 1 && b.length <= 1);
}

function plain(word: string): string {
  return word.toLowerCase().replace(/[_-]/g, '');
}
