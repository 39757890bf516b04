/** `turnwise rescore`: what another reward would have said about stored episodes. */

import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import {
  loadScore,
  type Rescored,
  rescored,
  type ScoreSummary,
  summaryOf,
} from '../../run/reward/rescore.ts';
import { version } from '../../run/version.ts';
import { padEnd, padStart, painter } from '../../show/console.ts';
import { formatScore } from '../../show/format.ts';
import { shardsIn } from '../../store/rollouts/shard-names.ts';
import { RunsFolder } from '../../view/server/runs-folder.ts';
import { placeOf, shardAt } from '../../view/server/step-episodes.ts';
import { type Command, defineCommand } from '../command.ts';

const options = z.strictObject({
  reward: z.string().describe('File that exports score(episode), or scoreGroup(episodes)'),
  at: z
    .array(z.string())
    .default([])
    .describe('Only these stored steps, such as 12 or evaluation-40; may be repeated. Default: all'),
  out: z.string().optional().describe('File to write: a JSON line for each role of each episode'),
  timeoutMs: z.int().min(1).default(30_000).describe('Longest time for the scores of a group, in ms'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  json: z.boolean().default(false).describe('Print JSON lines: one for each stored step, then all'),
});

export const rescoreCommand: Command<typeof options> = defineCommand({
  name: 'rescore',
  summary: 'Score stored episodes anew with a reward of your own, without sampling',
  arguments: [{ name: 'run', description: 'Name of the run', required: true }],
  options,
  examples: [
    'turnwise rescore frozen-lake-rloo-1 --reward ./reward.ts',
    'turnwise rescore frozen-lake-rloo-1 --reward ./reward.ts --at 1 --at evaluation-40 --out scores.jsonl',
  ],
  async run({ arguments: { run: name = '' }, options: given, console, interrupts: { signal } }) {
    const { runs: root, reward, at, out, timeoutMs, json } = given;
    const run = new RunsFolder({ root, version }).find(name);
    const reader = run.rollouts();
    const stored = shardsIn(run.rolloutsPath);
    const wanted = at.map(shardAt);
    for (const [index, shard] of wanted.entries()) {
      if (!stored.includes(shard)) throw notStored(at[index]!, stored.map(placeOf));
    }
    const scoreGroup = await loadScore(reward);
    const paint = painter(console.colour);
    const all: Rescored[][] = [];
    const tell = (place: string, summary: ScoreSummary): void =>
      console.write(json ? `${JSON.stringify({ place, ...summary })}\n` : lineOf(place, cellsOf(summary)));
    if (!json) console.write(paint('dim', lineOf('', TITLES)));
    for (const shard of wanted.length > 0 ? wanted : stored) {
      const own: Rescored[][] = [];
      for await (const group of reader.groups(shard)) {
        own.push(await rescored(group, scoreGroup, reward, { signal, timeoutMs }));
      }
      all.push(...own);
      tell(placeOf(shard), summaryOf(own));
    }
    tell('all', summaryOf(all));
    const lines = all.flat();
    const failed = lines.find(({ failure }) => failure !== undefined);
    if (failed) console.writeError(`warning: the reward failed: ${failed.failure}\n`);
    if (out === undefined) return;
    writeFileSync(out, lines.map((one) => `${JSON.stringify(one)}\n`).join(''));
    if (!json) console.write(`${out}: ${lines.length} lines\n`);
  },
});

const TITLES = ['episodes', 'scored', 'failed', 'recorded', 'score', 'successes', 'failures', 'order'];

const cellsOf = (summary: ScoreSummary): string[] => [
  ...[summary.episodes, summary.scored, summary.failed].map(String),
  ...[summary.recorded, summary.score, summary.ofSuccesses, summary.ofFailures, summary.sameOrder].map(
    (value) => (value === undefined ? '–' : formatScore(value)),
  ),
];

const lineOf = (place: string, cells: readonly string[]): string =>
  `${padEnd(place, 14)}${cells.map((cell, index) => padStart(cell, TITLES[index]!.length + 1)).join('')}\n`;

function notStored(seen: string, places: readonly string[]): TurnwiseError {
  return new TurnwiseError('option-value', {
    what: '--at names a step that the run has not stored',
    seen,
    allowed: places.join(', ') || 'none: the run stored no episodes',
    next: 'Store every step with: --set rolloutLog=1',
  });
}
