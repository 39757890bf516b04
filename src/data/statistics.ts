/** Figures of a dataset, and its division in two. */

import { createHash } from 'node:crypto';
import { mean } from '../core/statistics.ts';
import { isLearned, isPreference, messagesOf, type Row } from './row.ts';
import { recordedEpisode, tasksOf } from './row-names.ts';

export interface DataStatistics {
  readonly rows: number;
  readonly pairs: number;
  /** Recorded episodes; any other row is one. */
  readonly episodes: number;
  /** Rows with the same opening and the same `task` are of one. */
  readonly tasks: number;
  readonly messages: number;
  readonly answers: number;
  /** Answers that are shown and not learned. */
  readonly shown: number;
  readonly toolCalls: number;
  /** Rows whose token ids were recorded. */
  readonly withTokens: number;
  /** Rows with a reward, and their mean. */
  readonly rewarded: number;
  readonly reward: number;
  /** Of the rows that say whether they succeeded. */
  readonly success: number;
  /** Letters of the longest row. */
  readonly longest: number;
  readonly sources: Readonly<Record<string, number>>;
}

export function statisticsOf(rows: readonly Row[]): DataStatistics {
  const conversations = rows.flatMap((row) => (isPreference(row) ? [] : [row]));
  const messages = rows.flatMap((row) => messagesOf(row));
  const answers = messages.filter(({ role }) => role === 'assistant');
  const rewards = conversations.flatMap(({ reward }) => reward ?? []);
  const judged = conversations.flatMap(({ success }) => success ?? []);
  const sources: Record<string, number> = {};
  for (const { source } of rows) {
    const name = [source.kind, source.environment, source.by ?? source.name].filter(Boolean).join(' ');
    sources[name] = (sources[name] ?? 0) + 1;
  }
  return {
    rows: rows.length,
    pairs: rows.length - conversations.length,
    episodes: new Set(rows.map((row, index) => recordedEpisode(row) ?? index)).size,
    tasks: new Set(tasksOf(rows)).size,
    messages: messages.length,
    answers: answers.length,
    shown: answers.filter((answer) => !isLearned(answer)).length,
    toolCalls: answers.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0),
    withTokens: conversations.filter(({ tokens }) => tokens !== undefined).length,
    rewarded: rewards.length,
    reward: rewards.length === 0 ? 0 : mean(rewards),
    success: judged.length === 0 ? 0 : judged.filter(Boolean).length / judged.length,
    longest: rows.reduce((most, row) => Math.max(most, lettersOf(row)), 0),
    sources,
  };
}

const lettersOf = (row: Row): number => messagesOf(row).reduce((sum, { content }) => sum + content.length, 0);

/**
 * A share of the tasks to be held out, and the rest. All rows of a task go together, and each task by its own name and the
 * seed, so that a file that grows keeps its division. Of few tasks, all may be on one side.
 */
export function splitRows<R extends Row>(
  rows: readonly R[],
  share: number,
  seed: number,
): { readonly kept: readonly R[]; readonly heldOut: readonly R[] } {
  const isHeldOut = tasksOf(rows).map((task) => {
    const digest = createHash('sha256').update(`${seed}/${task}`).digest();
    return digest.readUInt32BE(0) / 2 ** 32 < share;
  });
  return {
    kept: rows.filter((_, index) => !isHeldOut[index]),
    heldOut: rows.filter((_, index) => isHeldOut[index]),
  };
}
