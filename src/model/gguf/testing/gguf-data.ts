/** GGUF files with expected numbers: a small one that is always there, and many beside the repository. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Graph } from '../../../graph/graph.ts';
import { loadGraph } from '../../../graph/node/loaded-graph.ts';
import { toOnnx } from '../../../graph/onnx.ts';
import { type ModelCheckpoint, readCheckpoint } from '../../checkpoint/checkpoint.ts';
import { causalMask, forward } from '../../decoder/forward.ts';

const root = join(import.meta.dirname, '../../../..');

/** One layer of width 32 in Q8_0, its numbers, and blocks of every type with the bits of their values. */
export const ownFolder: string = join(root, 'tests/gguf');

/** `TURNWISE_SHARED` names the folder of `data/gguf`; by default `shared` beside the repository. */
export const sharedFolder: string = join(process.env.TURNWISE_SHARED ?? join(root, '../shared'), 'data/gguf');

export const hasShared: boolean = existsSync(sharedFolder);

/** For the titles of tests that are skipped without the files. */
export const needsShared: string = hasShared ? '' : ' (skipped: there is no shared/data/gguf)';

export function readJson<T>(folder: string, name: string): T {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
}

/** Logits of the whole model behind every token, [T, vocabulary]. */
export async function logitsOf(model: ModelCheckpoint, ids: readonly number[]): Promise<Float32Array[]> {
  const graph = new Graph();
  const outputs = forward(graph, model.shape, {
    ids: graph.input('ids', ['B', '2*U'], 'int64'),
    causalMask: graph.input('mask', ['U', '2*U']),
  });
  const session = await loadGraph(toOnnx({ logits: outputs.logits() }), { threads: 1 });
  try {
    const weights = await readCheckpoint(model);
    const T = ids.length + (ids.length % 2);
    const given = new Map<string, (typeof weights extends Map<string, infer W> ? W : never) | object>([
      ...weights,
      ['ids', { data: BigInt64Array.from({ length: T }, (_, t) => BigInt(ids[t] ?? 0)), shape: [1, T] }],
      ['mask', causalMask(T)],
    ]);
    const feeds = Object.fromEntries(session.inputNames.map((name) => [name, given.get(name) as never]));
    const { logits } = await session.run(feeds);
    const { vocabulary } = model.shape;
    return ids.map((_, t) => logits!.slice(t * vocabulary, (t + 1) * vocabulary));
  } finally {
    await session.close();
  }
}

/** The largest difference of two lists of the same length. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (let i = 0; i < a.length; i++) worst = Math.max(worst, Math.abs(a[i]! - b[i]!));
  return worst;
}
