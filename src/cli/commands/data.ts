/** `turnwise data`: look at dataset files, check them, divide them, and make them of other files. */

import { existsSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { pairsOfRows } from '../../data/pairs-of-rows.ts';
import type { Row } from '../../data/row.ts';
import { splitRows, statisticsOf } from '../../data/statistics.ts';
import { rowLine, writeRows } from '../../data/write-rows.ts';
import { checkedRowsAt, rowsAt } from '../../run/data/dataset-rows.ts';
import { mixedRows, parsePlayers, returnStatistics } from '../../run/data/mixed-play.ts';
import { scoreRows } from '../../run/data/score-rows.ts';
import { createWorld, findEnvironment } from '../../run/load/environments.ts';
import { isServer, openScoringModel } from '../../run/players/open-teacher.ts';
import { type Console, painter } from '../../show/console.ts';
import { rowText, statisticsText } from '../../show/dataset-text.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  out: z
    .string()
    .optional()
    .describe('With convert, score and play: the file to write; with split: the rows that are kept'),
  heldOut: z.string().optional().describe('With split: the file of the other rows'),
  share: z
    .number()
    .gt(0)
    .lt(1)
    .default(0.1)
    .describe('With split: chance of each task (rows with the same opening and task) to be held out'),
  seed: z.int().default(1).describe('With split: which of them; with play: which episodes'),
  players: z
    .string()
    .default('expert,expert~0.5,beginner,random')
    .describe(
      'With play: who plays, and for which share: expert~0.3=2 errs in 3 of 10 moves and plays twice as much',
    ),
  episodes: z.int().min(1).default(1000).describe('With play: how many'),
  set: z.array(z.string()).default([]).describe('With play: an option of the environment; may be repeated'),
  rows: z.int().min(1).default(3).describe('With show: number of rows'),
  from: z.int().min(1).default(1).describe('With show: the first of them'),
  successful: z.boolean().default(false).describe('With convert: only rows that say that they succeeded'),
  pairs: z
    .boolean()
    .default(false)
    .describe('With convert: pairs of rows of one task that earned differently, for dpo and reward models'),
  beginnings: z
    .boolean()
    .default(false)
    .describe('With convert: pairs, and of how both begin as well, for rewards of turns (rewardModel.turns)'),
  teacher: z.string().optional().describe('With score: the run or pretrained model that scores the tokens'),
  top: z.int().min(1).max(200).default(20).describe('With score: likeliest tokens in the place of each'),
  threads: z.int().min(1).default(2).describe('With score: threads of the engine'),
  force: z.boolean().default(false).describe('Replace files that exist'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON'),
});
type Given = z.output<typeof options>;

type Action = (place: string, given: Given, console: Console, signal: AbortSignal) => Promise<void>;

const actions: Readonly<Record<string, Action>> = {
  show: async (place, { rows: count, from, runs, json }, console) => {
    const rows = await rowsAt(place, runs);
    const paint = painter(console.colour);
    for (const [index, row] of rows.slice(from - 1, from - 1 + count).entries()) {
      console.write(json ? `${rowLine(row)}\n` : `${rowText(row, from + index, paint)}\n\n`);
    }
    if (!json) console.write(`${rows.length} rows\n`);
  },
  check: async (place, { runs, json }, console) => {
    const { rows, problems: errors } = await checkedRowsAt(place, runs);
    const problems = errors.map(({ fields, message }) => ({ line: fields.line, path: fields.path, message }));
    if (json) console.write(`${JSON.stringify({ file: place, rows: rows.length, problems })}\n`);
    else for (const { message } of problems) console.write(`${message}\n`);
    if (errors.length > 0) {
      throw new TurnwiseError('data-invalid', {
        what: `${errors.length} of ${rows.length + errors.length} rows of ${place} cannot be used`,
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
    const rows = await rowsAt(place, runs);
    const parts = splitRows(rows, share, seed);
    if (parts.kept.length === 0 || parts.heldOut.length === 0) throw undivided(place, rows, parts, given);
    for (const file of [out, heldOut]) requireFree(file, given);
    writeRows(out, parts.kept);
    writeRows(heldOut, parts.heldOut);
    told(console, given, { [out]: parts.kept, [heldOut]: parts.heldOut });
  },
  convert: async (place, given, console) => {
    const { out, runs, successful, beginnings } = given;
    const pairs = given.pairs || beginnings;
    if (out === undefined) throw missing('convert', '--out FILE');
    const all = await rowsAt(place, runs);
    const good = successful ? all.filter((row) => 'success' in row && row.success === true) : all;
    const rows = pairs ? pairsOfRows(good, { beginnings }) : good;
    if (pairs && rows.length === 0) throw noPairs(place, all.length);
    requireFree(out, given);
    writeRows(out, rows);
    told(console, given, { [out]: rows });
  },
  play: async (place, given, console, signal) => {
    const { out, players, episodes, seed, set, json } = given;
    if (out === undefined) throw missing('play', '--out FILE');
    requireFree(out, given);
    const world = createWorld(await findEnvironment(place), set);
    const rows = await mixedRows(world, { players: parsePlayers(players), episodes, seed, signal });
    writeRows(out, rows);
    const figures = returnStatistics(rows);
    if (json) console.write(`${JSON.stringify({ file: out, ...figures })}\n`);
    else {
      told(console, given, { [out]: rows });
      const { byPlayer, ...all } = figures;
      for (const [name, { episodes: count, mean, success }] of Object.entries({ ...byPlayer, all }))
        console.write(
          `${name}: ${count} episodes, return ${mean.toFixed(3)}, success ${success.toFixed(3)}\n`,
        );
    }
  },
  score: async (place, given, console, signal) => {
    const { out, runs, teacher, top, threads } = given;
    if (out === undefined || teacher === undefined) throw missing('score', '--teacher RUN|MODEL --out FILE');
    if (isServer(teacher)) throw notServer(teacher);
    const rows = await rowsAt(place, runs);
    requireFree(out, given);
    const model = await openScoringModel({ model: teacher, root: runs, threads, signal });
    try {
      const { rows: written, scored, left } = await scoreRows(rows, model, { by: teacher, top, signal });
      writeRows(out, written);
      for (const [why, count] of Object.entries(left))
        console.writeError(`warning: ${count} ${why} are as they were\n`);
      if (given.json) console.write(`${JSON.stringify({ file: out, rows: written.length, scored, left })}\n`);
      else
        console.write(
          `${out}: ${written.length} rows, ${scored} with the ${top} likeliest tokens of ${teacher}\n`,
        );
    } finally {
      await model.close();
    }
  },
};

export const dataCommand: Command<typeof options> = defineCommand({
  name: 'data',
  summary: 'Show, check, divide, convert, score and make files of conversations to learn from',
  arguments: [
    { name: 'action', description: Object.keys(actions).join(', '), required: true },
    {
      name: 'file',
      description:
        'JSON Lines of ours, of TRL, ShareGPT or Hermes; a shard; or the name of a run; with play: an environment',
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
    'turnwise data convert frozen-lake-rloo-1 --pairs --out pairs.jsonl',
    'turnwise data play wordle --players expert,random=2 --episodes 500 --out mixed.jsonl',
    'turnwise data score rows.jsonl --teacher frozen-lake-rloo-1 --out scored.jsonl',
  ],
  async run({ arguments: { action, file }, options: given, console, interrupts }) {
    const work = Object.hasOwn(actions, action!) ? actions[action!] : undefined;
    if (work === undefined) {
      throw new TurnwiseError('option-value', {
        what: 'turnwise data does something else',
        seen: action!,
        allowed: Object.keys(actions).join(', '),
      });
    }
    await work(file!, given, console, interrupts.signal);
  },
});

function told(console: Console, { json }: Given, files: Readonly<Record<string, readonly Row[]>>): void {
  const counts = Object.entries(files).map(([file, rows]) => ({ file, rows: rows.length }));
  console.write(
    json ? `${JSON.stringify(counts)}\n` : counts.map(({ file, rows }) => `${file}: ${rows} rows\n`).join(''),
  );
}

/** A file without rows would be found out by whoever learns from it, much later. */
function undivided(
  place: string,
  rows: readonly Row[],
  { heldOut }: { readonly heldOut: readonly Row[] },
  { share, seed }: Given,
): TurnwiseError {
  const { tasks } = statisticsOf(rows);
  const side = heldOut.length === 0 ? 'kept' : 'held out';
  return new TurnwiseError('data-undivided', {
    what: `The rows of ${place} cannot be divided: those of a task stay together, and all of them are ${side}`,
    seen: `rows: ${rows.length}, tasks: ${tasks}, --share ${share} --seed ${seed}`,
    allowed: 'rows on both sides, of at least two tasks',
    next: tasks < 2 ? 'Record episodes of more tasks' : 'Choose another --seed or --share',
    fields: { path: place },
  });
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

function noPairs(place: string, rows: number): TurnwiseError {
  return new TurnwiseError('reward-pairs-missing', {
    what: `${place} has no two conversations of one task that earned differently`,
    seen: `${rows} rows`,
    allowed:
      'rows with a reward, several of one task: with the same opening, and the same task where they say one',
    next: 'Record several episodes of each task, such as those of a run: turnwise data convert RUN --pairs --out FILE',
    fields: { path: place },
  });
}

function notServer(teacher: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: 'turnwise data score takes a teacher on this machine',
    seen: teacher,
    allowed: 'RUN, RUN@STEP, the folder of a run, or a pretrained model',
    next: 'A server can be the teacher of a run: --recipe distillation --set teacher=vllm:URL#MODEL',
  });
}

function missing(action: string, allowed: string): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: `turnwise data ${action} does not say where to write`,
    allowed,
  });
}
