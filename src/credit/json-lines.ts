/** A JSON array or JSON Lines, told apart by the first character, with the line number of whatever is wrong. */

import { TurnwiseError } from '../core/errors.ts';

export interface JsonItem {
  readonly value: unknown;
  /** Where it stands, for messages: `line 3` or `item 2`. */
  readonly place: string;
}

/** The items of `text`. `source` names the file in messages. Blank lines are skipped. */
export function parseJsonItems(text: string, source: string): JsonItem[] {
  const content = text.replace(/^\uFEFF/, '');
  if (/^\s*\[/.test(content)) {
    const items = parse(content, source, () => brokenLine(content)) as unknown[];
    return items.map((value, index) => ({ value, place: `item ${index + 1}` }));
  }
  return content.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    return [{ value: parse(line, source, () => index + 1), place: `line ${index + 1}` }];
  });
}

function parse(text: string, source: string, lineOf: () => number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const line = lineOf();
    throw new TurnwiseError('rollouts-not-json', {
      what: `Line ${line} of ${source} is not JSON`,
      seen: (cause as SyntaxError).message,
      allowed: 'a JSON array of trajectories, or one trajectory per line',
      fields: { source, line },
      cause,
    });
  }
}

/** The first line whose text can no longer be continued to valid JSON; the last line if only the end is missing. */
function brokenLine(text: string): number {
  const lines = text.split('\n');
  let good = 0;
  let bad = lines.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldContinue(lines.slice(0, middle).join('\n'))) good = middle;
    else bad = middle;
  }
  return bad;
}

function couldContinue(prefix: string): boolean {
  try {
    JSON.parse(prefix);
    return true;
  } catch (error) {
    const { message } = error as SyntaxError;
    const position = /at position (\d+)/.exec(message);
    return position ? Number(position[1]) >= prefix.length : message.includes('end of JSON input');
  }
}
