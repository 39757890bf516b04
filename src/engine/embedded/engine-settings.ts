/** What the engine's thread is told when it starts. */

import type { AdapterCheckpoint } from '../../model/checkpoint/adapter-folder.ts';
import type { ModelCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import type { DecoderShape } from '../../model/decoder/decoder.ts';
import type { LoraShape } from '../../model/decoder/lora.ts';

export interface EngineSettings {
  readonly shape: DecoderShape;
  /** Where the first weights come from; random ones named by `seed` when not given. */
  readonly model?: ModelCheckpoint;
  /** Train an adapter instead of the weights. */
  readonly lora?: LoraShape;
  /** Where the adapter's first values come from; new ones named by `seed` when not given. */
  readonly adapter?: AdapterCheckpoint;
  readonly seed: number | string;
  /** In all: within one operator, or in lanes side by side. */
  readonly threads: number;
  /** Most padded tokens of the training micro-batches that are computed at once. */
  readonly tokenBudget: number;
  /** Whether what rows share is computed once; `auto` when not given. */
  readonly sharedPrefixes?: 'auto' | 'always' | 'never';
  /** Conversations whose caches are kept. */
  readonly slots: number;
}
