/** Runs for tests of the viewer: a real one, and what becomes of runs: copied, cut, damaged, hostile. */

import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Group } from '../../core/episode.ts';
import { madeCall, madeEpisode, madeKey, madeTransition } from '../../core/testing/made-episodes.ts';
import { train } from '../../exports/train.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import type { TrainSettings } from '../../train/config/config.ts';
import { comparisonFile, type StoredComparison } from '../comparison.ts';

/** Settings of a run that takes seconds. */
export const small: TrainSettings = {
  steps: 3,
  threads: 1,
  model: { width: 32, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 300, steps: 80, batch: 32 },
  rollout: { tasks: 6, group: 4 },
  evaluation: { every: 1, tasks: 12, finalTasks: 12 },
};

export const markup =
  '<img src=x onerror="document.title=\'owned\'"></script><script>document.title="owned"</script>';
/** ESC, RLO, NUL, a lone surrogate and a key that means something to every object. */
export const hostileText = `${markup} \u001b[31mred \u202egnp.exe \u0000 \ud800 __proto__`;
export const longText = `${'observation '.repeat(10)}\n`.repeat(90_000);

/** Make the run `lake` by training for three steps, and out of it `cut`, `bare`, `damaged`; and `hostile`, `broken`. */
export async function makeViewRuns(root: string): Promise<void> {
  await train({ world: 'frozen-lake', recipe: 'rloo', name: 'lake', runs: root, settings: small });
  const copy = (name: string): string => {
    const path = join(root, name);
    cpSync(join(root, 'lake'), path, { recursive: true });
    return path;
  };
  // Killed while it wrote: its last lines are missing, and one is not finished.
  const cut = join(copy('cut'), 'events.jsonl');
  truncateSync(cut, statSync(cut).size - 900);
  const bare = copy('bare');
  for (const derived of ['metrics.bin', 'rollouts/index.bin']) rmSync(join(bare, derived));
  const damaged = copy('damaged');
  writeFileSync(join(damaged, 'metrics.bin'), 'TWMX\u0001\u0000 nonsense');
  truncateSync(join(damaged, 'rollouts/index.bin'), 64 + 64 * 5 + 17);
  truncateSync(join(damaged, 'rollouts/3.jsonl.gz'), 1500);
  appendFileSync(join(damaged, 'events.jsonl'), 'this is no event\n{"type":"step","st');
  mkdirSync(join(root, 'broken'));
  writeFileSync(join(root, 'broken/config.json'), '{"format":');
  await makeHostileRun(root);
  makeComparison(root);
}

/** Two arms in one world, as `turnwise compare` stores them. */
function makeComparison(root: string): void {
  const figures = { warm: 0.1, final: 0.6, area: 0.4, collapses: 0, tokens: 12_000, secondsPerStep: 0.5 };
  const curve = [0, 100, 200].map((spent) => ({ spent, value: spent / 400 }));
  const arm = (name: string) => ({ arm: name, seeds: 6, counted: 6, figures, curve, finals: [0.5, 0.7] });
  const pair = { first: 'rloo', second: markup, metric: 'final success', world: 'frozen-lake', mean: 0.1 };
  const comparison: StoredComparison = {
    version: 1,
    name: 'made',
    time: '2026-01-02T00:00:00.000Z',
    conclusion: '6 seeds are too few to tell arms apart.',
    worlds: [
      {
        world: 'frozen-lake',
        title: 'Success on held-out tasks',
        axis: 'environment steps',
        isShare: true,
        arms: [arm('rloo'), arm(markup)],
      },
    ],
    pairs: [{ ...pair, low: -0.1, high: 0.3, text: '+0.10 [−0.10, +0.30]', p: '0.30', wins: '4/0/2' }],
    overall: [{ arm: 'rloo', mean: 0.5, interquartileMean: 0.5, profile: [1, 0.5, 0] }],
    thresholds: [0, 0.5, 1],
    improvement: [],
  };
  mkdirSync(join(root, 'made'));
  writeFileSync(join(root, 'made', comparisonFile), JSON.stringify(comparison));
}

function hostileGroup(): Group {
  const member = (index: number) =>
    madeEpisode(
      0,
      [
        madeCall(0, 3, {
          messages: [
            { role: 'system', content: hostileText },
            { role: 'user', content: index === 0 ? longText : 'short' },
            { role: 'tool', content: `${'x'.repeat(100_000)}`, toolCallId: markup },
          ],
          text: hostileText,
          reply: {
            content: markup,
            reasoning: hostileText,
            toolCalls: [{ name: markup, arguments: { __proto__: 1, a: markup } }],
          },
          purpose: markup,
        }),
        madeCall(1, 2, {
          parent: 0,
          text: `${markup}${index}`,
          messages: [{ role: 'user', content: hostileText }],
        }),
      ],
      [
        madeTransition(0, 0, { action: hostileText, anchor: markup }),
        madeTransition(1, index, { action: `${markup}${index}`, anchor: '__proto__' }),
      ],
      {
        key: madeKey({ step: 1, group: 0, member: index, split: 'train', task: 0 }),
        task: { question: hostileText, __proto__: 'x', nested: deep(2000) as never },
        failure: hostileText,
        success: { agent: index === 1 },
      },
    );
  return { step: 1, group: 0, members: [member(0), member(1)] };
}

function deep(levels: number): unknown {
  let value: unknown = markup;
  for (let level = 0; level < levels; level++) value = { v: value };
  return value;
}

async function makeHostileRun(root: string): Promise<void> {
  const run = RunDirectory.create({
    root,
    name: 'hostile',
    version,
    world: { name: markup, source: markup },
    recipe: 'rloo',
    config: { seed: 1, note: hostileText },
  });
  run.events.append({
    type: 'start',
    run: 'hostile',
    environment: markup,
    recipe: 'rloo',
    seed: 1,
    vocabulary: 10,
    identity: markup,
    version: '0.1.0',
    base: hostileText,
    unrepeatable: 'agent',
  });
  run.events.append({ type: 'phase', phase: 'train', steps: 4 });
  run.events.append({
    type: 'step',
    step: 1,
    steps: 4,
    metrics: { 'reward/success': 0.5, [markup]: 1, 'policy/kl': Number.NaN, 'stop/failed:tool': 1 },
    spent: { episodes: 2, turns: 4, tokens: 10, seconds: 1 },
  });
  run.events.append({ type: 'warning', code: markup, message: hostileText });
  const words = { words: ['<pad>', '<unk>', '<act>', '<end>', markup, hostileText] };
  const writer = run.storeRollouts({
    world: { source: markup, options: {}, version: null },
    tokenizer: run.keepTokenizer(words),
  });
  await writer.write(1, [hostileGroup()]);
  await run.close();
}

/** Names of the files of a run with their sizes and times: equal where nothing was written. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => {
      const { size, mtimeMs } = statSync(join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    })
    .sort();
}
