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
  return oneLine(JSON.stringify(task), limit);
}

function flat(value: Json): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(' ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
