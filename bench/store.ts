/** What stored episodes cost: a step to compress and write, an index of 100,000 episodes to open and filter, a group to read. */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Episode, Group } from '../src/core/episode.ts';
import { Rng } from '../src/core/rng.ts';
import { realDisk } from '../src/store/disk.ts';
import { describeGroup } from '../src/store/rollouts/describe-episode.ts';
import { groupLines } from '../src/store/rollouts/episode-line.ts';
import { IndexFile } from '../src/store/rollouts/index-file.ts';
import { writeRecord } from '../src/store/rollouts/index-record.ts';
import { RolloutReader } from '../src/store/rollouts/rollout-reader.ts';
import { RolloutWriter } from '../src/store/rollouts/rollout-writer.ts';

const EPISODES = 100_000;
const GROUPS = 64;
const MEMBERS = 8;
const TURNS = 8;
const REPEATS = 9;

export async function benchStore(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'turnwise-bench-'));
  try {
    return { step: await benchStep(folder), index: benchIndex(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchStep(folder: string): Promise<object> {
  const rng = Rng.of('bench', 'store');
  const groups = Array.from({ length: GROUPS }, (_, group) => groupOf(1, group, rng));
  const plainBytes = groups.reduce((sum, group) => sum + groupLines(group).join('\n').length + 1, 0);
  const world = { source: 'bench', options: {}, version: null };
  const options = { folder, world, tokenizer: null, generation: 1, disk: realDisk };
  const writeMs: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const writer = new RolloutWriter({ ...options, failed: (error) => error });
    const from = performance.now();
    await writer.write(1, groups);
    await writer.settled();
    writeMs.push(performance.now() - from);
  }
  const reader = RolloutReader.open(folder);
  const readMs: number[] = [];
  for (const record of reader.index.inShard(1).filter(({ line }) => line === 0)) {
    const from = performance.now();
    await reader.readGroup(record);
    readMs.push(performance.now() - from);
  }
  const storedBytes = statSync(join(folder, '1.jsonl.gz')).size;
  return {
    episodes: GROUPS * MEMBERS,
    writeMs: median(writeMs),
    readGroupMs: median(readMs),
    storedBytes,
    timesSmallerThanLines: plainBytes / storedBytes,
  };
}

function benchIndex(folder: string): object {
  const rng = Rng.of('bench', 'index');
  const template = groupOf(1, 0, rng);
  const stored = template.members.map((episode) => ({ episode }));
  const [record] = describeGroup(stored, 1, { offset: 0, length: 1 });
  const records = Array.from({ length: EPISODES }, (_, row) =>
    writeRecord({ ...record!, step: 1 + Math.floor(row / 512), group: (row % 512) >> 3, member: row & 7 }),
  );
  const file = new IndexFile(join(folder, 'many.bin'), realDisk);
  file.write(records);
  const openMs: number[] = [];
  const filterMs: number[] = [];
  let found = 0;
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const from = performance.now();
    const index = file.read();
    const opened = performance.now();
    found = index.filter((one) => one.label === 'training' && one.member === 3 && !one.has('failed')).length;
    openMs.push(opened - from);
    filterMs.push(performance.now() - opened);
  }
  return { records: EPISODES, found, openMs: median(openMs), filterMs: median(filterMs) };
}

function groupOf(step: number, group: number, rng: Rng): Group {
  const members = Array.from({ length: MEMBERS }, (_, member) => episodeOf(step, group, member, rng));
  return { step, group, members };
}

/** An episode as word models play them: some ten tokens a turn. */
function episodeOf(step: number, group: number, member: number, rng: Rng): Episode {
  const turns = Array.from({ length: TURNS }, (_, turn) => turn);
  return {
    key: { step, environment: 'bench', split: 'train', task: group, group, member },
    task: { maze: group },
    calls: turns.map((turn) => ({
      id: turn,
      conversation: 'agent',
      ...(turn > 0 && { parent: turn - 1 }),
      role: 'agent',
      by: { kind: 'policy', name: 'learner', version: step - 1 },
      purpose: 'act',
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 8 },
      context: Int32Array.from({ length: 8 }, () => rng.int(60)),
      ids: Int32Array.from({ length: 2 }, () => rng.int(60)),
      logprobs: Float32Array.from({ length: 2 }, () => Math.log(rng.next())),
      messages: [{ role: 'user', content: 'rows+1 cols+0 left:free down:hole' }],
      text: 'left',
      finish: 'stop',
      trainable: true,
      at: 10 * turn,
      waitMs: 1,
      policyMs: 2,
    })),
    transitions: turns.map((turn) => ({
      call: turn,
      role: 'agent',
      anchor: `maze ${group}, ${turn}`,
      action: 'left',
      valid: true,
      rewards: { agent: 0 },
      at: 10 * turn + 4,
      environmentMs: 0.1,
    })),
    tools: {},
    seats: { agent: { player: 'learner', version: step - 1 } },
    outcome: { agent: 0 },
    success: { agent: false },
    stop: 'turn-limit',
  };
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
