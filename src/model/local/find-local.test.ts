/** Models of Ollama and LM Studio are found by name, in a folder of their own making. */

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { openCheckpoint } from '../checkpoint/checkpoint.ts';
import { findModel } from '../hub/find-model.ts';
import { ollamaNames } from './ollama.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-local-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const good = join(import.meta.dirname, '../../../tests/gguf/good.gguf');
const hex = 'ab'.repeat(32);
const other = 'cd'.repeat(32);
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(root, 'home-'));
});

function write(path: string, content: object | string): string {
  const whole = join(home, path);
  mkdirSync(dirname(whole), { recursive: true });
  if (typeof content === 'string') copyFileSync(content, whole);
  else writeFileSync(whole, JSON.stringify(content));
  return whole;
}

const layer = (kind: string, digest = `sha256:${hex}`): object => ({
  mediaType: `application/vnd.ollama.image.${kind}`,
  digest,
  size: 1,
});
const manifest = (...layers: object[]): object => ({ schemaVersion: 2, config: layer('config'), layers });
const ollama = '.ollama/models';
const library = `${ollama}/manifests/registry.ollama.ai/library`;

/** Offline, so that nothing but what is here can be found. */
const find = (reference: string): Promise<string> =>
  findModel(reference, {
    environment: { HOME: home, HF_HOME: join(home, 'hub'), HF_HUB_OFFLINE: '1' },
    signal: new AbortController().signal,
  });

async function failure(reference: string): Promise<string> {
  const error = await find(reference).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!TurnwiseError.isInstance(error)) throw error ?? new Error('nothing was raised');
  return `${error.code}: ${error.message}`.replaceAll(home, 'HOME');
}

test('of Ollama: by name and tag, with and without the prefix, and from other registries', async () => {
  const blob = write(`${ollama}/blobs/sha256-${hex}`, good);
  write(`${library}/small/latest`, manifest(layer('license'), layer('model'), layer('params')));
  write(`${library}/small/q8`, manifest(layer('model', `sha256-${hex}`)));
  write(`${ollama}/manifests/hf.co/someone/Small-GGUF/Q8_0`, manifest(layer('model')));
  for (const name of [
    'ollama:small',
    'small',
    'ollama:small:q8',
    'small:q8',
    'hf.co/someone/Small-GGUF:Q8_0',
  ]) {
    expect(await find(name)).toBe(blob);
  }
  expect(ollamaNames({ HOME: home })).toEqual(['hf.co/someone/Small-GGUF:Q8_0', 'small:latest', 'small:q8']);
  // What is found is a model, although the file is not called one.
  expect((await openCheckpoint(blob)).shape.width).toBe(32);
  expect(await failure('ollama:smal:q8')).toMatchInlineSnapshot(
    `"model-unknown: Ollama has no model "smal:q8" here. Seen: hf.co/someone/Small-GGUF:Q8_0, small:latest, small:q8. Did you mean ollama:small:q8?"`,
  );
});

test('of Ollama: a list of manifests by runner, and the folder of newer versions', async () => {
  const blob = write(`${ollama}/blobs/sha256-${hex}`, good);
  write(`${ollama}/blobs/sha256-${other}`, manifest(layer('model')));
  write(`${ollama}/manifests-v2/registry.ollama.ai/library/small/latest`, {
    manifests: [
      { digest: `sha256:${'ef'.repeat(32)}`, runner: 'mlx', format: 'safetensors' },
      { digest: `sha256:${other}`, runner: 'ggml', format: 'gguf' },
    ],
  });
  expect(await find('small')).toBe(blob);
});

test('of Ollama: what is no GGUF file, or not whole, says so', async () => {
  write(`${library}/tensors/latest`, manifest(layer('tensor'), layer('tensor')));
  write(`${library}/adapted/latest`, manifest(layer('model'), layer('adapter')));
  write(`${library}/half/latest`, manifest(layer('model')));
  write(`${library}/outside/latest`, manifest(layer('model', 'sha256:../../secret')));
  const names = ['tensors', 'adapted', 'half', 'outside'];
  expect(await Promise.all(names.map((name) => failure(`ollama:${name}`)))).toMatchInlineSnapshot(`
    [
      "model-unsupported: Ollama does not keep "tensors" as one GGUF file. Seen: safetensors, tensor by tensor. Allowed: models in GGUF. Name a GGUF file or a checkpoint folder of the model.",
      "model-unsupported: Ollama does not keep "adapted" as one GGUF file. Seen: a model with an adapter. Allowed: models in GGUF. Name a GGUF file or a checkpoint folder of the model.",
      "checkpoint-missing: Ollama's model "half" is not whole: a file of it is missing. Seen: HOME/.ollama/models/blobs/sha256-abababababababababababababababababababababababababababababababab. Fetch it again with: ollama pull half.",
      "model-file-invalid: HOME/.ollama/models/manifests/registry.ollama.ai/library/outside/latest is not a manifest of Ollama's that can be read. Seen: layers.0.digest: Invalid string: must match pattern /^sha256[:-][0-9a-f]{64}$/. Fetch the model again with ollama pull, or name its GGUF file.",
    ]
  `);
});

test('of LM Studio: the one file of a repository, or the one that is named', async () => {
  const folder = '.lmstudio/models/someone/Small-GGUF';
  const q8 = write(`${folder}/Small-Q8_0.gguf`, good);
  write(`${folder}/mmproj-Small-F16.gguf`, good);
  expect(await find('lmstudio:someone/Small-GGUF')).toBe(q8);
  expect(await find('someone/Small-GGUF')).toBe(q8);
  const q4 = write(`${folder}/Small-Q4_0.gguf`, good);
  expect(await find('lmstudio:someone/Small-GGUF/Small-Q4_0.gguf')).toBe(q4);
  expect(await failure('someone/Small-GGUF')).toMatchInlineSnapshot(
    `"model-ambiguous: There are 2 models in HOME/.lmstudio/models/someone/Small-GGUF. Seen: Small-Q4_0.gguf, Small-Q8_0.gguf. Name one of them, such as lmstudio:someone/Small-GGUF/Small-Q4_0.gguf."`,
  );
  expect(await failure('lmstudio:someone/Other')).toMatchInlineSnapshot(
    `"model-unknown: LM Studio has no model "someone/Other" here. Seen: someone/Small-GGUF. Allowed: publisher/repository, or publisher/repository/FILE.gguf. Download it in LM Studio, or name a GGUF file."`,
  );
});

test('a folder with one GGUF file and no configuration is that file', async () => {
  const first = write('models/small-00001-of-00002.gguf', good);
  write('models/small-00002-of-00002.gguf', good);
  expect(await find(join(home, 'models'))).toBe(first);
  write('models/other.gguf', good);
  expect(await failure(join(home, 'models'))).toMatchInlineSnapshot(
    `"model-ambiguous: There are 2 models in HOME/models. Seen: other.gguf, small-00001-of-00002.gguf. Name one of them, such as HOME/models/other.gguf."`,
  );
});
