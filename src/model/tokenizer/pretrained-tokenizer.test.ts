import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { parityFolder, parityLanguage, readExpected, TOKENIZERS } from '../testing/parity-data.ts';
import { loadPretrainedLanguage } from './pretrained-language.ts';
import { loadPretrainedTokenizer } from './pretrained-tokenizer.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-tokenizer-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(TOKENIZERS)('%s, as transformers has it', async (name) => {
  const { tokenizer } = await parityLanguage(name);
  const { size, strings, decode_pieces } = readExpected(name);

  test('size', () => expect(tokenizer.size).toBe(size));

  test.each(strings)('$text', (expected) => {
    expect(tokenizer.encode(expected.text)).toEqual(expected.ids);
    expect(tokenizer.encodeWithSpecialTokens(expected.text)).toEqual(expected.ids_with_special_tokens);
    expect(tokenizer.decode(expected.ids)).toBe(expected.decoded);
    expect(tokenizer.decodeWithoutSpecialTokens(expected.ids)).toBe(expected.decoded_without_special_tokens);
  });

  test('token by token, what is incomplete is U+FFFD until its last byte', () => {
    for (const { ids, decoded } of decode_pieces) expect(tokenizer.decode(ids)).toBe(decoded);
  });

  test('property: text in normal form survives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const normal = text.normalize('NFC');
        expect(tokenizer.decode(tokenizer.encode(normal))).toBe(normal);
      }),
    );
  });

  test('ids that only the model has say nothing', () => {
    expect(tokenizer.decode([])).toBe('');
    expect(tokenizer.decode([299])).toBe('');
    expect(tokenizer.decode([78, 299, 74])).toBe('ok');
  });
});

test('every token that ends a turn, of all the files that name some', async () => {
  expect((await parityLanguage('tokenizer-qwen')).stopIds).toEqual([286]);
  const own = copyOf('tokenizer-qwen', { 'generation_config.json': { eos_token_id: [286, 284] } });
  expect((await loadPretrainedLanguage(own, 300)).stopIds).toEqual([286, 284]);
});

/** A tokenizer's folder with other files; null deletes one. */
function copyOf(name: string, files: Readonly<Record<string, unknown>>): string {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(parityFolder(name), copy, { recursive: true });
  for (const [file, content] of Object.entries(files)) {
    if (content === null) rmSync(join(copy, file));
    else writeFileSync(join(copy, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return copy;
}

async function failure(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!TurnwiseError.isInstance(error)) throw error ?? new Error('nothing was raised');
  return `${error.code}: ${error.message.replace(/\S*copy-\w+/g, 'FOLDER')}`;
}

test('what cannot be used is refused by name', async () => {
  const broken: readonly Readonly<Record<string, unknown>>[] = [
    { 'tokenizer.json': null },
    { 'tokenizer.json': '{"model": ' },
    { 'tokenizer.json': '[]' },
    {
      'tokenizer.json': {
        model: {},
        decoder: null,
        post_processor: null,
        pre_tokenizer: null,
        normalizer: null,
      },
    },
    { 'tokenizer_config.json': { eos_token: '<|im_end|>' } },
    { 'chat_template.jinja': '{{ 1 + }}' },
    { 'tokenizer_config.json': { chat_template: 'x' } },
    { 'generation_config.json': { eos_token_id: [286, 128009] } },
  ];
  const messages: string[] = [];
  for (const files of broken) {
    messages.push(await failure(loadPretrainedLanguage(copyOf('tokenizer-qwen', files), 300)));
  }
  messages.push(await failure(loadPretrainedTokenizer(copyOf('tokenizer-qwen', {}), 256)));
  expect(messages.join('\n')).toMatchInlineSnapshot(`
    "tokenizer-missing: The checkpoint folder has no tokenizer: FOLDER/tokenizer.json does not exist. Save it there with AutoTokenizer.from_pretrained(…).save_pretrained(…).
    model-file-invalid: FOLDER/tokenizer.json cannot be read. Seen: Unexpected end of JSON input. Restore the file, or download the model again.
    model-file-invalid: FOLDER/tokenizer.json cannot be read. Seen: it holds [], not an object. Restore the file, or download the model again.
    tokenizer-unsupported: FOLDER/tokenizer.json is not a tokenizer that can be used. Seen: Unknown TokenizerModel type: undefined. Allowed: the tokenizer.json that transformers writes for a fast tokenizer. Save it again with AutoTokenizer.from_pretrained(…).save_pretrained(…).
    chat-template-missing: The checkpoint folder FOLDER has no chat template, so it is not known how the model reads messages. Allowed: chat_template.jinja, or chat_template in tokenizer_config.json. Use the instruction-tuned model, or put a chat_template.jinja into the folder.
    chat-template-invalid: The chat template of FOLDER/chat_template.jinja cannot be read. Seen: Unexpected token: CloseExpression. Put another template into chat_template.jinja of the checkpoint folder.
    stop-token-missing: The checkpoint folder FOLDER does not say which token ends a turn. Allowed: eos_token_id in generation_config.json, or eos_token in tokenizer_config.json. Add one of them.
    tokenizer-mismatch: FOLDER/generation_config.json names an eos_token_id that FOLDER/tokenizer.json does not have. Seen: 128009. Allowed: 0 to 292. Use the files that came with the weights.
    tokenizer-mismatch: FOLDER/tokenizer.json belongs to another model: it has more tokens than the model has logits. Seen: 293 tokens. Allowed: at most 256, the vocab_size of config.json. Use the tokenizer that came with the weights."
  `);
});
