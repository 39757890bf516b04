/** A checkpoint of a language model on the disk: a folder as transformers saves it, or a GGUF file. */

import { statSync } from 'node:fs';
import type { DecoderShape } from '../decoder/decoder.ts';
import { openGgufCheckpoint, readGgufCheckpoint } from '../gguf/gguf-checkpoint.ts';
import { openCheckpointFolder, readCheckpointFolder } from './checkpoint-folder.ts';
import type { Weight } from './safetensors.ts';

/** What is known of a checkpoint before its weights are read; plain data that can be handed to another thread. */
export interface ModelCheckpoint {
  /** A folder with `config.json` and safetensors files, or a GGUF file. */
  readonly format: 'safetensors' | 'gguf';
  /** Absolute path of the folder, or of the one that holds the GGUF file. */
  readonly folder: string;
  /** What adapters call their base: a name of the hub, or else the path. */
  readonly name: string;
  readonly shape: DecoderShape;
  /** Tokens that end a completion. */
  readonly eosIds: readonly number[];
  /** Names of the weight files in the folder; the parts of a GGUF file in order. */
  readonly files: readonly string[];
}

/**
 * Opens a folder with `config.json` and safetensors files, or a GGUF file, of Llama, SmolLM2, Mistral, Qwen2 or Qwen3, and
 * checks names, shapes and types of all tensors; reads no weights.
 *
 * ```ts
 * const model = await openCheckpoint('models/Qwen3-0.6B-Q8_0.gguf', { contextLength: 2048 });
 * ```
 *
 * @param options.contextLength the longest sequence in tokens that will be used; by default that of the model, but no more
 * than 4096
 * @param options.name what adapters will call their base
 * @throws TurnwiseError `model-invalid`, `model-unsupported`, `checkpoint-missing`, `checkpoint-corrupt`,
 * `checkpoint-mismatch`, or `tokenizer-unsupported` for a GGUF file, naming the file and the key or tensor
 */
export function openCheckpoint(
  path: string,
  options: { readonly contextLength?: number; readonly name?: string } = {},
): Promise<ModelCheckpoint> {
  return isFile(path) ? openGgufCheckpoint(path, options) : openCheckpointFolder(path, options);
}

/**
 * Reads the weights as 32-bit floats, one tensor at a time: by the names and with the shapes of `parameterShapes`.
 * @throws TurnwiseError as `openCheckpoint`, and `checkpoint-corrupt` for a value that is not finite
 */
export function readCheckpoint(checkpoint: ModelCheckpoint): Promise<Map<string, Weight>> {
  return checkpoint.format === 'gguf' ? readGgufCheckpoint(checkpoint) : readCheckpointFolder(checkpoint);
}

/** Whether a model is one file, which is then a GGUF file, and not a folder. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
