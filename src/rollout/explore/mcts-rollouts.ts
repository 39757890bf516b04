/**
 * Monte Carlo tree search whose simulations are whole episodes.
 *
 *   from the start, go on to the action with the highest  Q + c·√(ln N(node) / (1 + N(node, action)))  until a node that has
 *   tried fewer than `width` actions; one more episode goes on from there to its end, and counts on the whole path
 *   Q = α·Q̃ + (1 − α)·Q̂;   Q̃: mean outcome of the episodes that took the action;   Q̂: 1 / its rank by the critic
 *
 * Source: Agent Q, arXiv 2408.07199, and the trees of Agent-R, arXiv 2501.11425. All episodes are whole, so that every recipe
 * can learn from them: `agent-q` prefers one of two actions of a node by Q̃.
 * 1. In the paper the model itself ranks the actions that it proposes; here a critic does, or nobody: then Q is Q̃.
 * 2. All turns of a simulation are nodes, as in Agent-R; the paper adds one node for each.
 * 3. The same action at a node is one child, and counts each time that it was tried. The search goes on from where it led at
 *    first, with chance drawn anew.
 */

import type { Episode, Place, Role } from '../../core/episode.ts';
import { keyText, placeText } from '../../core/episode-key.ts';
import { isTrainable } from '../../core/stop.ts';
import type { EpisodeTree, Explorer } from './tree.ts';

export interface RolloutMctsOptions {
  /** Actions that are tried at a node. */
  readonly width: number;
  /** c: the weight of actions that were seldom taken. */
  readonly exploration: number;
  /** α: the share of search in Q, where there is a critic. */
  readonly mixing: number;
  /** Whose rewards count. Default: agent. */
  readonly role?: Role;
}

/** A state of the search, by the actions that lead to it. */
export interface SearchNode {
  /** Where it was reached first, and others can go on; undefined at ends. */
  readonly place: Place | 'start' | undefined;
  readonly children: readonly SearchNode[];
  /** How many times an action was tried here. */
  readonly tried: number;
  /** N. */
  readonly visits: number;
  /** Q̃. */
  readonly searched: number;
  /** What a critic expects here, with what was earned before; undefined without one. */
  readonly expected: number | undefined;
}

/**
 * As many episodes as the group has, each from where the search wants one more.
 *
 * @example
 * defineRecipe({ ...agentQ, name: 'mine', act: () => rolloutMctsExplorer({ width: 3, exploration: 1, mixing: 0.5 }) });
 *
 * Built-in recipes take it with `--set branching.explorer=mcts`.
 */
export function rolloutMctsExplorer({
  width,
  exploration,
  mixing,
  role = 'agent',
}: RolloutMctsOptions): Explorer {
  return {
    keeps: () => true,
    next(tree) {
      const left = tree.members - tree.episodes.length;
      if (left <= 0) return 'done';
      if (tree.rounds.length === 0) return [{ from: 'start', members: Math.min(width, left) }];
      const from = placeToExpand(searchTree(tree, role), { width, exploration, mixing });
      // Where everything was tried, the rest of the group begins anew.
      return from === undefined
        ? [{ from: 'start', members: left }]
        : [{ from, members: 1, chance: 'fresh' }];
    },
  };
}

/**
 * Q + c·√(ln N / (1 + n)) of each action of a node.
 *
 * @param node those of its children that were visited have `searched`; a critic ranks them by `expected`
 */
export function upperBounds(
  { children, visits }: Pick<SearchNode, 'children' | 'visits'>,
  { exploration, mixing }: Pick<RolloutMctsOptions, 'exploration' | 'mixing'>,
): number[] {
  const ranks = ranksOf(children.map(({ expected }) => expected));
  return children.map(({ searched, visits: own }, index) => {
    const rank = ranks?.[index];
    const q = rank === undefined ? searched : mixing * searched + (1 - mixing) / rank;
    return q + exploration * Math.sqrt(Math.log(Math.max(1, visits)) / (1 + own));
  });
}

/** From 1, equal ones alike; undefined unless all have a value. */
function ranksOf(values: readonly (number | undefined)[]): number[] | undefined {
  if (values.some((value) => value === undefined)) return undefined;
  return values.map((value) => 1 + values.filter((other) => other! > value!).length);
}

/** The first node that wants one more action, along the highest bounds; undefined where everything was tried. */
export function placeToExpand(
  node: SearchNode,
  options: Pick<RolloutMctsOptions, 'width' | 'exploration' | 'mixing'>,
): Place | 'start' | undefined {
  if (node.place !== undefined && node.tried < options.width) return node.place;
  const bounds = upperBounds(node, options);
  const order = node.children.map((_, index) => index).sort((a, b) => bounds[b]! - bounds[a]! || a - b);
  for (const index of order) {
    const place = placeToExpand(node.children[index]!, options);
    if (place !== undefined) return place;
  }
  return undefined;
}

interface Growing extends Omit<SearchNode, 'children' | 'searched'> {
  place: Place | 'start' | undefined;
  expected: number | undefined;
  tried: number;
  visits: number;
  total: number;
  readonly byAction: Map<string, Growing>;
}

/** What the episodes so far are as a tree. Those that failed are no simulations. */
export function searchTree(tree: Pick<EpisodeTree, 'episodes' | 'kept' | 'value'>, role: Role): SearchNode {
  const kept = new Set(tree.kept.map(placeText));
  const stepsOf = pathsOf(tree.episodes, role);
  const root = growing('start');
  for (const episode of tree.episodes) {
    if (!isTrainable(episode.stop)) continue;
    const outcome = episode.outcome[role] ?? 0;
    const first = (episode.branchedFrom?.transition ?? -1) + 1;
    let node = root;
    count(node, outcome);
    for (const [index, { place, action, earned }] of stepsOf(episode).entries()) {
      if (index >= first) node.tried++;
      const child = node.byAction.get(action) ?? growing(undefined);
      node.byAction.set(action, child);
      if (child.place === undefined && kept.has(placeText(place))) child.place = place;
      const value = tree.value(place);
      // The end of an episode has nothing to expect.
      if (value !== undefined) child.expected ??= earned + value;
      count(child, outcome);
      node = child;
    }
    if (node.place === undefined && hasCritic(tree)) node.expected ??= outcome;
  }
  return finished(root);
}

const hasCritic = ({ kept, value }: Pick<EpisodeTree, 'kept' | 'value'>): boolean =>
  kept.some((place) => value(place) !== undefined);

const growing = (place: Growing['place']): Growing => ({
  ...{ place, expected: undefined },
  ...{ tried: 0, visits: 0, total: 0, byAction: new Map() },
});

function count(node: Growing, outcome: number): void {
  node.visits++;
  node.total += outcome;
}

function finished({ place, expected, tried, visits, total, byAction }: Growing): SearchNode {
  const children = [...byAction.values()].map(finished);
  return { place, expected, tried, visits, searched: visits === 0 ? 0 : total / visits, children };
}

interface Step {
  readonly place: Place;
  readonly action: string;
  /** By the role, up to here. */
  readonly earned: number;
}

/** The steps of an episode from the start, each with its place in the episode that took it. */
function pathsOf(episodes: readonly Episode[], role: Role): (episode: Episode) => readonly Step[] {
  const byKey = new Map(episodes.map((episode) => [keyText(episode.key), episode]));
  const paths = new Map<Episode, readonly Step[]>();
  const pathOf = (episode: Episode): readonly Step[] => {
    const known = paths.get(episode);
    if (known) return known;
    const { key, branchedFrom, transitions } = episode;
    const origin = branchedFrom && byKey.get(keyText(branchedFrom.episode));
    const prefix = origin && branchedFrom ? pathOf(origin).slice(0, branchedFrom.transition + 1) : [];
    let earned = prefix.at(-1)?.earned ?? 0;
    const own = transitions.map(({ action, rewards }, index) => {
      earned += rewards[role] ?? 0;
      return { place: { episode: key, transition: prefix.length + index }, action, earned };
    });
    const path = [...prefix, ...own];
    paths.set(episode, path);
    return path;
  };
  return pathOf;
}
