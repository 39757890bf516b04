/** The frozen lake in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { LakeState } from './index.ts';
import { find, type Side, sidesOf } from './lake.ts';

export const lakeSentences: NaturalWording<LakeState> = {
  instructions: [
    'Cross a frozen lake to the goal, one cell at a time. A hole ends the walk, and the edge stops a step.',
    'You read where the goal is and what lies on each side.',
    'Answer with one word: left, right, up or down.',
  ].join(' '),
  example: [
    ['goal: 2 right, 1 up. left free, right hole, up free, down edge.', 'up'],
    ['goal: 2 right. left free, right free, up edge, down hole.', 'right'],
  ],
  observe: (state, step) => {
    if (step?.success) return 'You reached the goal.';
    if (step?.done) return 'You fell into a hole.';
    return step?.valid === false ? `That is no step. ${describe(state)}` : describe(state);
  },
};

function describe({ map, ...cell }: LakeState): string {
  const [row, column] = find(map, 'G');
  const steps = (count: number, towards: Side, back: Side): string[] =>
    count === 0 ? [] : [`${Math.abs(count)} ${count > 0 ? towards : back}`];
  const goal = [...steps(column - cell.column, 'right', 'left'), ...steps(row - cell.row, 'down', 'up')];
  const sides = sidesOf(map, cell).map(([side, content]) => `${side} ${content}`);
  return `goal: ${goal.join(', ')}. ${sides.join(', ')}.`;
}
