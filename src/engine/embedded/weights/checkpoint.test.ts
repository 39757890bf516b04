import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { sampleAll } from '../../../policy/sampler.ts';
import type { EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, likelihood, randomBatch, request, tiny } from '../testing/tiny-engine.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-engine-'));
  folders.push(folder);
  return folder;
}

describe('checkpoints', () => {
  it('continue bit for bit', async () => {
    const folder = await folderOf();
    const batch = randomBatch([9, 5]);
    const train = async (engine: EmbeddedEngine) => {
      await engine.forwardBackward(batch, likelihood, { temperature: 1 });
      return [await engine.optimStep({ ...adam, weightDecay: 0.1 }), await engine.publish()];
    };
    const first = await engineOf();
    await train(first);
    await first.freeze();
    await train(first);
    await first.save(folder);
    expect((await readdir(folder)).sort()).toEqual([
      'frozen.safetensors',
      'model.safetensors',
      'optimizer.safetensors',
    ]);
    const second = await engineOf({ seed: 'another' });
    await second.load(folder);
    expect(second.version).toBe(2);
    for (const engine of [first, second]) await train(engine);
    const ask = [request('a', [1, 2, 3], { maxTokens: 20 })];
    expect(await sampleAll(second, ask)).toEqual(await sampleAll(first, ask));
    for (const frozen of [false, true])
      expect(await second.score(batch, { temperature: 1, frozen })).toEqual(
        await first.score(batch, { temperature: 1, frozen }),
      );
    expect(await train(second)).toEqual(await train(first));
  });

  it('of another model, cut off or missing are refused and change nothing', async () => {
    const folder = await folderOf();
    const other = await engineOf({ shape: { ...tiny, width: 32 } });
    await other.save(folder);
    const engine = await engineOf();
    const batch = randomBatch([6]);
    const before = await engine.score(batch, { temperature: 1 });
    const load = () =>
      engine.load(folder).then(
        () => 'loaded',
        (error: Error & { code: string }) => `${error.code}: ${error.message.replaceAll(folder, '<folder>')}`,
      );
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors belongs to another model: tensor model.embed_tokens.weight has another shape. Seen: [11, 32]. Allowed: [11, 16]. Use the model settings that the checkpoint was trained with."`,
    );
    await engine.save(folder);
    const file = join(folder, 'optimizer.safetensors');
    const bytes = await readFile(file);
    await writeFile(file, bytes.subarray(0, bytes.length - 100));
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-corrupt: optimizer.safetensors: Tensor second.lm_head.weight ends beyond the end of the file. Seen: offset 34176. Allowed: at most 34076. Copy the file again, or load another checkpoint."`,
    );
    await rm(file);
    expect(await load()).toMatchInlineSnapshot(
      `"checkpoint-missing: Cannot read the weight file optimizer.safetensors. Seen: ENOENT: no such file or directory, open '<folder>/optimizer.safetensors'. Check the checkpoint folder, or load another checkpoint."`,
    );
    expect(await engine.score(batch, { temperature: 1 })).toEqual(before);
  });
});
