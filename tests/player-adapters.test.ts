/** Several players over one pretrained model: adapters of their own, and its frozen weights once. */

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type TrainSettings, train } from '../src/exports/index.ts';
import { readSafetensors } from '../src/model/checkpoint/safetensors.ts';
import { exportModel } from '../src/run/export-model.ts';
import { openCheckpoint } from '../src/run/open-checkpoint.ts';

const loads = vi.hoisted(() => ({ count: 0 }));
vi.mock('../src/model/checkpoint/checkpoint.ts', async (original) => {
  const real = await original<typeof import('../src/model/checkpoint/checkpoint.ts')>();
  const readCheckpoint: typeof real.readCheckpoint = (checkpoint) => {
    loads.count++;
    return real.readCheckpoint(checkpoint);
  };
  return { ...real, readCheckpoint };
});
beforeEach(() => {
  loads.count = 0;
});

const folder = mkdtempSync(join(tmpdir(), 'turnwise-adapters-'));
const model = join(folder, 'model');
const runs = join(folder, 'runs');
const parity = new URL('hf-parity/', import.meta.url).pathname;
beforeAll(() => {
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
  // Room for the prompts of poker.
  const config = join(model, 'config.json');
  const plain = JSON.parse(readFileSync(config, 'utf8')) as object;
  writeFileSync(config, JSON.stringify({ ...plain, max_position_embeddings: 1024 }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const small: TrainSettings = {
  seed: 5,
  steps: 2,
  threads: 1,
  model: { pretrained: model },
  lora: { rank: 2 },
  chat: { maxTurnTokens: 4, contextLength: 1024 },
  clone: { demonstrations: 8, steps: 2, batch: 4 },
  rollout: { tasks: 2, group: 2 },
  objective: { entropyCoefficient: 0.01 },
  evaluation: { every: 0, tasks: 2, finalTasks: 2 },
  checkpoint: { every: 1, keep: 10 },
};

const adapter = (run: string, inner = ''): string =>
  createHash('sha256')
    .update(readFileSync(join(runs, run, 'checkpoints', '2', inner, 'adapter_model.safetensors')))
    .digest('hex');

test('learners, an earlier self and a run share the base, and each keeps its adapter', {
  timeout: 60_000,
}, async () => {
  const play = (name: string, settings: TrainSettings) =>
    train({ world: 'kuhn-poker', name, runs, settings: { ...small, ...settings } });
  await play('two', { players: { bob: 'learner' }, seats: { second: 'bob' } });
  expect(loads.count).toBe(1);
  expect(adapter('two', join('players', 'bob'))).not.toBe(adapter('two'));
  await play('frozen', { players: { old: 'two' }, seats: { second: 'old' } });
  expect(loads.count).toBe(2);
  await play('past', { players: { rival: 'past:1' }, seats: { second: 'rival' } });
  expect(loads.count).toBe(3);
  const folders = { bob: join(folder, 'bob'), learner: join(folder, 'learner') };
  const request = { root: runs, name: 'two', signal: new AbortController().signal };
  for (const [player, to] of Object.entries(folders))
    await exportModel({ ...request, player }, 'adapter', to);
  const factors = async (at: string) =>
    (await readSafetensors(join(at, 'adapter_model.safetensors'))).tensors;
  const step = join(runs, 'two', 'checkpoints', '2');
  expect(await factors(folders.bob)).toEqual(await factors(join(step, 'players', 'bob')));
  expect(await factors(folders.learner)).toEqual(await factors(step));
  const nobody = exportModel({ ...request, player: 'eve' }, 'adapter', join(folder, 'eve'));
  await expect(nobody).rejects.toThrow('has no learner "eve". Seen: eve. Allowed: learner, bob');
  loads.count = 0;
  const opened = await openCheckpoint({
    ...{ root: runs, name: 'two', definitions: [] },
    signal: new AbortController().signal,
  });
  expect(loads.count).toBe(1);
  await opened.close();
});
