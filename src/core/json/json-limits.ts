/**
 * What a text of JSON may hold, told before it is parsed: a parser makes an object of every bracket, and whatever walks the value
 * later goes as deep as it nests. Knows no server, only text.
 */

export interface JsonLimits {
  /** Brackets within brackets. */
  readonly depth: number;
  /** Lists and objects in all. */
  readonly containers: number;
}

export const jsonLimits: JsonLimits = { depth: 64, containers: 500_000 };

const QUOTE = 34;
const BACKSLASH = 92;
const isOpening = (character: number): boolean => character === 91 || character === 123;
const isClosing = (character: number): boolean => character === 93 || character === 125;

/** Why `text` must not be parsed, to follow "The body"; undefined where it may. Stops at the first bracket too many. */
export function jsonProblem(
  text: string,
  { depth, containers }: JsonLimits = jsonLimits,
): string | undefined {
  let open = 0;
  let seen = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) index = endOfString(text, index);
    else if (isOpening(character)) {
      if (++open > depth) return `is nested deeper than ${depth}`;
      if (++seen > containers) return `has more than ${containers} lists and objects`;
    } else if (isClosing(character)) open--;
  }
  return undefined;
}

/** Where the string that begins at `start` ends; the end of the text where it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
