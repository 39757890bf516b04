/** The prefix tree as a grid: a row for each turn, a column for each way in which members went. */

import type { MemberOutline } from '../../shapes.ts';
import { Members } from '../parts/members.tsx';
import { number } from '../text/format.ts';
import { oneLine } from '../text/safe-text.ts';
import { edgeWidth, prefixTree, type TreeNode, widthOf } from './prefix-tree.ts';

interface TreeProps {
  readonly members: readonly MemberOutline[];
  readonly to: (member: number) => string;
}

interface Cell {
  readonly row: number;
  readonly column: number;
  readonly width: number;
  readonly action: string;
  readonly valid: boolean;
  readonly probability: number | undefined;
  readonly members: readonly number[];
  /** Its members did something else than others in the same situation. */
  readonly parts: boolean;
  /** Most of those did this. */
  readonly isMajority: boolean;
  readonly ends: boolean;
}

const mostColumns = 32;
const mostRows = 64;

export function Tree({ members, to }: TreeProps) {
  const roots = prefixTree(members);
  const cells = cellsOf(roots, 0).filter(({ row, column }) => row < mostRows && column < mostColumns);
  const rows = Math.max(0, ...cells.map(({ row }) => row + 1));
  const columns = Math.max(1, ...cells.map(({ column, width }) => Math.min(mostColumns, column + width)));
  const all = roots.reduce((sum, root) => sum + widthOf(root), 0);
  return (
    <div class="tree-scroll" tabIndex={0} role="region" aria-label="The members’ actions, turn by turn">
      <div class="tree" style={{ gridTemplateColumns: `auto repeat(${columns}, minmax(112px, 1fr))` }}>
        {Array.from({ length: rows }, (_, row) => (
          <span key={row} class="turn-number" style={{ gridRow: row + 1, gridColumn: 1 }}>
            {row + 1}
          </span>
        ))}
        {cells.map((cell) => (
          <div
            key={`${cell.row} ${cell.column}`}
            class={`cell${cell.parts ? ' parts' : ''}${cell.parts && !cell.isMajority ? ' minority' : ''}`}
            style={{
              gridRow: cell.row + 1,
              gridColumn: `${cell.column + 2} / span ${Math.min(cell.width, mostColumns - cell.column)}`,
            }}
          >
            <div class="action">
              <code>{oneLine(cell.action, 80) || '(nothing)'}</code>
              {!cell.valid && <span class="red small"> invalid</span>}
              {cell.parts && cell.probability !== undefined && (
                <span class="ink2 small whole"> p {number(cell.probability, 2)}</span>
              )}
            </div>
            <Members
              marks={cell.members.map((index) => members[index]!)}
              {...((cell.ends || cell.parts) && { to })}
            />
          </div>
        ))}
      </div>
      {all > mostColumns && (
        <p class="ink2 small">
          The first {mostColumns} of {all} columns.
        </p>
      )}
    </div>
  );
}

function cellsOf(nodes: readonly TreeNode[], first: number): Cell[] {
  let column = first;
  return nodes.flatMap((node) =>
    node.edges.flatMap((edge, index) => {
      const width = edgeWidth(edge);
      const cell: Cell = {
        row: node.depth,
        column,
        width,
        action: edge.action,
        valid: edge.valid,
        probability: edge.probability,
        members: edge.members,
        parts: node.edges.length > 1,
        isMajority: index === 0,
        ends: edge.to.length === 0,
      };
      const below = cellsOf(edge.to, column);
      column += width;
      return [cell, ...below];
    }),
  );
}
