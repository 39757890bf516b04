/** A GGUF file as a model: checked when it is opened, its weights read tensor by tensor when they are needed. */

import { basename, dirname, join, resolve } from 'node:path';
import type { ModelCheckpoint } from '../checkpoint/checkpoint.ts';
import { requireFinite } from '../checkpoint/finite.ts';
import { readHuggingFaceConfig } from '../checkpoint/hugging-face-config.ts';
import type { Weight } from '../checkpoint/safetensors.ts';
import { type DecoderShape, parameterShapes } from '../decoder/decoder.ts';
import { architectureOf, configOf } from './gguf-config.ts';
import { mismatched } from './gguf-errors.ts';
import { type GgufFile, type GgufTensor, openGguf } from './gguf-file.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { TensorFiles } from './read-tensor.ts';
import { ggufName, ROPE_FREQUENCIES, rowPlace } from './tensor-names.ts';

/**
 * Opens a file of one of the architectures that are read, and checks names, shapes and types of all tensors; reads no weights.
 * @throws TurnwiseError `model-invalid`, `model-unsupported`, `checkpoint-missing`, `checkpoint-corrupt`,
 * `checkpoint-mismatch`, `tokenizer-unsupported`
 */
export async function openGgufCheckpoint(
  path: string,
  options: { readonly contextLength?: number; readonly name?: string } = {},
): Promise<ModelCheckpoint> {
  const file = openGguf(resolve(path));
  // First, since all other keys are named after it.
  const architecture = architectureOf(file.metadata);
  const stopIds = tokenizerOf(file.metadata)?.stopIds ?? [];
  const config = await configOf(file, stopIds);
  const { shape, eosIds } = readHuggingFaceConfig(config, basename(path), options.contextLength);
  checkTensors(file, architecture, shape);
  return {
    format: 'gguf',
    folder: dirname(file.path),
    name: options.name ?? file.path,
    shape,
    eosIds,
    files: file.parts.map((part) => basename(part)),
  };
}

/** The weights in 32-bit floats, one tensor at a time. */
export async function readGgufCheckpoint({
  folder,
  files: [first],
  shape,
}: ModelCheckpoint): Promise<Map<string, Weight>> {
  const file = openGguf(join(folder, first!));
  const architecture = architectureOf(file.metadata);
  const places = checkTensors(file, architecture, shape);
  const files = new TensorFiles();
  try {
    const weights = new Map<string, Weight>();
    for (const { name, shape: sizes } of modelParameters(shape)) {
      const { ggufName: stored, tensor } = places.get(name)!;
      const data = await files.read(stored, tensor, rowPlace(architecture, name, shape));
      requireFinite(data, tensor.path, stored);
      weights.set(name, { shape: sizes, data });
    }
    return weights;
  } finally {
    await files.close();
  }
}

/** All but the parameters of heads that no language model has. */
function modelParameters(shape: DecoderShape): ReturnType<typeof parameterShapes> {
  return parameterShapes({ ...shape, valueHead: false, extraHeads: {} });
}

/** Where each parameter is. Throws where a tensor is missing, superfluous or of another shape. */
function checkTensors(
  { tensors, path }: GgufFile,
  architecture: string,
  shape: DecoderShape,
): Map<string, { readonly ggufName: string; readonly tensor: GgufTensor }> {
  const places = new Map<string, { readonly ggufName: string; readonly tensor: GgufTensor }>();
  const expected = new Set([ROPE_FREQUENCIES]);
  for (const parameter of modelParameters(shape)) {
    const name = ggufName(parameter.name);
    expected.add(name);
    const tensor = tensors.get(name);
    if (tensor === undefined) {
      throw mismatched(path, `there is no tensor ${name}, which the model calls for`, name);
    }
    // Columns first, as files list them.
    const sizes = [...parameter.shape].reverse();
    if (tensor.dimensions.join() !== sizes.join()) {
      throw mismatched(tensor.path, `tensor ${name} has another shape than the model calls for`, name, {
        seen: `[${tensor.dimensions.join(', ')}]`,
        allowed: `[${sizes.join(', ')}], columns first`,
      });
    }
    places.set(parameter.name, { ggufName: name, tensor });
  }
  for (const [name, tensor] of tensors) {
    if (expected.has(name)) continue;
    throw mismatched(tensor.path, `the model has no place for tensor ${name}`, name, {
      seen: `${architecture} of ${shape.layers} ${shape.layers === 1 ? 'layer' : 'layers'}`,
      ...(name.endsWith('.bias') && { allowed: `no biases in ${architecture} here` }),
    });
  }
  return places;
}
