/** The `tokenizer.json` of a model as metadata of a GGUF file, checked by what a reader makes of it. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { PretrainedTokenizer, tokenName } from '../tokenizer/pretrained-tokenizer.ts';
import { TOKEN_TYPE, tokenizerOf } from './gguf-tokenizer.ts';
import { Metadata, type MetadataValue } from './metadata.ts';
import { text, whole } from './model-metadata.ts';
import { PRE_TOKENIZERS } from './pre-tokenizers.ts';

export interface TokenizerSource {
  /** `tokenizer.json`. */
  readonly definition: JsonObject;
  /** `tokenizer_config.json`. */
  readonly config: JsonObject;
  readonly tokenizer: PretrainedTokenizer;
  readonly template: string;
  readonly stopIds: readonly number[];
  /** Logits of the model: ids beyond the tokenizer's are filled up. */
  readonly vocabulary: number;
}

/** @throws TurnwiseError `export-unsupported` where a reader of the file would encode texts in another way */
export function tokenizerMetadata(source: TokenizerSource): Map<string, MetadataValue> {
  const entries = describe(source);
  requireSameIds(source, entries);
  return entries;
}

interface Token {
  readonly content: string;
  readonly type: number;
}

function describe({ definition, config, template, stopIds, vocabulary, tokenizer }: TokenizerSource) {
  const model = definition.model as JsonObject;
  const isBytes = model.byte_fallback !== true;
  const tokens = tokensOf(definition, vocabulary);
  const merges = (model.merges as readonly (string | readonly string[])[]).map((merge) =>
    typeof merge === 'string' ? merge : merge.join(' '),
  );
  const id = (key: string): number | undefined => {
    const name = tokenName(config[key]);
    return name === undefined ? undefined : tokenizer.idOf(name);
  };
  const eos = id('eos_token') ?? stopIds[0];
  const ids = { bos: id('bos_token'), eos, unknown: id('unk_token'), padding: id('pad_token') };
  const entries = new Map<string, MetadataValue>([
    ['model', text(isBytes ? 'gpt2' : 'llama')],
    ['pre', text(isBytes ? preTokenizerName(definition) : 'default')],
    ['tokens', { type: 'array', of: 'string', value: tokens.map(({ content }) => content) }],
    ['token_type', { type: 'array', of: 'i32', value: Int32Array.from(tokens, ({ type }) => type) }],
    isBytes
      ? ['merges', { type: 'array', of: 'string', value: merges }]
      : ['scores', { type: 'array', of: 'f32', value: scoresOf(tokens, merges) }],
    ...Object.entries(ids).flatMap(([name, value]) =>
      value === undefined ? [] : [[`${name}_token_id`, whole(value)] as const],
    ),
    ['add_bos_token', { type: 'bool', value: addsBos(definition) }],
  ]);
  const named = (more: ReadonlyMap<string, MetadataValue> = new Map()): Map<string, MetadataValue> =>
    new Map([
      ...[...entries, ...more].map(([key, value]) => [`tokenizer.ggml.${key}`, value] as const),
      ['tokenizer.chat_template', text(template)],
    ]);
  // Further tokens that end a turn have two keys of their own, where readers do not know them by name.
  const known = tokenizerOf(new Metadata('', named()))!.stopIds;
  const more = stopIds.filter((stop) => !known.includes(stop));
  if (more.length > 2) {
    throw refusal('GGUF has no place for all tokens that end a turn', `${more.length + known.length} tokens`);
  }
  return named(new Map(more.map((stop, index) => [`${index === 0 ? 'eot' : 'eom'}_token_id`, whole(stop)])));
}

/** All tokens by id; what the model has and the tokenizer has not is unused. */
function tokensOf(definition: JsonObject, vocabulary: number): readonly Token[] {
  const { vocab, unk_token: unknown, byte_fallback: hasBytes } = definition.model as JsonObject;
  const tokens: Token[] = Array.from({ length: vocabulary }, (_, id) => ({
    content: `[PAD${id}]`,
    type: TOKEN_TYPE.unused,
  }));
  for (const [content, id] of Object.entries(vocab as Readonly<Record<string, number>>)) {
    const isByte = hasBytes === true && /^<0x[0-9A-F]{2}>$/.test(content);
    tokens[id] = { content, type: isByte ? TOKEN_TYPE.byte : TOKEN_TYPE.normal };
  }
  for (const { id, content, special } of (definition.added_tokens ?? []) as readonly JsonObject[]) {
    const type = content === unknown ? 'unknown' : special === true ? 'control' : 'userDefined';
    tokens[id as number] = { content: content as string, type: TOKEN_TYPE[type] };
  }
  return tokens;
}

/** The earlier a token is merged, the better it scores. */
function scoresOf(tokens: readonly Token[], merges: readonly string[]): Float32Array {
  const ranks = new Map<string, number>();
  for (const [rank, merge] of merges.entries()) {
    const whole = merge.replace(' ', '');
    if (!ranks.has(whole)) ranks.set(whole, rank);
  }
  return Float32Array.from(
    tokens,
    ({ content }) => -(ranks.get(content) ?? (ranks.size === 0 ? 0 : merges.length)),
  );
}

function addsBos({ post_processor: processor }: JsonObject): boolean {
  const {
    type,
    processors = [],
    single = [],
  } = (processor ?? {}) as {
    readonly type?: string;
    readonly processors?: readonly Json[];
    readonly single?: readonly JsonObject[];
  };
  if (type === 'Sequence') return processors.some((part) => addsBos({ post_processor: part }));
  return type === 'TemplateProcessing' && single[0]?.SpecialToken !== undefined;
}

/** The name of how the tokenizer cuts a text. */
function preTokenizerName(definition: JsonObject): string {
  const seen = cutting(definition.normalizer, definition.pre_tokenizer);
  for (const [name, { normalizer, preTokenizer }] of PRE_TOKENIZERS) {
    if (cutting(normalizer, preTokenizer) === seen) return name;
  }
  throw refusal('GGUF has no name that is known here for how the tokenizer cuts texts', seen.slice(0, 200));
}

/** Patterns that libraries write in one way, and this reader in another. */
const SAME: readonly (readonly [string, string])[] = [
  ["(?i:'s|'t|'re|'ve|'m|'ll|'d)", "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"],
];

/** What a normalizer and a pre-tokenizer do, in words that are equal for equal ones. */
function cutting(normalizer: Json | undefined, preTokenizer: Json | undefined): string {
  const steps = (part: Json | undefined): readonly JsonObject[] => {
    if (part === null || part === undefined) return [];
    const { type, pretokenizers, normalizers } = part as JsonObject;
    if (type !== 'Sequence') return [part as JsonObject];
    return ((pretokenizers ?? normalizers) as readonly Json[]).flatMap(steps);
  };
  const step = ({
    type,
    pattern,
    behavior,
    invert,
    individual_digits,
    add_prefix_space,
    use_regex,
  }: JsonObject) => {
    if (type === 'Digits' && individual_digits === true) return ['Split', '\\p{N}', 'Isolated', false];
    if (type === 'Split') {
      const { Regex: regex } = pattern as JsonObject;
      const written = SAME.reduce((text, [from, to]) => text.replace(from, to), String(regex));
      return ['Split', written, behavior, invert];
    }
    if (type === 'ByteLevel') return [type, add_prefix_space, use_regex ?? true];
    return [type];
  };
  return JSON.stringify([steps(normalizer).map(step), steps(preTokenizer).map(step)] as Json);
}

/** Texts in which tokenizers differ: numbers, contractions, spaces, line ends, letters of several alphabets, composed ones. */
const PROBES: readonly string[] = [
  "It's 12345 o'clock, they'LL say; I'D've said 3.14159!",
  '  leading, double  spaces   and a tail  ',
  'def f(x):\n    return {\n\t"a": [1, 22, 333]\n    }\n\n\n',
  'naïve café, cafe\u0301, Ångström, ½ cup, x² + y³, ①②③',
  'Привет, мир! 你好世界。 こんにちは 🚀🙂👩‍🚀',
  '--- *** ...\r\n\r\n#42 $5 €5 100%',
  'snake_case camelCase <|not_a_token|> <b>x</b>',
];

function requireSameIds(
  { tokenizer, template }: TokenizerSource,
  entries: ReadonlyMap<string, MetadataValue>,
): void {
  const { definition, config } = tokenizerOf(new Metadata('', entries))!;
  const written = new PretrainedTokenizer(definition, config, 'the file that is written');
  const different = [...PROBES, template].find(
    (probe) => tokenizer.encode(probe).join() !== written.encode(probe).join(),
  );
  if (different === undefined) return;
  throw refusal(
    'A reader of the GGUF file would encode texts in another way',
    JSON.stringify(different.slice(0, 60)),
  );
}

function refusal(what: string, seen: string): TurnwiseError {
  return new TurnwiseError('export-unsupported', {
    what,
    seen,
    allowed: 'byte-level BPE as SmolLM2, Qwen2, Qwen3 and Llama 3 cut it, and SentencePiece BPE of Llama',
    next: 'Export the model as a checkpoint folder with --merged',
  });
}
