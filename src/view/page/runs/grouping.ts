/** By which settings runs can be told apart. */

import type { RunRow } from '../../shapes.ts';

/** `environment.size`, and what is no setting but tells runs apart all the same. */
const own = ['world', 'recipe'] as const;

export function settingText(run: RunRow, key: string): string {
  if (key === 'world' || key === 'recipe') return run[key];
  const value = run.settings[key];
  return value === undefined ? '—' : typeof value === 'string' ? value : JSON.stringify(value);
}

/** Keys in which the runs differ, the one with most values (but fewer than there are runs) first. */
export function groupKeys(runs: readonly RunRow[]): string[] {
  const readable = runs.filter(({ state }) => state !== 'unreadable');
  const keys = new Set([...own, ...readable.flatMap(({ settings }) => Object.keys(settings))]);
  return [...keys]
    .map((key) => ({ key, values: new Set(readable.map((run) => settingText(run, key))).size }))
    .filter(({ key, values }) => values > 1 && values < readable.length && key !== 'seed')
    .sort((a, b) => b.values - a.values)
    .map(({ key }) => key);
}

/** What was asked for; nothing unless somebody asked. */
export function chosenKey(keys: readonly string[], asked: string | null): string | undefined {
  return asked !== null && keys.includes(asked) ? asked : undefined;
}
