/** Evaluations without greedy play: half of the episodes, the same weights, and nobody misses the other half. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { train } from '../src/exports/train.ts';
import { measuredIn } from '../src/run/sinks/measured.ts';
import type { TimedEvent } from '../src/store/log-lines.ts';
import { figuresOf } from '../src/view/figures.ts';
import { noHistory, withEvent } from '../src/view/history.ts';
import type { RunOverview } from '../src/view/shapes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-sampled-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

async function trained(greedy: boolean) {
  const name = greedy ? 'both' : 'sampled';
  await train({
    world: 'frozen-lake',
    settings: {
      steps: 2,
      threads: 1,
      model: { width: 16, layers: 1, heads: 2, hidden: 32 },
      clone: { demonstrations: 40, steps: 5, batch: 8 },
      rollout: { tasks: 4, group: 4 },
      evaluation: { every: 1, tasks: 4, finalTasks: 6, greedy },
    },
    ...{ name, runs },
  });
  const folder = join(runs, name);
  const events = readFileSync(join(folder, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TimedEvent);
  return { folder, events };
}

test('a run that evaluates at temperature 1 alone', async () => {
  const [both, sampled] = [await trained(true), await trained(false)];
  const evaluationsOf = ({ events }: typeof both) => events.filter((event) => event.type === 'evaluation');
  expect(evaluationsOf(both).map(({ greedy }) => greedy?.episodes)).toEqual([6, 4, 6]);
  expect(evaluationsOf(sampled).map((event) => 'greedy' in event)).toEqual([false, false, false]);
  expect(evaluationsOf(sampled).map((event) => event.sampled)).toEqual(
    evaluationsOf(both).map((event) => event.sampled),
  );
  expect(Object.keys(measuredIn(evaluationsOf(sampled)[0]!)!.metrics).join()).not.toContain('greedy');
  const history = sampled.events.reduce(withEvent, noHistory);
  const overview = { history, latest: {}, failed: {}, episodes: 32, metrics: [] } as unknown as RunOverview;
  expect(figuresOf(overview)).toContainEqual(expect.objectContaining({ note: 'not played' }));
});
