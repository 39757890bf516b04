/** How byte-level tokenizers cut a text before they merge: what the names in `tokenizer.ggml.pre` stand for. */

import type { Json, JsonObject } from '../../core/json/json.ts';

export interface PreTokenizer {
  readonly normalizer: Json;
  readonly preTokenizer: JsonObject;
  /** A piece that is a token is that token, whatever the merges say. */
  readonly ignoresMerges: boolean;
  /** Whether a beginning-of-text token is added where the file does not say. */
  readonly addsBos: boolean;
}

/** Words, numbers of so many digits, punctuation, line ends and spaces. */
const words = (digits: string): string =>
  `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;

/** @param ownRegex whether bytes are grouped once more by GPT-2's pattern */
function splitting(pattern: string, ownRegex: boolean): JsonObject {
  return {
    type: 'Sequence',
    pretokenizers: [
      { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: ownRegex },
    ],
  };
}

const smollm: PreTokenizer = {
  normalizer: null,
  preTokenizer: splitting('\\p{N}', true),
  ignoresMerges: false,
  addsBos: false,
};

const qwen2: PreTokenizer = {
  normalizer: { type: 'NFC' },
  preTokenizer: splitting(words('\\p{N}'), false),
  ignoresMerges: false,
  addsBos: false,
};

const llama3: PreTokenizer = {
  normalizer: null,
  preTokenizer: splitting(words('\\p{N}{1,3}'), false),
  ignoresMerges: true,
  addsBos: true,
};

/** By name; the first name of each is the one that is written. */
export const PRE_TOKENIZERS: ReadonlyMap<string, PreTokenizer> = new Map([
  ['smollm', smollm],
  ['qwen2', qwen2],
  ['deepseek-r1-qwen', qwen2],
  ['llama-bpe', llama3],
  ['llama3', llama3],
  ['llama-v3', llama3],
]);

export function preTokenizer(name: string): PreTokenizer | undefined {
  return PRE_TOKENIZERS.get(name);
}
