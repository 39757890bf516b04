/** Figures of a dataset, and its division in two. */

import { createHash } from 'node:crypto';
import { mean } from '../core/statistics.ts';
import { isLearned, isPreference, messagesOf, type Row } from './row.ts';
import { openingOf, recordedEpisode } from './rows-of-episode.ts';

export interface DataStatistics {
  readonly rows: number;
  readonly pairs: number;
  /** Recorded episodes; any other row is one. */
  readonly episodes: number;
  /** Rows with the same opening are of one task. */
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
    tasks: new Set(rows.map(openingOf)).size,
    messages: messages.length,
    answers: answers.length,
    shown: answers.filter((answer) => !isLearned(answer)).length,
    toolCalls: answers.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0),
    withTokens: conversations.filter(({ tokens }) => tokens !== undefined).length,
    rewarded: rewards.length,
    reward: rewards.length === 0 ? 0 : mean(rewards),
    success: judged.length === 0 ? 0 : judged.filter(Boolean).length / judged.length,
    longest: Math.max(
      0,
      ...rows.map((row) => messagesOf(row).reduce((sum, { content }) => sum + content.length, 0)),
    ),
    sources,
  };
}

/**
 * A share of the rows to be held out, and the rest. All rows of a task go together, and each task by its own opening and the
 * seed, so that a file that grows keeps its division.
 */
export function splitRows<R extends Row>(
  rows: readonly R[],
  share: number,
  seed: number,
): { readonly kept: readonly R[]; readonly heldOut: readonly R[] } {
  const isHeldOut = (row: R): boolean => {
    const digest = createHash('sha256')
      .update(`${seed}/${openingOf(row)}`)
      .digest();
    return digest.readUInt32BE(0) / 2 ** 32 < share;
  };
  return { kept: rows.filter((row) => !isHeldOut(row)), heldOut: rows.filter(isHeldOut) };
}
