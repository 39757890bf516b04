/**
 * Pretrained models by their size: seconds and memory to load one, to sample and to take a LoRA step on a group of eight, beside
 * the memory that the estimate before a run says. Random weights of the shapes; each in a process of its own, to be weighed.
 */

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { elementCount } from '../../src/model/checkpoint/safetensors-header.ts';
import type { DecoderShape } from '../../src/model/decoder/decoder.ts';
import { parameterShapes } from '../../src/model/decoder/decoder.ts';
import { large, larger, smolCheckpoint } from './shapes.ts';

export const sizes: Readonly<Record<string, DecoderShape>> = {
  '135M': smolCheckpoint,
  '0.6B': large,
  '1.5B': larger,
};

/** Of one size; `skipped` where the machine has too little free memory for it. */
export type PretrainedBench = Readonly<Record<string, number>> | { readonly skipped: string };

/** Bytes that a model is not tried with less of: its weights twice, while they are written, and room to learn. */
const needed = (shape: DecoderShape): number =>
  8 * parameterShapes(shape).reduce((sum, each) => sum + elementCount(each.shape), 0) + 2e9;

/** The sizes named in TURNWISE_BENCH_SIZES, or all. */
export async function benchPretrained(threads: number): Promise<Record<string, PretrainedBench>> {
  const chosen = process.env.TURNWISE_BENCH_SIZES?.split(',') ?? Object.keys(sizes);
  const script = fileURLToPath(new URL('./pretrained-size.js', import.meta.url));
  const results: Record<string, PretrainedBench> = {};
  for (const name of chosen) {
    const shape = sizes[name];
    if (shape === undefined)
      throw new Error(`There is no size "${name}", but ${Object.keys(sizes).join(', ')}`);
    process.stderr.write(`pretrained ${name}\n`);
    const free = process.availableMemory();
    if (free < needed(shape)) {
      results[name] = {
        skipped: `${(needed(shape) / 1e9).toFixed(1)} GB needed, ${(free / 1e9).toFixed(1)} free`,
      };
      continue;
    }
    const folder = await mkdtemp(join(tmpdir(), 'turnwise-bench-'));
    const run = (what: 'write' | 'measure'): string =>
      execFileSync(process.execPath, [script, what, name, folder, String(threads)], { encoding: 'utf8' });
    try {
      run('write');
      results[name] = JSON.parse(run('measure')) as PretrainedBench;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return results;
}
