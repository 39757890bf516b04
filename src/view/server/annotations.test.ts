import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PreferenceRow } from '../../data/row.ts';
import { writeRows } from '../../data/write-rows.ts';
import { start } from '../../exports/train.ts';
import { version } from '../../run/version.ts';
import { filesOf, makeViewRuns } from '../testing/view-runs.ts';
import { annotate, readAnnotations } from './annotations.ts';
import { Groups } from './groups.ts';
import { judgedRows, judgedRun } from './judged-episodes.ts';
import { RunsFolder } from './runs-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-annotations-'));
beforeAll(() => makeViewRuns(root), 120_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

const lake = () => new RunsFolder({ root, version }).find('lake');
const say = (body: object) => annotate(lake(), new Groups(), { place: '3', group: 0, member: 0, ...body });

test('what is said last counts, beside the run and nowhere else', async () => {
  const before = filesOf(join(root, 'lake'));
  await say({ verdict: 'up', note: 'well done' });
  await say({ verdict: 'down' });
  await say({ member: 1, verdict: 'up' });
  await say({ member: 2, note: 'gone' });
  await say({ member: 2 });
  appendFileSync(join(root, 'lake', 'annotations.jsonl'), '{"version":1,"cut');
  await say({ member: 3, note: 'after a cut line' });
  const told = readAnnotations(lake()).map(({ member, verdict, note }) => [member, verdict, note]);
  expect(told).toEqual([
    [0, 'down', undefined],
    [1, 'up', undefined],
    [3, undefined, 'after a cut line'],
  ]);
  expect(filesOf(join(root, 'lake')).filter((name) => !name.startsWith('annotations'))).toEqual(before);
  await expect(say({ member: 99 })).rejects.toMatchObject({ code: 'episode-unknown' });
  await expect(say({ verdict: 'maybe' })).rejects.toThrow('An annotation');
});

test('judgements are rewards, corrections are pairs, and training reads them', {
  timeout: 60_000,
}, async () => {
  await say({ group: 1, member: 0, correction: { turn: 0, action: 'right' } });
  await say({ place: 'evaluation-3', label: 'greedy', verdict: 'up' });
  const { rows, pairs, unused } = await judgedRows(lake());
  expect([rows.length, pairs, unused]).toEqual([3, 1, 2]);
  expect(rows.map((row) => ('reward' in row ? row.reward : 'pair'))).toEqual([0, 1, 'pair']);
  const pair = rows[2] as PreferenceRow;
  expect(pair.chosen.map(({ content }) => content)).toEqual([expect.stringContaining('right')]);
  expect(pair.rejected).toHaveLength(1);
  expect(pair.rejected).not.toEqual(pair.chosen);
  expect(pair.source).toMatchObject({ kind: 'annotation', run: 'lake', environment: 'frozen-lake' });
  const folder = new RunsFolder({ root, version });
  const gone = { ...readAnnotations(lake())[0]!, place: '77' };
  appendFileSync(join(root, 'lake', 'annotations.jsonl'), `\n${JSON.stringify(gone)}\n`);
  const told = await judgedRun(folder, lake());
  expect(told.judgements.map(({ use, rows: many }) => [use, many])).toEqual([
    ['conversation', 1],
    ['conversation', 1],
    ['note', 0],
    ['pair', 1],
    ['test', 0],
    ['gone', 0],
  ]);
  expect([told.rows, told.pairs]).toEqual([3, 1]);
  expect(told.commands).toEqual([
    `turnwise view lake --annotations judged.jsonl --runs ${root}`,
    `turnwise train frozen-lake --recipe dpo --set data=judged.jsonl --runs ${root}`,
  ]);
  const path = join(root, 'judged.jsonl');
  writeRows(path, rows);
  const run = await start({
    world: 'frozen-lake',
    recipe: 'dpo',
    runs: root,
    settings: {
      data: path,
      steps: 1,
      threads: 1,
      model: { width: 32, layers: 1, heads: 2, hidden: 32 },
      clone: { demonstrations: 50, steps: 4, batch: 8 },
      evaluation: { every: 0, tasks: 4, finalTasks: 4 },
    },
  });
  expect((await run.finished).steps).toBe(1);
});
