/** A task in a line: what it asks where it says so, otherwise its JSON. */

import type { Json } from '../../../core/json/json.ts';
import { oneLine } from '../text/safe-text.ts';

const telling = ['question', 'prompt', 'instruction', 'goal', 'title', 'description', 'task'] as const;

export function taskText(task: Json, limit = 120): string {
  if (typeof task === 'string') return oneLine(task, limit) || '(an empty task)';
  if (typeof task === 'object' && task !== null && !Array.isArray(task)) {
    const fields = task as { readonly [key: string]: Json };
    for (const key of telling) {
      const value = fields[key];
      if (typeof value === 'string' && value !== '') return oneLine(value, limit);
    }
    const pairs = Object.entries(fields).map(([key, value]) => `${key} ${flat(value)}`);
    return oneLine(pairs.join(', '), limit) || '(an empty task)';
  }
  return oneLine(flat(task), limit) || '(an empty task)';
}

/** Deeper values are written as JSON. */
const mostLevels = 8;

/** Values without their names, since a line has no room for both: cards of a deck are `red 1, blue 2`. */
function flat(value: Json, level = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || level === mostLevels) return JSON.stringify(value);
  const parts = Object.values(value).map((part) => flat(part, level + 1));
  const isList = Array.isArray(value) && value.some((one) => typeof one === 'object');
  return parts.join(isList ? ', ' : ' ');
}
