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
    // A value may begin with a mark, as `under the bed` does, and have one that was used.
    const isMark = (word === 'is' || word === 'under' || word === 'needs') && parts[word] === undefined;
    if (isMark && (open !== 'is' || parts.is!.length > 0)) {
      open = word;
      parts[word] = [];
    } else parts[open]!.push(word);
  }
  const said = Object.fromEntries(Object.entries(parts).map(([key, own]) => [key, own.join(' ')]));
  // No word is no value.
  if (said.is === '') delete said.is;
  return said.slot === '' ? undefined : ({ kind: kind.toLowerCase(), ...said } as Change);
}

/**
 * The graph after changes with `;` or line ends between. What is no change is passed over; a `new` of a slot that there is, is an
 * update, and an `update` of one that there is not, is new. An update changes what it says: the value, the slot above it, or all
 * that it needs. An unknown parent is the root, and an unknown need none; what would close a circle stays as it was.
 *
 * @param most slots; no further ones are taken
 */
export function changed(graph: Graph, text: string, most: number = Number.POSITIVE_INFINITY): Changed {
  const nodes = new Map(graph.map((node) => [node.slot, node]));
  const about = new Set<string>();
  for (const change of text.split(/[;\n]/).flatMap((one) => read(one) ?? [])) {
    const { kind, slot, is: value } = change;
    const before = nodes.get(slot);
    if (kind !== 'check') {
      if (before !== undefined) nodes.set(slot, updated(before, change, nodes));
      else if (value !== undefined && nodes.size < most)
        nodes.set(slot, updated({ slot, value, parent: null, needs: [], history: [] }, change, nodes));
    }
    if (nodes.has(slot)) about.add(slot);
  }
  return { graph: [...nodes.values()], about: [...about] };
}

type Nodes = ReadonlyMap<string, GraphNode>;

function updated(
  before: GraphNode,
  { is: value = before.value, under, needs }: Change,
  nodes: Nodes,
): GraphNode {
  const history = value === before.value ? before.history : [...before.history, before.value];
  const parent = under === undefined ? before.parent : parentOf(before, under, nodes);
  return {
    ...before,
    value,
    parent,
    needs: needs === undefined ? before.needs : neededBy(before, needs, nodes),
    history,
  };
}

function parentOf({ slot, parent }: GraphNode, under: string, nodes: Nodes): string | null {
  if (!nodes.has(under)) return null;
  const above = (node: GraphNode): readonly string[] => (node.parent === null ? [] : [node.parent]);
  return leadsTo(under, slot, above, nodes) ? parent : under;
}

function neededBy({ slot }: GraphNode, needs: string, nodes: Nodes): readonly string[] {
  const wanted = needs
    .split(',')
    .map((one) => one.trim())
    .filter((one) => nodes.has(one) && !leadsTo(one, slot, (node) => node.needs, nodes));
  return [...new Set(wanted)];
}

/** Whether `to` is `from`, or comes after it. */
function leadsTo(
  from: string,
  to: string,
  after: (node: GraphNode) => readonly string[],
  nodes: Nodes,
): boolean {
  const seen = new Set([from]);
  // A set goes on over what is added while it is gone through.
  for (const slot of seen) for (const next of after(nodes.get(slot)!)) seen.add(next);
  return seen.has(to);
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
