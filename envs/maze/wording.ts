/** The maze in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { MazeState, MazeTask } from './index.ts';
import { LAYOUT, sidesOf } from './layout.ts';

const row = LAYOUT.findIndex((line) => line.includes('G'));

/** @param isFull whether the cell and the goal are told, or only the walls around */
export const mazeSentences = (isFull: boolean): NaturalWording<MazeState> => ({
  instructions: [
    ...(isFull
      ? [
          `Walk through a maze to the goal at row ${row}, column ${LAYOUT[row]!.indexOf('G')}, in as few steps as you can.`,
          'Rows count from the top, columns from the left.',
        ]
      : ['Walk through a maze to the goal, in as few steps as you can. You see only the walls around you.']),
    'A wall stops a step.',
    'Answer with one word: left, right, up or down.',
  ].join(' '),
  example: [
    [describe({ row: 1, column: 2 }, isFull), 'right'],
    [describe({ row: 3, column: 3 }, isFull), 'down'],
  ],
  observe: (state, step) => {
    if (step?.success) return 'You reached the goal.';
    if (step?.done) return 'You have no steps left.';
    const here = describe(state, isFull);
    return step?.valid === false ? `That is no step. ${here}` : here;
  },
});

function describe(cell: MazeTask, isFull: boolean): string {
  if (!isFull) {
    const walls = sidesOf(cell).flatMap(([side, content]) => (content === 'wall' ? [side] : []));
    return walls.length === 0 ? 'There are no walls around you.' : `There are walls: ${walls.join(', ')}.`;
  }
  const sides = sidesOf(cell).map(([side, content]) => `${side} ${content}`);
  return `You are at row ${cell.row}, column ${cell.column}. ${sides.join(', ')}.`;
}
