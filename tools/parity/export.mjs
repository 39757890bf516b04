/**
 * Trains an adapter on a checkpoint for a few steps with the built package, and writes what Python then checks:
 * OUT/adapter (exported), OUT/checkpoint (the engine's own), OUT/merged, OUT/full, and OUT/logprobs.json.
 *
 *   npm run build && node tools/parity/export.mjs OUT CHECKPOINT && python tools/parity/check_exports.py OUT CHECKPOINT
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEmbeddedEngine, openCheckpoint } from '../../dist/src/exports/engine.js';
import { crossEntropy } from '../../dist/src/objective/imitation/cross-entropy.js';

const [out, folder] = process.argv.slice(2);
const model = await openCheckpoint(folder);
const { vocabulary } = model.shape;
const rows = [7, 19, 12].map((length, row) => ({
  ids_T: Int32Array.from({ length }, (_, token) => (token * 37 + row * 11 + 5) % vocabulary),
  channels: { weight: new Float32Array(length).fill(1 / 35) },
}));
const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };
const common = { model, seed: 1, threads: 1, tokenBudget: 64 };

async function trained(engine) {
  for (let step = 0; step < 5; step++) {
    await engine.forwardBackward({ rows }, crossEntropy(), { temperature: 1 });
    await engine.optimStep(adam);
  }
  const { logprobs } = await engine.score({ rows }, { temperature: 1 });
  return logprobs.map((row) => [...row.subarray(1)]);
}

await mkdir(out, { recursive: true });
const adapted = await createEmbeddedEngine({ ...common, lora: { rank: 4, alpha: 8 } });
const sibling = await adapted.attach({ seed: 2, lora: { rank: 2, targets: 'attention' } });
const results = {
  ids: rows.map(({ ids_T }) => [...ids_T]),
  adapter: await trained(adapted),
  sibling: await trained(sibling),
};
await adapted.exportAdapter(join(out, 'adapter'));
await adapted.save(join(out, 'checkpoint'));
await adapted.exportModel(join(out, 'merged'));
await sibling.exportAdapter(join(out, 'sibling'));
await adapted.close();
await sibling.close();
const full = await createEmbeddedEngine(common);
results.full = await trained(full);
await full.exportModel(join(out, 'full'));
await full.close();
await writeFile(join(out, 'logprobs.json'), JSON.stringify(results));
