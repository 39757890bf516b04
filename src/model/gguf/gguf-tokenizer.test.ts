/** Tokenizers out of GGUF files: the `tokenizer.json` of the same model, field by field, and its ids. */

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../core/json/json.ts';
import { loadPretrainedLanguage } from '../tokenizer/pretrained-language.ts';
import { openGguf } from './gguf-file.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { hasShared, needsShared, readJson, sharedFolder } from './testing/gguf-data.ts';

interface Expected {
  readonly texts: readonly string[];
  readonly files: Readonly<
    Record<
      string,
      {
        readonly gguf: string;
        readonly ids: readonly (readonly number[])[];
        readonly withSpecial: { readonly text: string; readonly ids: readonly number[] };
        readonly chat: {
          readonly messages: readonly JsonObject[];
          readonly text: string;
          readonly ids: readonly number[];
        };
      }
    >
  >;
}

describe.skipIf(!hasShared)(`four tokenizers${needsShared}`, () => {
  const { texts, files } = hasShared
    ? readJson<Expected>(sharedFolder, 'tokenizer-expected.json')
    : { texts: [], files: {} };

  test.each(Object.entries(files))('%s', async (name, expected) => {
    const path = join(sharedFolder, expected.gguf);
    const { definition } = tokenizerOf(openGguf(path).metadata)!;
    expect(definition).toEqual(readJson<JsonObject>(sharedFolder, `${name}.json`));
    const { tokenizer, template } = await loadPretrainedLanguage(path, 384);
    expect(texts.map((text) => tokenizer.encode(text))).toEqual(expected.ids);
    const { withSpecial, chat } = expected;
    expect(tokenizer.encodeWithSpecialTokens(withSpecial.text)).toEqual(withSpecial.ids);
    const rendered = template.render(chat.messages, { addGenerationPrompt: true });
    expect(rendered).toBe(chat.text);
    expect(tokenizer.encode(rendered)).toEqual(chat.ids);
  });
});
