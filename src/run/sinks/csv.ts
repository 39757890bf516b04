/** The metrics of a run as a table: a row for each step and each evaluation, a column for each metric. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { EvaluationResult, StoredEvent } from '../../train/loop/events.ts';
import type { Sink } from './sink.ts';

/** Present in every row. */
const FIRST = ['step', 'event'] as const;

type Row = Readonly<Record<string, string | number>>;

/**
 * Write steps and evaluations to a file of comma-separated values, with the metric paths of docs/metrics.md as columns. A
 * column that turns up later is added at the end; rows before it are shorter. A new run begins the file anew, a resumed one
 * replaces the rows of steps that it takes again.
 *
 * @example
 * await train({ world: 'frozen-lake', sinks: [csv('./metrics.csv')] });
 */
export function csv(path: string): Sink {
  let columns: readonly string[] = [];
  return {
    open: ({ kept }) => {
      mkdirSync(dirname(path), { recursive: true });
      const [header, ...rows] =
        kept > 0 && existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
      columns = header === undefined ? FIRST : header.split(',');
      const lines = rows.filter((row) => Number(row.split(',', 1)[0]) <= kept);
      writeFileSync(path, [columns.join(','), ...lines, ''].join('\n'));
    },
    event: (event) => {
      const row = rowOf(event);
      if (row === undefined) return;
      const added = Object.keys(row).filter((name) => !columns.includes(name));
      if (added.length > 0) {
        columns = [...columns, ...added];
        const [, ...rows] = readFileSync(path, 'utf8').split('\n');
        writeFileSync(path, [columns.join(','), ...rows].join('\n'));
      }
      appendFileSync(path, `${columns.map((name) => row[name] ?? '').join(',')}\n`);
    },
  };
}

function rowOf(event: StoredEvent): Row | undefined {
  switch (event.type) {
    case 'step':
      return { step: event.step, event: 'step', ...event.metrics };
    case 'evaluation':
      return {
        step: event.step,
        event: event.label,
        ...resultOf('sampled', event.sampled),
        ...resultOf('greedy', event.greedy),
      };
    default:
      return undefined;
  }
}

function resultOf(
  way: string,
  { success, return: outcome, turns, episodes, metrics = {} }: EvaluationResult,
): Row {
  const name = (figure: string): string => `eval/${way}/${figure}`;
  return {
    [name('success')]: success,
    [name('return')]: outcome,
    [name('turns')]: turns,
    [name('episodes')]: episodes,
    ...Object.fromEntries(Object.entries(metrics).map(([figure, value]) => [name(figure), value])),
  };
}
