/** What the token ids of a run say, by the tokenizer that the run kept: never by splitting the text. */

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../core/json/json.ts';
import { PretrainedTokenizer } from '../../model/tokenizer/pretrained-tokenizer.ts';
import { markOf } from './watched-run.ts';

export interface Pieces {
  /** What is written between two tokens. */
  readonly joint: string;
  of(ids: ArrayLike<number>): string[];
}

const mostTokenizerBytes = 64 * 2 ** 20;
/** Tokens whose bytes make one character together: never more. */
const mostOfOneCharacter = 4;
const replacement = '\ufffd';

const loaded = new Map<string, { readonly mark: string; readonly pieces: Pieces | undefined }>();

/** Undefined where the run kept no tokenizer that this version reads. */
export function piecesOf(runFolder: string): Pieces | undefined {
  const path = join(runFolder, 'tokenizer.json');
  const mark = markOf(path);
  const known = loaded.get(path);
  if (known?.mark === mark) return known.pieces;
  const pieces = mark === '' ? undefined : load(path);
  loaded.set(path, { mark, pieces });
  return pieces;
}

function load(path: string): Pieces | undefined {
  try {
    if (statSync(path).size > mostTokenizerBytes) return undefined;
    const content = JSON.parse(readFileSync(path, 'utf8')) as JsonObject;
    return content.format === 'turnwise-words'
      ? ofWords(content.words as readonly string[])
      : ofPretrained(new PretrainedTokenizer(content, {}, path));
  } catch {
    return undefined;
  }
}

function ofWords(words: readonly string[]): Pieces {
  return { joint: ' ', of: (ids) => Array.from(ids, (id) => words[id] ?? `<${id}>`) };
}

function ofPretrained(tokenizer: PretrainedTokenizer): Pieces {
  const single = new Map<number, string>();
  const textOf = (id: number): string => {
    let text = single.get(id);
    if (text === undefined) {
      text = tokenizer.decode([id]) || `<${id}>`;
      single.set(id, text);
    }
    return text;
  };
  return {
    joint: '',
    of(ids) {
      const pieces: string[] = [];
      for (let at = 0; at < ids.length; ) {
        let text = textOf(ids[at]!);
        let count = 1;
        while (text.endsWith(replacement) && count < mostOfOneCharacter && at + count < ids.length) {
          count++;
          text = tokenizer.decode(Array.from({ length: count }, (_, index) => ids[at + index]!));
        }
        const whole = !text.endsWith(replacement);
        pieces.push(whole ? text : textOf(ids[at]!));
        // Of a character of several tokens the first has it all.
        if (whole) for (let rest = 1; rest < count; rest++) pieces.push('');
        at += whole ? count : 1;
      }
      return pieces;
    },
  };
}
