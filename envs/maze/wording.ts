/** The maze in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { MazeState, MazeTask } from './index.ts';
import { LAYOUT, sidesOf } from './layout.ts';

const row = LAYOUT.findIndex((line) => line.includes('G'));

export const mazeSentences: NaturalWording<MazeState> = {
  instructions: [
    `Walk through a maze to the goal at row ${row}, column ${LAYOUT[row]!.indexOf('G')}, in as few steps as you can.`,
    'Rows count from the top, columns from the left. A wall stops a step.',
    'Answer with one word: left, right, up or down.',
  ].join(' '),
  example: [
    [describe({ row: 1, column: 2 }), 'right'],
    [describe({ row: 3, column: 3 }), 'down'],
  ],
  observe: (state, step) => {
    if (step?.success) return 'You reached the goal.';
    if (step?.done) return 'You have no steps left.';
    return step?.valid === false ? `That is no step. ${describe(state)}` : describe(state);
  },
};

function describe(cell: MazeTask): string {
  const sides = sidesOf(cell).map(([side, content]) => `${side} ${content}`);
  return `You are at row ${cell.row}, column ${cell.column}. ${sides.join(', ')}.`;
}
