/** Completions that a policy may be restricted to: their texts, and the token sequences that write them. */

import { arePrefixFree, MOST_CHOICES } from '../core/choices.ts';
import type { Renderer } from '../model/chat/renderer.ts';

const written = new WeakMap<Renderer, Map<string, Int32Array>>();

/** Texts whose token sequences are kept for a renderer. */
const mostKept = 4096;

/**
 * The token sequences of these texts, each once, without those that do not say their text, as with words that a model does not
 * know. Undefined where none is left, and where they cannot be told apart.
 */
export function choiceIds(texts: readonly string[], renderer: Renderer): readonly Int32Array[] | undefined {
  const distinct = [...new Set(texts)];
  if (distinct.length === 0 || distinct.length > MOST_CHOICES) return undefined;
  const choices = distinct.flatMap((text) => {
    const ids = idsOf(text, renderer);
    return ids.length > 0 && renderer.text(ids) === text ? [ids] : [];
  });
  return choices.length > 0 && arePrefixFree(choices) ? choices : undefined;
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
