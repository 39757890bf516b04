/** A JSON array or JSON Lines, told apart by the first character, with the line number of whatever is wrong. */

import { TurnwiseError } from '../../core/errors.ts';

export interface JsonItem {
  readonly value: unknown;
  /** Where it stands, for messages: `line 3` or `item 2`. */
  readonly place: string;
}

/** The items of `text`. `source` names the file in messages. Blank lines are skipped. */
export function parseJsonItems(text: string, source: string): JsonItem[] {
  const content = text.replace(/^\uFEFF/, '');
  const lines = content.split('\n');
  if (/^\s*\[/.test(content)) {
    try {
      const items = JSON.parse(content) as unknown[];
      return items.map((value, index) => ({ value, place: `item ${index + 1}` }));
    } catch (cause) {
      throw notJson(lines, brokenLine(lines), source, cause);
    }
  }
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [{ value: JSON.parse(line) as unknown, place: `line ${index + 1}` }];
    } catch (cause) {
      throw notJson(lines, index, source, cause);
    }
  });
}

function notJson(lines: readonly string[], index: number, source: string, cause: unknown): TurnwiseError {
  const text = lines[index]!.trim();
  return new TurnwiseError('rollouts-not-json', {
    what: `Line ${index + 1} of ${source} is not JSON`,
    seen: text.length > 80 ? `${text.slice(0, 79)}…` : text || 'the end of the file',
    allowed: 'a JSON array of trajectories, or one trajectory per line',
    fields: { source, line: index + 1 },
    cause,
  });
}

/** Index of the first line after which the text can no longer become JSON; of the last if only the end is missing. */
function brokenLine(lines: readonly string[]): number {
  let good = 0;
  let bad = lines.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (couldContinue(lines.slice(0, middle).join('\n'))) good = middle;
    else bad = middle;
  }
  return bad - 1;
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
