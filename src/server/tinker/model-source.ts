/** Where served models come from: one base model, from which any number of copies or adapters can be trained. */

import type { Engine } from '../../engine/engine.ts';

/** The adapter of a model; where models are copies of the base, it has no meaning. */
export interface AdapterKind {
  readonly rank: number;
  readonly targets: 'attention' | 'mlp' | 'all';
}

export interface ModelSource {
  /** The name by which clients ask for the base model. */
  readonly name: string;
  readonly vocabulary: number;
  readonly contextLength: number;
  /** Models are adapters on one base; otherwise each is a copy of it, trained whole. */
  readonly isLora: boolean;
  /** Ids that end a completion where the client names none. */
  readonly stopIds: readonly number[];
  /** Text of ids, for clients that stop at strings; without a tokenizer they are told so. */
  readonly decode?: (ids: readonly number[]) => string;
  /** An engine whose weights are those of the base model; those of an adapter on it are named by `seed`. */
  create(options: AdapterKind & { readonly seed: string }): Promise<Engine>;
}
