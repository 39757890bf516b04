import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TurnOutline } from '../../shapes.ts';
import { choicesAt, divergence, leavesMajority, prefixTree, type TreeNode, widthOf } from './prefix-tree.ts';

const turn = (situation: string, action: string): TurnOutline => ({
  situation,
  action,
  valid: true,
  reward: 0,
  advantage: 0,
  surprise: 0,
  tokens: 1,
  logprob: Math.log(0.5),
});
/** `ab cd`: in situation a it did b, then in c it did d. */
const member = (text: string) => ({
  turns: text
    .split(' ')
    .filter(Boolean)
    .map((one) => turn(one[0]!, one[1]!)),
});

const groups = fc
  .array(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y', 'z')), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((members) =>
    members.map((turns) => ({ turns: turns.map(([situation, action]) => turn(situation, action)) })),
  );

function flat(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.flatMap((node) => [node, ...node.edges.flatMap(({ to }) => flat(to))]);
}

test('a node for each beginning that members share, and in it those members', () => {
  fc.assert(
    fc.property(groups, (members) => {
      const beginnings = new Map<string, number[]>();
      for (const [index, { turns }] of members.entries()) {
        for (let depth = 0; depth < turns.length; depth++) {
          const done = turns.slice(0, depth).map(({ situation, action }) => situation + action);
          const key = [...done, turns[depth]!.situation].join(' ');
          beginnings.set(key, [...(beginnings.get(key) ?? []), index]);
        }
      }
      const nodes = flat(prefixTree(members));
      expect(nodes.map((node) => node.members).sort()).toEqual([...beginnings.values()].sort());
      const roots = prefixTree(members);
      const endings = new Set(
        members.filter(({ turns }) => turns.length > 0).map(({ turns }) => JSON.stringify(turns)),
      );
      expect(roots.reduce((sum, root) => sum + widthOf(root), 0)).toBeLessThanOrEqual(endings.size);
    }),
  );
});

test('members part at the first turn at which not all do the same', () => {
  expect(divergence([member('ab cd'), member('ab cd')])).toBeUndefined();
  expect(divergence([member('ab cd'), member('ab ce')])).toBe(1);
  expect(divergence([member('ab'), member('ab ce')])).toBe(1);
  expect(divergence([member('ab'), member('xb')])).toBe(0);
  const members = [member('ab cd'), member('ab cd'), member('ab ce')];
  expect(members.map((_, index) => leavesMajority(members, index))).toEqual([undefined, undefined, 1]);
  expect(choicesAt(members, 2, 1).map(({ action, members: took }) => [action, took])).toEqual([
    ['d', [0, 1]],
    ['e', [2]],
  ]);
  expect(choicesAt(members, 0, 7)).toEqual([]);
  expect(prefixTree(members)[0]!.edges[0]!.probability).toBeCloseTo(0.5);
});
