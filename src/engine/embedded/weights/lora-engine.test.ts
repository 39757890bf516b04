/** Adapters in the engine: what is saved, what is refused, and several over one base. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../model/checkpoint/checkpoint.ts';
import type { LoraOptions } from '../../../model/decoder/lora.ts';
import { sampleAll } from '../../../policy/sampler.ts';
import { createEmbeddedEngine, type EmbeddedEngine } from '../embedded-engine.ts';
import { adam, engineOf, likelihood, randomBatch, request } from '../testing/tiny-engine.ts';

const root = new URL('../../../../', import.meta.url);
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-lora-'));
  folders.push(folder);
  return folder;
}

const lora: LoraOptions = { rank: 2, alpha: 6 };
const batch = randomBatch([9, 5]);

async function train(engine: EmbeddedEngine, steps = 1): Promise<void> {
  for (let step = 0; step < steps; step++) {
    await engine.forwardBackward(batch, likelihood, { temperature: 1 });
    await engine.optimStep({ ...adam, learningRate: 0.05 });
  }
  await engine.publish();
}

const scores = async (engine: EmbeddedEngine, frozen = false) =>
  (await engine.score(batch, { temperature: 1, frozen })).logprobs;

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'accepted',
    (error: Error & { code: string }) => `${error.code}: ${error.message}`,
  );

describe('an adapter', () => {
  it('changes nothing at first; trained, it leaves the reference policy as it was', async () => {
    const [plain, adapted] = [await engineOf(), await engineOf({ lora })];
    const before = await scores(plain);
    expect(await scores(adapted)).toEqual(before);
    await train(adapted, 3);
    expect(await scores(adapted)).not.toEqual(before);
    expect(await scores(adapted, true)).toEqual(before);
    await adapted.freeze();
    const kept = await scores(adapted);
    await train(adapted);
    expect(await scores(adapted, true)).toEqual(kept);
    expect(await scores(adapted)).not.toEqual(kept);
  });

  it.each([{ targets: 'attention' }, { targets: 'mlp' }, { targets: ['v_proj', 'down_proj'] }] as const)(
    'on $targets learns, and samples what it scores',
    async ({ targets }) => {
      const engine = await engineOf({ lora: { ...lora, targets } });
      const first = await engine.forwardBackward(batch, likelihood, { temperature: 1 });
      await engine.optimStep(adam);
      await train(engine, 10);
      const last = await engine.forwardBackward(batch, likelihood, { temperature: 1 });
      expect(last.loss).toBeLessThan(first.loss - 0.01);
      const [sampled] = await sampleAll(engine, [
        request('a', [1, 2, 3], { maxTokens: 20, temperature: 0.8 }),
      ]);
      const ids_T = Int32Array.from([1, 2, 3, ...sampled!.ids]);
      const scored = await engine.score({ rows: [{ ids_T }] }, { temperature: 0.8 });
      for (const [index, logprob] of sampled!.logprobs.entries())
        expect(Math.abs(logprob - scored.logprobs[0]![3 + index]!)).toBeLessThan(1e-5);
    },
  );

  it('is saved without its base, and goes on bit for bit', async () => {
    const folder = await folderOf();
    const first = await engineOf({ lora, shape: { ...(await engineOf()).shape, valueHead: true } });
    await train(first, 2);
    await first.freeze();
    await train(first);
    await first.save(folder);
    expect((await readdir(folder)).sort()).toEqual([
      'adapter_config.json',
      'adapter_model.safetensors',
      'frozen.safetensors',
      'optimizer.safetensors',
      'value_head.safetensors',
    ]);
    const second = await engineOf({ lora, shape: first.shape });
    await second.load(folder);
    expect(second.version).toBe(2);
    for (const engine of [first, second]) await train(engine);
    expect(await scores(second)).toEqual(await scores(first));
    expect(await scores(second, true)).toEqual(await scores(first, true));
    const ask = [request('a', [1, 2, 3], { maxTokens: 20 })];
    expect(await sampleAll(second, ask)).toEqual(await sampleAll(first, ask));
  });

  it('of another base, rank or alpha is refused', async () => {
    const folder = await folderOf();
    const engine = await engineOf({ lora });
    await engine.save(folder);
    const message = async (options: Parameters<typeof engineOf>[0]) =>
      (await messageOf((await engineOf(options)).load(folder))).replaceAll(
        /digest [0-9a-f]+/g,
        'digest <hex>',
      );
    expect(await message({ lora, seed: 8 })).toMatchInlineSnapshot(
      `"checkpoint-mismatch: adapter_model.safetensors was trained on another base model. Seen: random weights, seed 7, digest <hex>. Allowed: random weights, seed 8, digest <hex>. Load the base model that the adapter belongs to."`,
    );
    expect(await message({ lora: { rank: 2, alpha: 5 } })).toMatchInlineSnapshot(
      `"checkpoint-mismatch: adapter_model.safetensors was trained with another alpha. Seen: 6. Allowed: 5. Use its LoRA settings."`,
    );
    expect(await message({ lora: { rank: 3, alpha: 6 } })).toMatchInlineSnapshot(
      `"checkpoint-mismatch: adapter_model.safetensors belongs to another model: tensor base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight has another shape. Seen: [2, 16]. Allowed: [3, 16]. Use the model settings that the checkpoint was trained with."`,
    );
    expect(await message({ lora: { ...lora, targets: 'mlp' } })).toMatchInlineSnapshot(
      `"checkpoint-mismatch: adapter_model.safetensors belongs to another model: the model has no tensor base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight. Use the model settings that the checkpoint was trained with."`,
    );
    expect(await message({})).toMatch(/^checkpoint-missing/);
  });

  it('cannot have settings that make no sense', async () => {
    const message = (options: LoraOptions) => messageOf(engineOf({ lora: options }));
    expect(await message({ rank: 0 })).toMatchInlineSnapshot(
      `"config-invalid: A LoRA adapter cannot have this rank. Seen: 0. Allowed: a whole number, at least 1."`,
    );
    expect(await message({ rank: 2, alpha: -1 })).toMatchInlineSnapshot(
      `"config-invalid: A LoRA adapter cannot have this alpha. Seen: -1. Allowed: a number above 0."`,
    );
    expect(await message({ rank: 2, targets: ['q_proj', 'lm_head'] })).toMatchInlineSnapshot(
      `"config-invalid: A LoRA adapter cannot have this target. Seen: "lm_head". Allowed: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj."`,
    );
    expect(await message({ rank: 2, targets: [] })).toMatchInlineSnapshot(
      `"config-invalid: A LoRA adapter cannot have this target. Seen: []. Allowed: q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj."`,
    );
  });
});

describe('adapter folders', () => {
  it('start an engine where another was', async () => {
    const folder = await folderOf();
    const first = await engineOf({ lora });
    await train(first, 3);
    await first.exportAdapter(folder);
    const second = await engineOf({ adapter: folder });
    expect(second.lora).toEqual(first.lora);
    expect(await scores(second)).toEqual(await scores(first));
  });

  it('that would be computed wrongly, or do not fit, are refused', async () => {
    const folder = await folderOf();
    const engine = await engineOf({ lora });
    const config = join(folder, 'adapter_config.json');
    const message = async (changes: object) => {
      await engine.exportAdapter(folder);
      const plain = JSON.parse(await readFile(config, 'utf8')) as object;
      await writeFile(config, JSON.stringify({ ...plain, ...changes }));
      return messageOf(engineOf({ adapter: folder }));
    };
    expect(await message({})).toBe('accepted');
    expect(await message({ rank_pattern: {}, modules_to_save: [], target_modules: 'all-linear' })).toBe(
      'accepted',
    );
    expect(await message({ use_dora: true })).toMatchInlineSnapshot(
      `"model-unsupported: adapter_config.json: this value of use_dora is not supported. Seen: true. Allowed: plain LoRA: one rank and one alpha, no biases, no further modules."`,
    );
    expect(await message({ use_rslora: true })).toMatch(/^model-unsupported/);
    expect(await message({ bias: 'all' })).toMatch(/^model-unsupported/);
    expect(await message({ modules_to_save: ['lm_head'] })).toMatch(/^model-unsupported/);
    expect(await message({ rank_pattern: { q_proj: 8 } })).toMatch(/^model-unsupported/);
    expect(await message({ peft_type: 'IA3' })).toMatch(/^model-unsupported/);
    expect(await message({ r: 3 })).toMatchInlineSnapshot(
      `"checkpoint-mismatch: adapter_model.safetensors: tensor base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight does not fit the model. Seen: [2, 16]. Allowed: [3, 16]. Use the model that the adapter was trained on."`,
    );
    await rm(config);
    expect(await messageOf(engineOf({ adapter: folder }))).toMatch(/^checkpoint-missing/);
  });
});

describe('several adapters over one base', () => {
  it('train, sample and close by themselves', async () => {
    const first = await engineOf({ lora });
    const second = await first.attach({ seed: 'second', lora: { rank: 3, targets: 'mlp' } });
    const third = await first.attach({ seed: 7, lora });
    const before = await scores(first);
    await train(second, 3);
    expect(await scores(first)).toEqual(before);
    expect(await scores(third)).toEqual(before);
    await train(first, 2);
    await train(third, 2);
    expect(await scores(third)).toEqual(await scores(first));
    const alone = await engineOf({ lora });
    await train(alone, 2);
    expect(await scores(alone)).toEqual(await scores(first));
    await first.close();
    const ask = [request('a', [1, 2, 3], { maxTokens: 20 })];
    expect(await sampleAll(third, ask)).toEqual(await sampleAll(alone, ask));
    await second.close();
    await third.close();
  });

  it('have heads and a context of their own, and give the bits that they would give alone', async () => {
    const model = await openCheckpoint(new URL('tests/hf-parity/qwen3/bf16', root).pathname);
    const common = { seed: 'first', threads: 1, tokenBudget: 64, inProcess: true };
    const first = await createEmbeddedEngine({ model, lora, ...common, valueHead: true });
    const own = { lora: { rank: 3 }, seed: 'second', extraHeads: { q: 'action' } } as const;
    const contextLength = 40;
    const beside = await first.attach({ ...own, contextLength });
    const short = { ...model, shape: { ...model.shape, contextLength } };
    const alone = await createEmbeddedEngine({ ...common, ...own, model: short });
    expect(beside.shape).toEqual(alone.shape);
    expect(beside.capabilities).toEqual(alone.capabilities);
    const ask = [request('a', [1, 2, 3], { maxTokens: 20 }), request('b', [4, 5], { maxTokens: 9 })];
    const learnedBy = async (engine: EmbeddedEngine) => {
      await train(engine, 2);
      const { logprobs, heads } = await engine.score(batch, { temperature: 1, heads: ['q'] });
      return { logprobs, heads, sampled: await sampleAll(engine, ask) };
    };
    // The two compute in turns, each call between those of the other.
    const [, shared] = await Promise.all([train(first, 2), learnedBy(beside), sampleAll(first, ask)]);
    expect(shared).toEqual(await learnedBy(alone));
    for (const engine of [first, beside, alone]) await engine.close();
  });

  it('need adapters on both sides', async () => {
    const full = await engineOf();
    expect(await messageOf(full.attach({ seed: 1, lora }))).toMatchInlineSnapshot(
      `"engine-unsupported: Engines can share weights only where each trains an adapter. Seen: an engine that trains all weights. Create both with lora or adapter."`,
    );
    const adapted = await engineOf({ lora });
    expect(await messageOf(adapted.attach({ seed: 1 }))).toMatchInlineSnapshot(
      `"engine-unsupported: Engines can share weights only where each trains an adapter. Seen: neither lora nor adapter. Create both with lora or adapter."`,
    );
  });
});
