/** What a row is of, by name: rows of one task are compared and kept together, rows of one recorded episode make one. */

import { createHash } from 'node:crypto';
import { canonicalJson } from '../core/json/json.ts';
import type { Row } from './row.ts';

/**
 * Names the task of a row: what was shown before the first answer, and the `task` of a row that has one, since what is to be
 * found out is not shown. Rows in which both are equal are of one task from one start.
 */
export function taskOf({ messages, tools = [], task = null }: Row): string {
  const first = messages.findIndex(({ role }) => role === 'assistant');
  const shown = (first < 0 ? messages : messages.slice(0, first)).map(({ role, content }) => [role, content]);
  const hidden = task === null ? [] : [canonicalJson(task)];
  return createHash('sha256')
    .update(JSON.stringify([shown, tools.map(({ name }) => name), ...hidden]))
    .digest('hex')
    .slice(0, 16);
}

/** The task of each row. Other roles and later conversations of an episode begin otherwise, and are of the task of its first row. */
export function tasksOf(rows: readonly Row[]): string[] {
  const ofEpisode = new Map<string, string>();
  return rows.map((row) => {
    const episode = recordedEpisode(row);
    if (episode === undefined) return taskOf(row);
    const task = ofEpisode.get(episode) ?? taskOf(row);
    ofEpisode.set(episode, task);
    return task;
  });
}

/** Names the recorded episode of a row; undefined where it is of none. Annotations of an episode are no recordings of it. */
export function recordedEpisode({ source, task: given = null }: Row): string | undefined {
  const { kind, by, run, environment, split, label, role, episode } = source;
  if (episode === undefined || kind === 'annotation') return undefined;
  // Roles may each be another's; an evaluation names the one that it measures on all rows.
  const who = run ?? (role === undefined || kind === 'eval' ? by : undefined);
  const { step, task, group, member } = episode;
  return JSON.stringify([
    ...[kind, who, environment, split, label, step, task, group, member],
    canonicalJson(given),
  ]);
}
