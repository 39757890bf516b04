/**
 * The tokenizer of a Hugging Face checkpoint folder. Text to ids adds nothing (chat templates write their own special
 * tokens), and ids to text hides nothing, so that what was sampled is what is read.
 */

import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { TokenTexts } from '../../core/constraint.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { readModelJson } from '../checkpoint/model-files.ts';

export class PretrainedTokenizer {
  /** Where it was read from, for messages. */
  readonly file: string;
  /** One more than the largest id. */
  readonly size: number;
  readonly #tokenizer: Tokenizer;
  readonly #added: ReadonlySet<number>;
  readonly #bytes: TokenTexts['bytes'] | undefined;
  #texts: TokenTexts | undefined;

  /**
   * @param definition the content of `tokenizer.json`
   * @param config the content of `tokenizer_config.json`
   * @throws TurnwiseError `tokenizer-unsupported`
   */
  constructor(definition: JsonObject, config: JsonObject, file: string) {
    this.file = file;
    try {
      this.#tokenizer = new Tokenizer(definition, config);
    } catch (cause) {
      throw new TurnwiseError('tokenizer-unsupported', {
        what: `${file} is not a tokenizer that can be used`,
        seen: cause instanceof Error ? cause.message : String(cause),
        allowed: 'the tokenizer.json that transformers writes for a fast tokenizer',
        next: 'Save it again with AutoTokenizer.from_pretrained(…).save_pretrained(…)',
        fields: { file },
        cause,
      });
    }
    let largest = -1;
    for (const id of this.#tokenizer.get_vocab().values()) largest = Math.max(largest, id);
    this.size = largest + 1;
    this.#added = new Set(this.#tokenizer.get_added_tokens_decoder().keys());
    this.#bytes = bytesIn(definition.decoder);
  }

  /** Ids of `text`; special tokens that are written in it become their ids, and none is added. */
  encode(text: string): number[] {
    const ids: readonly (number | undefined)[] =
      text === '' ? [] : this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
    if (ids.every((id) => id !== undefined)) return [...ids];
    throw new TurnwiseError('tokenizer-cannot-encode', {
      what: `The tokenizer of ${this.file} has no token for a part of the text`,
      seen: JSON.stringify(text.slice(0, 80)),
      next: 'Use a model with a byte-level tokenizer',
      fields: { file: this.file },
    });
  }

  /**
   * The text of `ids`, special tokens written out, spaces as they are. An incomplete UTF-8 sequence becomes U+FFFD; ids that
   * the model has and the tokenizer has not (padding of the embedding) have no text.
   */
  decode(ids: readonly number[]): string {
    const known = ids.filter((id) => this.#tokenizer.id_to_token(id) !== undefined);
    if (known.length === 0) return '';
    return this.#tokenizer.decode(known, { clean_up_tokenization_spaces: false });
  }

  /** `ids` with those that the tokenizer itself would add at the edges of a text, such as BOS. */
  encodeWithSpecialTokens(text: string): number[] {
    return this.#tokenizer.encode(text).ids;
  }

  /** `text` without special tokens, as transformers' `skip_special_tokens`. */
  decodeWithoutSpecialTokens(ids: readonly number[]): string {
    if (ids.length === 0) return '';
    return this.#tokenizer.decode([...ids], {
      skip_special_tokens: true,
      clean_up_tokenization_spaces: false,
    });
  }

  /** Whether the id is one of the tokens that are found whole in any text, such as special tokens. */
  isAdded(id: number): boolean {
    return this.#added.has(id);
  }

  /** What its tokens write, special ones nothing: always the same object. Undefined for kinds of tokenizers without bytes. */
  texts(): TokenTexts | undefined {
    if (this.#bytes === undefined) return undefined;
    if (this.#texts === undefined) {
      const texts = new Array<string>(this.size).fill('');
      for (const [text, id] of this.#tokenizer.get_vocab()) texts[id] = text;
      for (const [id, { special }] of this.#tokenizer.get_added_tokens_decoder()) if (special) texts[id] = '';
      this.#texts = { texts, bytes: this.#bytes };
    }
    return this.#texts;
  }

  /** The id of a token by its name; undefined where there is none. */
  idOf(token: string): number | undefined {
    return this.#tokenizer.token_to_id(token);
  }
}

/** How the decoder of a tokenizer finds bytes in texts: one step of it, or a step in a sequence. */
function bytesIn(decoder: Json | undefined): TokenTexts['bytes'] | undefined {
  const { type, decoders } = (decoder ?? {}) as { readonly type?: Json; readonly decoders?: readonly Json[] };
  if (type === 'ByteLevel') return 'byte_level';
  if (type === 'ByteFallback') return 'byte_fallback';
  return decoders?.map(bytesIn).find((found) => found !== undefined);
}

/**
 * Reads `tokenizer.json` and `tokenizer_config.json` of a checkpoint folder.
 *
 * @param vocabulary logits of the model; ids beyond them are refused
 * @throws TurnwiseError `tokenizer-missing`, `tokenizer-unsupported`, `tokenizer-mismatch`, `model-file-invalid`
 */
export async function loadPretrainedTokenizer(
  folder: string,
  vocabulary: number,
): Promise<{ readonly tokenizer: PretrainedTokenizer; readonly config: JsonObject }> {
  const file = join(folder, 'tokenizer.json');
  const definition = await readModelJson(folder, 'tokenizer.json');
  if (definition === undefined) {
    throw new TurnwiseError('tokenizer-missing', {
      what: `The checkpoint folder has no tokenizer: ${file} does not exist`,
      next: 'Save it there with AutoTokenizer.from_pretrained(…).save_pretrained(…)',
      fields: { file },
    });
  }
  const config = (await readModelJson(folder, 'tokenizer_config.json')) ?? {};
  const tokenizer = new PretrainedTokenizer(definition, config, file);
  if (tokenizer.size > vocabulary) {
    throw new TurnwiseError('tokenizer-mismatch', {
      what: `${file} belongs to another model: it has more tokens than the model has logits`,
      seen: `${tokenizer.size} tokens`,
      allowed: `at most ${vocabulary}, the vocab_size of config.json`,
      next: 'Use the tokenizer that came with the weights',
      fields: { file, tokens: tokenizer.size, vocabulary },
    });
  }
  return { tokenizer, config };
}

/** The name of a special token as `tokenizer_config.json` writes it: text, or an object with its content. */
export function tokenName(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  const content = (value as JsonObject | null | undefined)?.content;
  return typeof content === 'string' ? content : undefined;
}
