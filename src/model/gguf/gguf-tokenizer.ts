/** The tokenizer of a GGUF file as the `tokenizer.json` and `tokenizer_config.json` of the same model. */

import { basename } from 'node:path';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { invalidKey } from './gguf-errors.ts';
import type { Metadata } from './metadata.ts';
import { preTokenizer } from './pre-tokenizers.ts';
import { sentencePieceMerges } from './sentence-piece.ts';

/** What a file says of text. */
export interface GgufTokenizer {
  /** `tokenizer.json`. */
  readonly definition: JsonObject;
  /** `tokenizer_config.json`, without a template. */
  readonly config: JsonObject;
  /** Tokens that end a completion. */
  readonly stopIds: readonly number[];
}

/** Kinds of tokens, as `tokenizer.ggml.token_type` numbers them. */
export const TOKEN_TYPE = { normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6 } as const;

/** A file has no list of tokens that end a turn: these are known by name, wherever they are control tokens. */
const TURN_ENDS: readonly string[] = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|endoftext|>',
  '<|end_of_text|>',
  '<end_of_turn>',
  '<|end|>',
];

const KEY = 'tokenizer.ggml';

/** Undefined where the file has none. @throws TurnwiseError `model-invalid`, `tokenizer-unsupported` */
export function tokenizerOf(metadata: Metadata): GgufTokenizer | undefined {
  const model = metadata.text(`${KEY}.model`);
  const tokens = metadata.texts(`${KEY}.tokens`);
  if (model === undefined || tokens === undefined) return undefined;
  const types = tokenTypes(metadata, tokens.length);
  const vocabulary: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const [id, token] of tokens.entries()) {
    if (token in vocabulary) {
      throw invalidKey(metadata.path, `${KEY}.tokens`, `${JSON.stringify(token)} twice`, 'different tokens');
    }
    vocabulary[token] = id;
  }
  const id = (name: string): number | undefined =>
    tokenId(metadata, `${KEY}.${name}_token_id`, tokens.length);
  const name = (key: string): string | undefined => {
    const found = id(key);
    return found === undefined ? undefined : tokens[found];
  };
  const kind = kindOf(metadata, model, { tokens, vocabulary, unknown: name('unknown') });
  const bos = id('bos');
  const addsBos = (metadata.flag(`${KEY}.add_bos_token`) ?? kind.addsBos) && bos !== undefined;
  const names = {
    bos_token: name('bos'),
    eos_token: name('eos'),
    unk_token: name('unknown'),
    pad_token: name('padding'),
  };
  const known = TURN_ENDS.map((token) => vocabulary[token]).filter(
    (end) => end !== undefined && types[end] === TOKEN_TYPE.control,
  );
  const ends = [id('eos'), id('eot'), id('eom'), ...known].filter((end) => end !== undefined);
  return {
    definition: {
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: addedTokens(tokens, types),
      normalizer: kind.normalizer,
      pre_tokenizer: kind.preTokenizer,
      post_processor: addsBos ? beginningWith(tokens[bos]!, bos) : kind.postProcessor,
      decoder: kind.decoder,
      model: { type: 'BPE', dropout: null, ...kind.model, vocab: vocabulary, merges: kind.merges },
    },
    config: Object.fromEntries(
      Object.entries(names).filter(([, value]) => value !== undefined),
    ) as JsonObject,
    stopIds: [...new Set(ends)],
  };
}

/** What differs between byte-level BPE and SentencePiece. */
interface Kind {
  readonly normalizer: Json;
  readonly preTokenizer: Json;
  readonly postProcessor: Json;
  readonly decoder: Json;
  readonly model: JsonObject;
  readonly merges: Json;
  /** What a missing `add_bos_token` means. */
  readonly addsBos: boolean;
}

interface Words {
  readonly tokens: readonly string[];
  readonly vocabulary: Readonly<Record<string, number>>;
  readonly unknown: string | undefined;
}

function kindOf(metadata: Metadata, model: string, words: Words): Kind {
  if (model === 'gpt2') return byteLevel(metadata);
  if (model === 'llama') return sentencePiece(metadata, words);
  throw tokenizerUnsupported(metadata.path, `${KEY}.model`, JSON.stringify(model), 'gpt2, llama');
}

const WHOLE_WORDS: JsonObject = {
  continuing_subword_prefix: null,
  end_of_word_suffix: null,
};

function byteLevel(metadata: Metadata): Kind {
  const key = `${KEY}.pre`;
  const pre = metadata.text(key);
  const known = pre === undefined ? undefined : preTokenizer(pre);
  if (known === undefined) {
    const allowed = 'smollm, qwen2, llama-bpe (a guess would change the ids of texts silently)';
    throw tokenizerUnsupported(metadata.path, key, pre === undefined ? 'none' : JSON.stringify(pre), allowed);
  }
  const merges = metadata.required(`${KEY}.merges`, metadata.texts(`${KEY}.merges`));
  const level = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    normalizer: known.normalizer,
    preTokenizer: known.preTokenizer,
    postProcessor: level,
    decoder: { ...level, add_prefix_space: true },
    model: {
      unk_token: null,
      ...WHOLE_WORDS,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: known.ignoresMerges,
    },
    // A token may itself begin with a space.
    merges: merges.map((merge) => {
      const space = merge.indexOf(' ', 1);
      return [merge.slice(0, space), merge.slice(space + 1)];
    }),
    addsBos: known.addsBos,
  };
}

function sentencePiece(metadata: Metadata, { tokens, vocabulary, unknown }: Words): Kind {
  const scores = metadata.required(`${KEY}.scores`, metadata.numbers(`${KEY}.scores`));
  requireLength(metadata, `${KEY}.scores`, scores.length, tokens.length);
  const prefix = metadata.flag(`${KEY}.add_space_prefix`) ?? true;
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: '▁' };
  return {
    normalizer: {
      type: 'Sequence',
      normalizers: prefix ? [{ type: 'Prepend', prepend: '▁' }, replace] : [replace],
    },
    preTokenizer: null,
    postProcessor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(prefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      unk_token: unknown ?? null,
      ...WHOLE_WORDS,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
    },
    merges: sentencePieceMerges(tokens, vocabulary, scores),
    addsBos: true,
  };
}

/** Tokens that are found whole in any text. */
function addedTokens(tokens: readonly string[], types: ArrayLike<number>): Json {
  const { unknown, control, userDefined } = TOKEN_TYPE;
  return tokens.flatMap((content, id) => {
    const type = types[id]!;
    if (type !== unknown && type !== control && type !== userDefined) return [];
    return [
      {
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: type !== userDefined,
      },
    ];
  });
}

function beginningWith(token: string, id: number): JsonObject {
  const special = { SpecialToken: { id: token, type_id: 0 } };
  const text = (name: string, type: number): JsonObject => ({ Sequence: { id: name, type_id: type } });
  return {
    type: 'TemplateProcessing',
    single: [special, text('A', 0)],
    pair: [special, text('A', 0), text('B', 1)],
    special_tokens: { [token]: { id: token, ids: [id], tokens: [token] } },
  };
}

function tokenTypes(metadata: Metadata, count: number): ArrayLike<number> {
  const key = `${KEY}.token_type`;
  const types = metadata.required(key, metadata.numbers(key));
  requireLength(metadata, key, types.length, count);
  return types;
}

function requireLength(metadata: Metadata, key: string, seen: number, allowed: number): void {
  if (seen !== allowed) {
    throw invalidKey(metadata.path, key, `${seen} values`, `${allowed}, one for each token`);
  }
}

function tokenId(metadata: Metadata, key: string, count: number): number | undefined {
  const id = metadata.integer(key);
  if (id === undefined || id < count) return id;
  throw invalidKey(metadata.path, key, String(id), `0 to ${count - 1}`);
}

function tokenizerUnsupported(path: string, key: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('tokenizer-unsupported', {
    what: `${basename(path)}: the tokenizer cannot be used: this value of ${key} is not known`,
    seen,
    allowed,
    next: 'Take a file of the model that a current convert_hf_to_gguf.py made, or its folder with tokenizer.json',
    fields: { file: path, key },
  });
}
