/** Checkpoint folders that are broken or that we cannot compute say so, naming file and tensor or key. */

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCheckpoint, readCheckpoint } from './checkpoint.ts';
import { readSafetensors, type Weight } from './safetensors.ts';
import { writeSafetensors } from './write-safetensors.ts';

const fixtures = join(process.cwd(), 'tests/hf-parity');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnwise-model-'));
});
afterEach(() => rm(folder, { recursive: true }));

const use = (variant: string): Promise<void> => cp(join(fixtures, variant), folder, { recursive: true });
const weightFile = (): string => join(folder, 'model.safetensors');

async function changeTensors(change: (tensors: Map<string, Weight>) => void): Promise<void> {
  const { tensors } = await readSafetensors(weightFile());
  change(tensors);
  await writeSafetensors(weightFile(), tensors);
}

async function changeConfig(changes: Record<string, unknown>): Promise<void> {
  const path = join(folder, 'config.json');
  const config = { ...JSON.parse(await readFile(path, 'utf8')), ...changes } as Record<string, unknown>;
  await writeFile(path, JSON.stringify(config));
}

const refusal = async (): Promise<string> => {
  try {
    await readCheckpoint(await openCheckpoint(folder));
    return 'accepted';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message.replaceAll(folder, '<folder>')}`;
  }
};

describe('weights', () => {
  it('cut off, of an unsupported type, or not finite are refused', async () => {
    await use('mistral/f32');
    expect(await refusal()).toBe('accepted');
    const bytes = await readFile(weightFile());
    await writeFile(weightFile(), bytes.subarray(0, bytes.length - 1000));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-corrupt: model.safetensors: Tensor model.layers.1.self_attn.v_proj.weight ends beyond the end of the file. Seen: offset 449536. Allowed: at most 448792. Copy the file again, or load another checkpoint."`,
    );
    const text = bytes.toString('latin1').replace('"dtype":"F32"', '"dtype":"I32"');
    await writeFile(weightFile(), Buffer.from(text, 'latin1'));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-corrupt: model.safetensors: Tensor lm_head.weight has an unsupported type. Seen: I32. Allowed: F32, F16, BF16. Copy the file again, or load another checkpoint."`,
    );
    await writeFile(weightFile(), bytes);
    await changeTensors((tensors) => {
      tensors.get('model.layers.1.mlp.up_proj.weight')!.data[5] = Number.NaN;
    });
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-corrupt: model.safetensors: Tensor model.layers.1.mlp.up_proj.weight has a value that is not finite. Seen: NaN at index 5. Copy the file again, or load another checkpoint."`,
    );
  });

  it('missing, superfluous or of another shape are refused when the folder is opened', async () => {
    await use('mistral/f32');
    await changeTensors((tensors) => tensors.delete('model.layers.1.self_attn.k_proj.weight'));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors: there is no tensor model.layers.1.self_attn.k_proj.weight, which config.json calls for. Use the config.json that belongs to these weights."`,
    );
    await use('mistral/f32');
    await changeTensors((tensors) =>
      tensors.set('model.layers.0.self_attn.q_proj.bias', { shape: [1], data: new Float32Array(1) }),
    );
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors: config.json calls for no tensor model.layers.0.self_attn.q_proj.bias. Use the config.json that belongs to these weights."`,
    );
    await use('mistral/f32');
    await changeConfig({ intermediate_size: 96 });
    await expect(openCheckpoint(folder)).rejects.toMatchObject({ code: 'checkpoint-mismatch' });
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors: tensor model.layers.0.mlp.gate_proj.weight has another shape than config.json calls for. Seen: [128, 64]. Allowed: [96, 64]. Use the config.json that belongs to these weights."`,
    );
    await use('mistral/f32');
    await changeTensors((tensors) =>
      tensors.set('model.layers.0.self_attn.rotary_emb.inv_freq', { shape: [1], data: new Float32Array(1) }),
    );
    expect(await refusal()).toBe('accepted');
  });

  it('of a head that is tied must equal the embeddings', async () => {
    await use('qwen3/bf16');
    expect(await refusal()).toBe('accepted');
    await changeTensors((tensors) => {
      tensors.get('lm_head.weight')!.data[7] = 0.5;
    });
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-mismatch: model.safetensors: tensor lm_head.weight differs from the embeddings, although config.json says that they are tied. Seen: 0.5 at index 7. Allowed: -0.115234375. Use the config.json that belongs to these weights."`,
    );
  });

  it('in files that the index names wrongly, or in no file, are refused', async () => {
    await use('llama/sharded');
    expect(await refusal()).toBe('accepted');
    await rm(join(folder, 'model-00002-of-00002.safetensors'));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-missing: Cannot read the weight file model-00002-of-00002.safetensors. Seen: ENOENT: no such file or directory, open '<folder>/model-00002-of-00002.safetensors'. Check the checkpoint folder, or load another checkpoint."`,
    );
    await writeFile(
      join(folder, 'model.safetensors.index.json'),
      JSON.stringify({ weight_map: { 'lm_head.weight': '../elsewhere.safetensors' } }),
    );
    expect(await refusal()).toMatchInlineSnapshot(
      `"model-invalid: model.safetensors.index.json: the value of weight_map cannot be used. Seen: {"lm_head.weight":"../elsewhere.safetensors"}. Allowed: names of tensors, each with the name of a file in the same folder."`,
    );
    await rm(join(folder, 'model.safetensors.index.json'));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-missing: There are no weights in <folder>. Allowed: model.safetensors, or model.safetensors.index.json and the files that it names. Convert weights of another format to safetensors with transformers."`,
    );
    await rm(join(folder, 'config.json'));
    expect(await refusal()).toMatchInlineSnapshot(
      `"checkpoint-missing: Cannot read config.json of the model folder <folder>. Seen: ENOENT: no such file or directory, open '<folder>/config.json'. Name a folder as transformers saves it, with config.json and *.safetensors."`,
    );
    await writeFile(join(folder, 'config.json'), '{');
    expect(await refusal()).toMatch(/^model-invalid: config.json is not JSON/);
  });
});

it('eos ids are those of generation_config.json, or else of config.json', async () => {
  await use('llama/sharded');
  expect((await openCheckpoint(folder)).eosIds).toEqual([285, 289, 290]);
  await changeConfig({ eos_token_id: 7 });
  expect((await openCheckpoint(folder)).eosIds).toEqual([285, 289, 290]);
  await rm(join(folder, 'generation_config.json'));
  expect((await openCheckpoint(folder)).eosIds).toEqual([7]);
});
