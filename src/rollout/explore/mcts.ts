/**
 * Monte Carlo tree search, one turn at a time.
 *
 *   from the start, go on to the child with the highest  Q(child) + c·√(ln N(node) / N(child))  until a node has no children;
 *   N: episodes at and below it;   Q: their mean worth;   worth: what was earned so far, and what a critic expects beyond
 *
 * Source: UCT, Kocsis and Szepesvári 2006; with a critic in the place of roll-outs as in AlphaZero, arXiv 1712.01815.
 * 1. Children are sampled, `width` at a time, since actions are texts. A node never gets more.
 * 2. Chance is drawn anew below every place, so a child's worth is a sample of what its action leads to.
 * 3. Without a critic a node that is not an end is worth what was earned up to it.
 */

import type { Episode, Place, Role } from '../../core/episode.ts';
import { placeText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import type { EpisodeTree, Explorer } from './tree.ts';

export interface MctsOptions {
  /** Children of a node. */
  readonly width: number;
  /** Nodes that are expanded, the start among them. */
  readonly iterations: number;
  /** c: the weight of nodes that were seldom visited. */
  readonly exploration: number;
  /** Whose rewards count. Default: agent. */
  readonly role?: Role;
}

/** An episode of one turn: the edge to its end. */
interface Node {
  readonly end: Place;
  readonly expandable: boolean;
  readonly children: Node[];
  visits: number;
  total: number;
}

/**
 * Searches for actions that are worth most: every episode of the group is one turn.
 *
 * @example
 * defineRecipe({ name: 'mine', critic: true, act: () => mctsExplorer({ width: 4, iterations: 16, exploration: 1 }) });
 */
export function mctsExplorer({ width, iterations, exploration, role = 'agent' }: MctsOptions): Explorer {
  return {
    keeps: () => true,
    next(tree) {
      if (tree.rounds.length === 0) return [{ from: 'start', members: width, turns: 1 }];
      if (tree.rounds.length >= iterations) return 'done';
      const place = bestPlace(rootsOf(tree, role), exploration);
      return place ? [{ from: place, members: width, turns: 1, chance: 'fresh' }] : 'done';
    },
  };
}

/** The nodes below the start, with visits and worth of all that is below each. */
function rootsOf(tree: EpisodeTree, role: Role): Node[] {
  const kept = new Set(tree.kept.map(placeText));
  const nodes = new Map<string, Node>();
  const parents = new Map<Node, Node>();
  const roots: Node[] = [];
  for (const episode of tree.episodes) {
    if (!isTrainable(episode.stop)) continue;
    const end = endOf(episode);
    const node: Node = { end, expandable: kept.has(placeText(end)), children: [], visits: 0, total: 0 };
    nodes.set(placeText(end), node);
    const parent = episode.branchedFrom && nodes.get(placeText(episode.branchedFrom));
    if (parent) parents.set(node, parent);
    (parent?.children ?? roots).push(node);
    const worth = (episode.outcome[role] ?? 0) + (node.expandable ? (tree.value(end) ?? 0) : 0);
    for (let at: Node | undefined = node; at; at = parents.get(at)) {
      at.visits++;
      at.total += worth;
    }
  }
  return roots;
}

/** The place to expand; undefined where all that is left are ends. */
function bestPlace(children: readonly Node[], exploration: number): Place | undefined {
  const visits = children.reduce((sum, child) => sum + child.visits, 0);
  const bound = ({ total, visits: own }: Node): number =>
    total / own + exploration * Math.sqrt(Math.log(visits) / own);
  for (const child of [...children].sort((a, b) => bound(b) - bound(a))) {
    if (child.expandable && child.children.length === 0) return child.end;
    const below = bestPlace(child.children, exploration);
    if (below) return below;
  }
  return undefined;
}

function endOf({ key, branchedFrom, transitions }: Episode): Place {
  const before = branchedFrom === undefined ? -1 : branchedFrom.transition;
  return { episode: key, transition: before + transitions.length };
}
