/** A context that prompts overflow: refused where nothing fits, and told where some episodes do not. */

import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { train } from '../exports/train.ts';
import type { TrainSettings } from '../train/config/config.ts';

const parity = new URL('../../tests/hf-parity/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'turnwise-prompts-'));
const model = join(folder, 'model');
beforeAll(() => {
  cpSync(join(parity, 'qwen3', 'bf16'), model, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parity, 'tokenizer-qwen', file), join(model, file));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (name: string, contextLength: number, more: TrainSettings = {}) =>
  train({
    world: 'guess-number',
    name,
    runs: folder,
    settings: {
      steps: 1,
      threads: 1,
      model: { pretrained: model },
      chat: { contextLength },
      lora: { rank: 4 },
      clone: { steps: 2, untilValid: 0, batch: 2, demonstrations: 4 },
      rollout: { tasks: 2, group: 2 },
      evaluation: { every: 0, tasks: 2, finalTasks: 2 },
      ...more,
    },
  });

interface Told {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
}

const warnings = (name: string): readonly Told[] =>
  readFileSync(join(folder, name, 'events.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told)
    .filter(({ type }) => type === 'warning');

test('a context without room for the first prompt is refused', async () => {
  await expect(run('refused', 64)).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The first prompt of guess-number does not fit into the context of the model. Seen: 235 tokens, and a context of 64. Set chat.contextLength=256 if the model reads as much, or shorten chat.system.]`,
  );
});

test('a context without room for whole episodes is told before it is used', async () => {
  await run('short', 300, {
    clone: { steps: 2, untilValid: 0, batch: 2, demonstrations: 16, randomRate: 1 },
  });
  expect(warnings('short').find(({ code }) => code === 'context-short')?.message).toMatch(
    /^\d+ of 16 demonstrated episodes of guess-number do not fit into the context of 300 tokens \(the longest has \d+\)/,
  );
}, 30_000);
