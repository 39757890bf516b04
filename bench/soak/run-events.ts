/** What a run has written so far. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from './child.ts';

export interface SeenEvent {
  readonly type: string;
  readonly step?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

export function eventsOf(folder: string, run: string): readonly SeenEvent[] {
  const file = join(folder, 'runs', run, 'events.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  // The last line may be in the making.
  return lines.slice(0, -1).map((line) => JSON.parse(line) as SeenEvent);
}

export function stepsOf(folder: string, run: string): readonly SeenEvent[] {
  return eventsOf(folder, run).filter(({ type }) => type === 'step');
}

/** Waits until the run has learned from so many steps. @returns false where it ended before */
export async function afterSteps(count: number, folder: string, run: string, child: Child): Promise<boolean> {
  while (stepsOf(folder, run).length < count) {
    if (child.over) return false;
    await sleep(100);
  }
  return true;
}
