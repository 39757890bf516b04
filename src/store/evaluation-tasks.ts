/** `evaluations/<step>.json`: how each task of an evaluation went, so that tasks gained and lost can be counted. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Group, Role } from '../core/episode.ts';
import { exactJson, exactNumber } from '../core/json/exact-json.ts';
import type { Disk } from './disk.ts';
import { rolesOf, turnsOf } from './rollouts/describe-episode.ts';
import type { EvaluationGroups } from './rollouts/rollout-writer.ts';

const format = 'turnwise-evaluation';
const formatVersion = 1;

export interface EvaluatedTask {
  /** Index of the task, or the hash of its JSON where it has none. */
  readonly task: number | string;
  readonly role: Role;
  readonly success: boolean;
  readonly return: number;
  readonly turns: number;
}

export interface EvaluatedTasks {
  readonly step: number;
  readonly sampled: readonly EvaluatedTask[];
  readonly greedy: readonly EvaluatedTask[];
}

/** Write the tasks of the evaluation after a step. */
export function writeEvaluatedTasks(
  folder: string,
  step: number,
  groups: EvaluationGroups,
  disk: Disk,
): void {
  const content = {
    format,
    formatVersion,
    step,
    sampled: tasksOf(groups.sampled),
    greedy: tasksOf(groups.greedy),
  };
  disk.makeFolder(folder);
  disk.replaceFile(join(folder, `${step}.json`), `${exactJson(content)}\n`);
}

/** Undefined where there is no such file that this version reads. */
export function readEvaluatedTasks(folder: string, step: number): EvaluatedTasks | undefined {
  const path = join(folder, `${step}.json`);
  if (!existsSync(path)) return undefined;
  try {
    const content = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown> & EvaluatedTasks;
    if (content.format !== format || content.formatVersion !== formatVersion) return undefined;
    const exact = (tasks: readonly EvaluatedTask[]): EvaluatedTask[] =>
      tasks.map((task) => ({ ...task, return: exactNumber(task.return) ?? Number.NaN }));
    return { step: content.step, sampled: exact(content.sampled), greedy: exact(content.greedy) };
  } catch {
    return undefined;
  }
}

function tasksOf(groups: readonly Group[]): EvaluatedTask[] {
  return groups
    .flatMap(({ members }) => members)
    .flatMap((episode) =>
      rolesOf(episode).map((role) => ({
        task: episode.key.task,
        role,
        success: episode.success[role] ?? false,
        return: episode.outcome[role] ?? Number.NaN,
        turns: turnsOf(episode, role),
      })),
    );
}
