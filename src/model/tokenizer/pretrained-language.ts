/** What a model says about text: its tokenizer, its chat template, and the tokens that end a turn. */

import { join } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { ChatRendererParts } from '../chat/chat-renderer.ts';
import { ChatTemplate } from '../chat/chat-template.ts';
import { isFile } from '../checkpoint/checkpoint.ts';
import { readModelJson, readModelText } from '../checkpoint/model-files.ts';
import { loadGgufLanguage } from '../gguf/gguf-language.ts';
import { loadPretrainedTokenizer, type PretrainedTokenizer, tokenName } from './pretrained-tokenizer.ts';

const SPECIAL_TOKENS = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const;

/**
 * Reads `tokenizer.json`, `tokenizer_config.json`, `chat_template.jinja`, `generation_config.json` and `config.json` of a
 * checkpoint folder, or the metadata of a GGUF file.
 *
 * @param path of the folder or file
 * @param vocabulary logits of the model
 * @throws TurnwiseError `tokenizer-missing`, `tokenizer-unsupported`, `tokenizer-mismatch`, `chat-template-missing`,
 * `chat-template-invalid`, `stop-token-missing`, `model-file-invalid`
 */
export async function loadPretrainedLanguage(path: string, vocabulary: number): Promise<ChatRendererParts> {
  return isFile(path) ? loadGgufLanguage(path, vocabulary) : loadFolder(path, vocabulary);
}

async function loadFolder(folder: string, vocabulary: number): Promise<ChatRendererParts> {
  const { tokenizer, config } = await loadPretrainedTokenizer(folder, vocabulary);
  return {
    tokenizer,
    template: await loadTemplate(folder, config),
    stopIds: await loadStopIds(folder, config, tokenizer),
  };
}

async function loadTemplate(folder: string, config: JsonObject): Promise<ChatTemplate> {
  const variables: Record<string, string> = {};
  for (const key of SPECIAL_TOKENS) {
    const name = tokenName(config[key]);
    if (name !== undefined) variables[key] = name;
  }
  const found = await readTemplate(folder, config);
  if (found !== undefined) return new ChatTemplate(found.source, found.file, variables);
  throw new TurnwiseError('chat-template-missing', {
    what: `The checkpoint folder ${folder} has no chat template, so it is not known how the model reads messages`,
    allowed: 'chat_template.jinja, or chat_template in tokenizer_config.json',
    next: 'Use the instruction-tuned model, or put a chat_template.jinja into the folder',
    fields: { folder },
  });
}

/** The template of a checkpoint folder, and the file that holds it; undefined where it has none. */
export async function readTemplate(
  folder: string,
  config: JsonObject,
): Promise<{ readonly source: string; readonly file: string } | undefined> {
  const own = await readModelText(folder, 'chat_template.jinja');
  if (own !== undefined) return { source: own, file: join(folder, 'chat_template.jinja') };
  const source = templateSource(config.chat_template);
  return source === undefined ? undefined : { source, file: join(folder, 'tokenizer_config.json') };
}

/** One template, or a list of named ones, of which the default is taken. */
function templateSource(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const named = value as readonly JsonObject[];
  const chosen = named.find(({ name }) => name === 'default') ?? named[0];
  return typeof chosen?.template === 'string' ? chosen.template : undefined;
}

/** All that end a turn: the lists of `generation_config.json` and `config.json`, and the tokenizer's `eos_token`. */
async function loadStopIds(
  folder: string,
  config: JsonObject,
  tokenizer: PretrainedTokenizer,
): Promise<number[]> {
  const ids = new Set<number>();
  for (const name of ['generation_config.json', 'config.json']) {
    const listed = (await readModelJson(folder, name))?.eos_token_id;
    for (const id of [listed ?? []].flat()) {
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= tokenizer.size) {
        throw new TurnwiseError('tokenizer-mismatch', {
          what: `${join(folder, name)} names an eos_token_id that ${tokenizer.file} does not have`,
          seen: JSON.stringify(id),
          allowed: `0 to ${tokenizer.size - 1}`,
          next: 'Use the files that came with the weights',
          fields: { file: join(folder, name) },
        });
      }
      ids.add(id);
    }
  }
  const eos = tokenName(config.eos_token);
  const eosId = eos === undefined ? undefined : tokenizer.idOf(eos);
  if (eosId !== undefined) ids.add(eosId);
  if (ids.size > 0) return [...ids];
  throw new TurnwiseError('stop-token-missing', {
    what: `The checkpoint folder ${folder} does not say which token ends a turn`,
    allowed: 'eos_token_id in generation_config.json, or eos_token in tokenizer_config.json',
    next: 'Add one of them',
    fields: { folder },
  });
}
