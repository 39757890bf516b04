/** Names a tokenizer by its content, so that recorded token ids are used where they mean the same. */

import { createHash } from 'node:crypto';
import { type TokenizerSource, tokenizerFile } from '../../store/tokenizer-file.ts';
import type { ModelCard } from '../../train/model-card.ts';

/** Equal for equal tokenizers, as the headers of shards name them. */
export function tokenizerHash(source: TokenizerSource): string {
  return createHash('sha256').update(tokenizerFile(source)).digest('hex');
}

export function tokenizerOfCard(card: ModelCard): string {
  return tokenizerHash('words' in card ? { words: card.words } : { model: card.base.folder });
}
