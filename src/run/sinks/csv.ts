/** The metrics of a run as a table: a row for each step and each evaluation, a column for each metric. */

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TimedEvent } from '../../store/log-lines.ts';
import { measuredIn } from './measured.ts';
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

function rowOf(event: TimedEvent): Row | undefined {
  const measured = measuredIn(event);
  if (measured === undefined || measured.kind === 'clone') return undefined;
  const name = event.type === 'evaluation' ? event.label : 'step';
  return { step: measured.step, event: name, ...measured.metrics };
}
