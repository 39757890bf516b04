/** Completions that a policy may be restricted to: their texts, and the token sequences that write them. */

import { arePrefixFree, MOST_CHOICES } from '../core/choices.ts';
import type { Renderer } from '../model/chat/renderer.ts';

const written = new WeakMap<Renderer, Map<string, Int32Array>>();

/** Texts whose token sequences are kept for a renderer. */
const mostKept = 4096;

/**
 * The token sequences of these texts, each once. Undefined where they cannot be told apart by them, or where one of them does
 * not say its text, as with words that a model does not know.
 */
export function choiceIds(texts: readonly string[], renderer: Renderer): readonly Int32Array[] | undefined {
  const distinct = [...new Set(texts)];
  if (distinct.length === 0 || distinct.length > MOST_CHOICES) return undefined;
  const choices = distinct.map((text) => idsOf(text, renderer));
  const readable = choices.every((ids, index) => ids.length > 0 && renderer.text(ids) === distinct[index]);
  return readable && arePrefixFree(choices) ? choices : undefined;
}

export function longestOf(choices: readonly Int32Array[]): number {
  return choices.reduce((most, { length }) => Math.max(most, length), 0);
}

function idsOf(text: string, renderer: Renderer): Int32Array {
  const known = written.get(renderer) ?? new Map<string, Int32Array>();
  written.set(renderer, known);
  const ids = known.get(text) ?? Int32Array.from(renderer.completionIds(text));
  if (known.size >= mostKept) known.clear();
  known.set(text, ids);
  return ids;
}
