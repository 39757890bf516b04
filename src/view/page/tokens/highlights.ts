/**
 * Colours of tokens without an element for each: ranges of text nodes, registered under the name of their step. A text stays
 * one text, to be selected, searched and read out.
 */

/** Whether this browser has the CSS Custom Highlight API. */
export const canHighlight = typeof Highlight === 'function' && CSS.highlights !== undefined;

const highlights = new Map<string, Highlight>();

function named(name: string): Highlight {
  let highlight = highlights.get(name);
  if (!highlight) {
    highlight = new Highlight();
    highlights.set(name, highlight);
    CSS.highlights.set(name, highlight);
  }
  return highlight;
}

/**
 * Colour parts of a text node.
 *
 * @param starts offset of each part, and `ends` the offset after it
 * @param names of the highlight of each part; undefined leaves it plain
 * @returns what takes the colours off again
 */
export function paint(
  node: Text,
  starts: ArrayLike<number>,
  ends: ArrayLike<number>,
  names: readonly (string | undefined)[],
): () => void {
  if (!canHighlight) return () => {};
  const added: [Highlight, AbstractRange][] = [];
  for (const [index, name] of names.entries()) {
    if (name === undefined || starts[index] === ends[index]) continue;
    const range = new StaticRange({
      startContainer: node,
      startOffset: starts[index]!,
      endContainer: node,
      endOffset: ends[index]!,
    });
    const highlight = named(name);
    highlight.add(range);
    added.push([highlight, range]);
  }
  return () => {
    for (const [highlight, range] of added) highlight.delete(range);
  };
}

/** What is painted under a name now. */
export function highlightedAs(name: string): AbstractRange[] {
  return [...(highlights.get(name) ?? [])];
}
