/**
 * Members of a group as a tree of what they had in common: a node is a situation after the same beginning, an edge is what was
 * done there. Where a node has several edges the members part.
 */

import type { MemberOutline } from '../../shapes.ts';

export interface TreeEdge {
  readonly action: string;
  readonly valid: boolean;
  /** Indexes into the members. */
  readonly members: readonly number[];
  /** Of the whole action, as the first member that took it sampled it. */
  readonly probability: number | undefined;
  /** Absent where their episodes end. */
  readonly to: TreeNode[];
}

export interface TreeNode {
  readonly depth: number;
  readonly situation: string;
  readonly members: readonly number[];
  readonly edges: readonly TreeEdge[];
}

type Members = readonly Pick<MemberOutline, 'turns'>[];

/** The roots: one where all members begin alike. */
export function prefixTree(members: Members): TreeNode[] {
  return nodesOf(
    members,
    members.map((_, index) => index).filter((index) => members[index]!.turns.length > 0),
    0,
  );
}

function nodesOf(members: Members, indexes: readonly number[], depth: number): TreeNode[] {
  const here = indexes.filter((index) => members[index]!.turns.length > depth);
  return gathered(here, (index) => members[index]!.turns[depth]!.situation).map(([situation, inNode]) => ({
    depth,
    situation,
    members: inNode,
    edges: gathered(inNode, (index) => normal(members[index]!.turns[depth]!.action))
      .map(([, onEdge]): TreeEdge => {
        const { action, valid, logprob } = members[onEdge[0]!]!.turns[depth]!;
        return {
          action,
          valid,
          members: onEdge,
          probability: logprob === null ? undefined : Math.exp(logprob),
          to: nodesOf(members, onEdge, depth + 1),
        };
      })
      .sort((a, b) => b.members.length - a.members.length),
  }));
}

/** Space makes no other action. */
export const normal = (action: string): string => action.trim().replace(/\s+/g, ' ');

function gathered(indexes: readonly number[], name: (index: number) => string): [string, number[]][] {
  const groups = new Map<string, number[]>();
  for (const index of indexes) {
    const key = name(index);
    const group = groups.get(key);
    if (group) group.push(index);
    else groups.set(key, [index]);
  }
  return [...groups];
}

/** Columns that a node takes: one for each way in which its members end. */
export function widthOf({ edges }: TreeNode): number {
  return edges.reduce((sum, edge) => sum + edgeWidth(edge), 0);
}

/** Members that end here leave their edge without a node, and take a column where others of the edge go on. */
export function edgeWidth({ to }: TreeEdge): number {
  return Math.max(
    1,
    to.reduce((sum, node) => sum + widthOf(node), 0),
  );
}

/** The first turn, from 0, at which members did not all do the same; undefined where they never part. */
export function divergence(members: Members): number | undefined {
  const longest = Math.max(0, ...members.map(({ turns }) => turns.length));
  for (let depth = 0; depth < longest; depth++) {
    const seen = new Set(
      members.map(({ turns }) => {
        const turn = turns[depth];
        return turn === undefined ? '' : `${turn.situation}\n${normal(turn.action)}`;
      }),
    );
    if (seen.size > 1) return depth;
  }
  return undefined;
}

/** The first turn at which a member does something else than most of those that were with it until then. */
export function leavesMajority(members: Members, member: number): number | undefined {
  let nodes = prefixTree(members);
  while (nodes.length > 0) {
    const node = nodes.find((one) => one.members.includes(member));
    if (!node) return undefined;
    const edge = node.edges.find((one) => one.members.includes(member))!;
    if (node.edges[0]!.members.length > edge.members.length) return node.depth;
    nodes = edge.to;
  }
  return undefined;
}

/** What members did where this one was at a turn, after the same beginning: the edges of its node. */
export function choicesAt(members: Members, member: number, turn: number): readonly TreeEdge[] {
  let nodes = prefixTree(members);
  for (;;) {
    const node = nodes.find((one) => one.members.includes(member));
    if (!node) return [];
    if (node.depth === turn) return node.edges;
    nodes = node.edges.find((one) => one.members.includes(member))?.to ?? [];
  }
}
