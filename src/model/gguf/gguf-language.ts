/** What a GGUF file says about text: its tokenizer, its chat template, and the tokens that end a turn. */

import { basename } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { ChatRendererParts } from '../chat/chat-renderer.ts';
import { ChatTemplate } from '../chat/chat-template.ts';
import { PretrainedTokenizer } from '../tokenizer/pretrained-tokenizer.ts';
import { type GgufFile, openGguf } from './gguf-file.ts';
import { type GgufTokenizer, tokenizerOf } from './gguf-tokenizer.ts';
import type { Metadata } from './metadata.ts';

/**
 * @param vocabulary logits of the model
 * @throws TurnwiseError `tokenizer-missing`, `tokenizer-unsupported`, `tokenizer-mismatch`, `chat-template-missing`,
 * `chat-template-invalid`, `stop-token-missing`, and as `openGguf`
 */
export function loadGgufLanguage(path: string, vocabulary: number): ChatRendererParts {
  const { metadata } = openGguf(path);
  const { config, stopIds } = requireTokenizer(metadata);
  const tokenizer = pretrainedTokenizer(metadata, vocabulary);
  const template = new ChatTemplate(requireTemplate(metadata), path, config as Record<string, string>);
  if (stopIds.length > 0) return { tokenizer, template, stopIds };
  throw new TurnwiseError('stop-token-missing', {
    what: `${basename(path)} does not say which token ends a turn`,
    allowed: 'tokenizer.ggml.eos_token_id, eot_token_id or eom_token_id',
    next: 'Take another file of the model',
    fields: { file: path },
  });
}

/** Its tokenizer alone; undefined where it has none. Errors as those of `loadGgufLanguage`. */
export function loadGgufTokenizer(path: string, vocabulary: number): PretrainedTokenizer | undefined {
  const { metadata } = openGguf(path);
  return tokenizerOf(metadata) && pretrainedTokenizer(metadata, vocabulary);
}

/** `tokenizer.json` of the model in the file. */
export function ggufTokenizerJson(path: string): string {
  return JSON.stringify(requireTokenizer(openGguf(path).metadata).definition);
}

function pretrainedTokenizer(metadata: Metadata, vocabulary: number): PretrainedTokenizer {
  const { path } = metadata;
  const { definition, config } = requireTokenizer(metadata);
  const tokenizer = new PretrainedTokenizer(definition, config, path);
  if (tokenizer.size <= vocabulary) return tokenizer;
  throw new TurnwiseError('tokenizer-mismatch', {
    what: `${basename(path)} has more tokens than the model has logits`,
    seen: `${tokenizer.size} tokens`,
    allowed: `at most ${vocabulary}`,
    fields: { file: path, tokens: tokenizer.size, vocabulary },
  });
}

/** @throws TurnwiseError `tokenizer-missing` */
function requireTokenizer(metadata: Metadata): GgufTokenizer {
  const tokenizer = tokenizerOf(metadata);
  if (tokenizer !== undefined) return tokenizer;
  throw new TurnwiseError('tokenizer-missing', {
    what: `${basename(metadata.path)} has no tokenizer`,
    seen: 'no tokenizer.ggml.model and tokenizer.ggml.tokens',
    next: 'Take a file that has one, as nearly all have, or the folder of the model with its tokenizer.json',
    fields: { file: metadata.path },
  });
}

/** The template of the file; undefined where it has none. */
export function templateOf(metadata: Metadata): string | undefined {
  return metadata.text('tokenizer.chat_template') ?? metadata.text('tokenizer.chat_template.default');
}

function requireTemplate(metadata: Metadata): string {
  const template = templateOf(metadata);
  if (template !== undefined) return template;
  const named = metadata.texts('tokenizer.chat_templates') ?? [];
  throw new TurnwiseError('chat-template-missing', {
    what: `${basename(metadata.path)} has no chat template, so it is not known how the model reads messages`,
    ...(named.length > 0 && { seen: `templates for ${named.join(', ')} alone` }),
    allowed: 'tokenizer.chat_template',
    next: 'Take the file of an instruction-tuned model',
    fields: { file: metadata.path },
  });
}

/** The small files of a checkpoint folder of the same model, by name. */
export function companionFiles({ metadata }: GgufFile): ReadonlyMap<string, string> {
  const { definition, config, stopIds } = requireTokenizer(metadata);
  const template = templateOf(metadata);
  return new Map([
    ['tokenizer.json', JSON.stringify(definition)],
    ['tokenizer_config.json', pretty({ ...config, clean_up_tokenization_spaces: false })],
    ['generation_config.json', pretty({ eos_token_id: [...stopIds] })],
    ...(template === undefined ? [] : ([['chat_template.jinja', template]] as const)),
  ]);
}

const pretty = (value: JsonObject): string => `${JSON.stringify(value, null, 2)}\n`;
