/** `turnwise data`: look at dataset files, check them, divide them, and make them of other files. */

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { checkRows } from '../../data/read-rows.ts';
import type { Row } from '../../data/row.ts';
import { splitRows, statisticsOf } from '../../data/statistics.ts';
import { rowLine, writeRows } from '../../data/write-rows.ts';
import { rowsAt } from '../../run/data/dataset-rows.ts';
import { type Console, painter } from '../../show/console.ts';
import { rowText, statisticsText } from '../../show/dataset-text.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  out: z.string().optional().describe('With convert: the file to write; with split: the rows that are kept'),
  heldOut: z.string().optional().describe('With split: the file of the other rows'),
  share: z.number().gt(0).lt(1).default(0.1).describe('With split: share of the tasks that is held out'),
  seed: z.int().default(1).describe('With split: which of them'),
  rows: z.int().min(1).default(3).describe('With show: number of rows'),
  from: z.int().min(1).default(1).describe('With show: the first of them'),
  successful: z.boolean().default(false).describe('With convert: only rows that say that they succeeded'),
  force: z.boolean().default(false).describe('Replace files that exist'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON'),
});
type Given = z.output<typeof options>;

type Action = (place: string, given: Given, console: Console) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  show: async (place, { rows: count, from, runs, json }, console) => {
    const rows = await rowsAt(place, runs);
    const paint = painter(console.colour);
    for (const [index, row] of rows.slice(from - 1, from - 1 + count).entries()) {
      console.write(json ? `${rowLine(row)}\n` : `${rowText(row, from + index, paint)}\n\n`);
    }
    if (!json) console.write(`${rows.length} rows\n`);
  },
  check: async (place, { json }, console) => {
    const { rows, errors } = checkRows(place);
    const problems = errors.map(({ fields, message }) => ({ line: fields.line, path: fields.path, message }));
    if (json) console.write(`${JSON.stringify({ file: place, rows: rows.length, problems })}\n`);
    else for (const { message } of problems) console.write(`${message}\n`);
    if (errors.length > 0) {
      throw new TurnwiseError('data-invalid', {
        what: `${errors.length} of ${rows.length + errors.length} lines of ${place} cannot be used`,
        seen: `line ${problems.map(({ line }) => line).join(', ')}`,
        fields: { file: place },
      });
    }
    if (!json) console.write(`${place}: ${rows.length} rows, all can be read\n`);
  },
  stats: async (place, { runs, json }, console) => {
    const figures = statisticsOf(await rowsAt(place, runs));
    console.write(json ? `${JSON.stringify(figures)}\n` : statisticsText(figures));
  },
  split: async (place, given, console) => {
    const { out, heldOut, share, seed, runs } = given;
    if (out === undefined || heldOut === undefined) throw missing('split', '--out KEPT --held-out OTHERS');
    const parts = splitRows(await rowsAt(place, runs), share, seed);
    for (const file of [out, heldOut]) requireFree(file, given);
    writeRows(out, parts.kept);
    writeRows(heldOut, parts.heldOut);
    told(console, given, { [out]: parts.kept, [heldOut]: parts.heldOut });
  },
  convert: async (place, given, console) => {
    const { out, runs, successful } = given;
    if (out === undefined) throw missing('convert', '--out FILE');
    const all = await rowsAt(place, runs);
    const rows = successful ? all.filter((row) => 'success' in row && row.success === true) : all;
    requireFree(out, given);
    writeRows(out, rows);
    told(console, given, { [out]: rows });
  },
};

export const dataCommand: Command<typeof options> = defineCommand({
  name: 'data',
  summary: 'Show, check, divide and convert files of conversations to learn from',
  arguments: [
    { name: 'action', description: Object.keys(actions).join(', '), required: true },
    {
      name: 'file',
      description: 'JSON Lines of ours, of TRL, ShareGPT or Hermes; a shard; or the name of a run',
      required: true,
    },
  ],
  options,
  examples: [
    'turnwise data show gpt.jsonl',
    'turnwise data check gpt.jsonl',
    'turnwise data stats gpt.jsonl',
    'turnwise data split gpt.jsonl --out train.jsonl --held-out test.jsonl --share 0.1',
    'turnwise data convert sharegpt.jsonl --out rows.jsonl',
  ],
  async run({ arguments: { action, file }, options: given, console }) {
    const work = Object.hasOwn(actions, action!) ? actions[action!] : undefined;
    if (work === undefined) {
      throw new TurnwiseError('option-value', {
        what: 'turnwise data does something else',
        seen: action!,
        allowed: Object.keys(actions).join(', '),
      });
    }
    await work(file!, given, console);
  },
});

function told(console: Console, { json }: Given, files: Readonly<Record<string, readonly Row[]>>): void {
  const counts = Object.entries(files).map(([file, rows]) => ({ file, rows: rows.length }));
  console.write(
    json ? `${JSON.stringify(counts)}\n` : counts.map(({ file, rows }) => `${file}: ${rows} rows\n`).join(''),
  );
}

/** Nothing is replaced by mistake. */
function requireFree(file: string, { force }: Given): void {
  if (force || !existsSync(file)) return;
  throw new TurnwiseError('file-exists', {
    what: `${file} exists already`,
    next: 'Choose another file, or replace it with --force',
    fields: { path: file },
  });
}

function missing(action: string, allowed: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: `turnwise data ${action} does not say where to write`,
    allowed,
  });
}
