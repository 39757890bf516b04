/** The graph of a task: slots with values, each under another one or at the root, and needing some. A pure data structure. */

export type GraphNode = {
  readonly slot: string;
  readonly value: string;
  /** The slot above it; null at the root. */
  readonly parent: string | null;
  readonly needs: readonly string[];
  /** Values that it had, the first first. */
  readonly history: readonly string[];
};

/** In the order in which the slots were new. */
export type Graph = readonly GraphNode[];

export interface Changed {
  readonly graph: Graph;
  /** Slots that the changes name, each once. */
  readonly about: readonly string[];
}

type Change = { readonly kind: string; readonly slot: string } & Partial<
  Record<'is' | 'under' | 'needs', string>
>;

const KINDS = ['new', 'update', 'check'];

/** `new hotel is Ritz under trip needs city, dates`: words in any number between the marks. */
function read(text: string): Change | undefined {
  const [kind = '', ...words] = text.split(/\s+/).filter((word) => word !== '');
  if (!KINDS.includes(kind.toLowerCase())) return undefined;
  const parts: Record<string, string[]> = { slot: [] };
  let open = 'slot';
  for (const word of words) {
    // A value may have the words `under` and `needs` only before these marks were used.
    if ((word === 'is' || word === 'under' || word === 'needs') && parts[word] === undefined) {
      open = word;
      parts[word] = [];
    } else parts[open]!.push(word);
  }
  const said = Object.fromEntries(Object.entries(parts).map(([key, own]) => [key, own.join(' ')]));
  return said.slot === '' ? undefined : ({ kind: kind.toLowerCase(), ...said } as Change);
}

/**
 * The graph after changes with `;` or line ends between. What is no change is passed over; a `new` of a slot that there is, is an
 * update, and an `update` of one that there is not, is new; an unknown parent is the root; what would close a circle is not
 * needed.
 *
 * @param most slots; no further ones are taken
 */
export function changed(graph: Graph, text: string, most: number = Number.POSITIVE_INFINITY): Changed {
  const nodes = new Map(graph.map((node) => [node.slot, node]));
  const about = new Set<string>();
  for (const change of text.split(/[;\n]/).flatMap((one) => read(one) ?? [])) {
    const { kind, slot, is: value } = change;
    const before = nodes.get(slot);
    if (kind !== 'check' && value !== undefined) {
      if (before !== undefined) nodes.set(slot, updated(before, value));
      else if (nodes.size < most) nodes.set(slot, added(change, value, nodes));
    }
    if (nodes.has(slot)) about.add(slot);
  }
  return { graph: [...nodes.values()], about: [...about] };
}

const updated = (before: GraphNode, value: string): GraphNode =>
  value === before.value ? before : { ...before, value, history: [...before.history, before.value] };

function added(
  { slot, under, needs = '' }: Change,
  value: string,
  nodes: ReadonlyMap<string, GraphNode>,
): GraphNode {
  const parent = under !== undefined && nodes.has(under) ? under : null;
  const wanted = needs
    .split(',')
    .map((one) => one.trim())
    // A new slot is needed by none yet, so nothing that is there can close a circle.
    .filter((one) => nodes.has(one));
  return { slot, value, parent, needs: [...new Set(wanted)], history: [] };
}

/** The slots with all above them and all that they need, in the order of the graph. */
export function pathsOf(graph: Graph, slots: readonly string[]): Graph {
  const nodes = new Map(graph.map((node) => [node.slot, node]));
  const wanted = new Set<string>();
  const want = (slot: string): void => {
    const node = nodes.get(slot);
    if (node === undefined || wanted.has(slot)) return;
    wanted.add(slot);
    if (node.parent !== null) want(node.parent);
    for (const need of node.needs) want(need);
  };
  for (const slot of slots) want(slot);
  return graph.filter(({ slot }) => wanted.has(slot));
}

/** Those of the slots whose names stand in a text, as whole words. */
export function slotsIn(text: string, slots: readonly string[]): string[] {
  const spaced = ` ${text.split(/[^\p{L}\p{N}_-]+/u).join(' ')} `;
  return slots.filter((slot) => spaced.includes(` ${slot} `));
}
