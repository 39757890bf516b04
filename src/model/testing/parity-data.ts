/** The tokenizers and templates of `tests/hf-parity`, with what transformers makes of texts and conversations. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { ChatRendererParts } from '../chat/chat-renderer.ts';
import { loadPretrainedLanguage } from '../tokenizer/pretrained-language.ts';

export interface ExpectedText {
  readonly text: string;
  readonly ids: readonly number[];
  readonly ids_with_special_tokens: readonly number[];
  readonly decoded: string;
  readonly decoded_without_special_tokens: string;
}

export interface ExpectedConversation {
  readonly name: string;
  readonly messages: readonly JsonObject[];
  readonly tools?: readonly JsonObject[];
  readonly add_generation_prompt: boolean;
  readonly options?: Readonly<Record<string, Json>>;
  readonly text?: string;
  readonly ids?: readonly number[];
  readonly error?: string;
}

export interface Expected {
  readonly size: number;
  readonly strings: readonly ExpectedText[];
  readonly decode_pieces: readonly { readonly ids: readonly number[]; readonly decoded: string }[];
  readonly conversations: readonly ExpectedConversation[];
}

export const TOKENIZERS = ['tokenizer-qwen', 'tokenizer-llama3'] as const;

export function parityFolder(name: string): string {
  return join(import.meta.dirname, '../../../tests/hf-parity', name);
}

export function readExpected(name: string): Expected {
  return JSON.parse(readFileSync(join(parityFolder(name), 'expected.json'), 'utf8')) as Expected;
}

/** The tokenizer's folder as a checkpoint's would be read; the models of these tokenizers have 300 logits. */
export function parityLanguage(name: string): Promise<ChatRendererParts> {
  return loadPretrainedLanguage(parityFolder(name), 300);
}
