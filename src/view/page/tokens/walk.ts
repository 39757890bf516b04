/** Steps from place to place in a conversation: tokens of a colour, and where a text stands. Places are found as they are drawn. */

import { canHighlight, highlightedAs } from './highlights.ts';
import { legends, type Scale } from './scales.ts';

export interface Place {
  readonly node: Node;
  readonly start: number;
  readonly end: number;
}

/** From this step on a token is worth a look, unless somebody chose another in the legend. */
const usual: Readonly<Record<Scale, number>> = { surprise: 4, entropy: 3, advantage: 4, mask: 0 };

export const usualLevel = (scale: Scale): number => usual[scale];

/** The colours that a step of the legend stands for: itself and those beyond it, away from the middle of signed scales. */
export function namesFrom(scale: Scale, level: number): string[] {
  const { steps } = legends[scale];
  const middle = scale === 'advantage' ? (steps.length - 1) / 2 : -1;
  const holds = (index: number): boolean => {
    if (scale === 'mask' || level === middle) return index === level;
    return level > middle ? index >= level : index <= level;
  };
  return steps.filter((_, index) => holds(index)).map(({ name }) => name);
}

/** Tokens in these colours, in the order of the conversation. */
export function tokensIn(root: Element, names: readonly string[]): Place[] {
  const found = canHighlight
    ? names.flatMap((name) =>
        highlightedAs(name).map((range) => ({
          ...{ node: range.startContainer, start: range.startOffset, end: range.endOffset },
        })),
      )
    : [...root.querySelectorAll(names.map((name) => `.tokens .${name}`).join(', '))].map((span) => ({
        ...{ node: span.firstChild ?? span, start: 0, end: span.textContent.length },
      }));
  return found.filter(({ node }) => root.contains(node)).sort(inOrder);
}

/** Where a text stands, upper and lower case alike. */
export function textsIn(root: Element, wanted: string): Place[] {
  const needle = wanted.toLowerCase();
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const found: Place[] = [];
  for (let node = texts.nextNode(); node !== null && needle !== ''; node = texts.nextNode()) {
    if (node.parentElement?.closest('.legend, .unseen, button')) continue;
    const text = (node as Text).data.toLowerCase();
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length))
      found.push({ node, start: at, end: at + needle.length });
  }
  return found;
}

function inOrder(a: Place, b: Place): number {
  if (a.node === b.node) return a.start - b.start;
  return a.node.compareDocumentPosition(b.node) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

/** The place after the one where somebody is, or before it; round at the ends. */
export function nextPlace(places: readonly Place[], here: Place | undefined, by: 1 | -1): number {
  if (places.length === 0) return -1;
  if (here === undefined || !here.node.isConnected) return by > 0 ? 0 : places.length - 1;
  const next =
    by > 0
      ? places.findIndex((place) => inOrder(here, place) < 0)
      : places.findLastIndex((place) => inOrder(place, here) < 0);
  return next >= 0 ? next : by > 0 ? 0 : places.length - 1;
}

/** A place that lies in something folded is unfolded. */
export function reveal({ node }: Place): void {
  const element = node instanceof Element ? node : node.parentElement;
  for (let at = element?.closest('details'); at; at = at.parentElement?.closest('details')) at.open = true;
  element?.scrollIntoView({ block: 'center' });
}
