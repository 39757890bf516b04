/** Sokoban in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { SokobanState } from './index.ts';
import { besides, readRoom, SIDES } from './room.ts';

const MEETS = { wall: 'wall', free: 'free', box: 'a box that moves', stuck: 'a box that is stuck' } as const;

export const sokobanSentences: NaturalWording<SokobanState> = {
  instructions: [
    'Push every box to a target in as few moves as you can. You push a box by walking into it; you cannot pull, and nothing',
    'goes through walls. In the picture # is wall, _ floor, O a target, X a box, √ a box on a target, P you, S you on a target.',
    'Answer with one word: left, right, up or down.',
  ].join(' '),
  example: [
    [describe(['#####', '#PXO#', '#####']), 'right'],
    [describe(['#####', '#_P_#', '#_X_#', '#_O_#', '#####']), 'down'],
  ],
  observe: ({ room }, step) => {
    if (step?.done) return 'Every box is on a target.';
    return step?.valid === false ? `That is no move.\n${describe(room)}` : describe(room);
  },
};

function describe(room: SokobanState['room']): string {
  const plan = readRoom(room);
  const sides = SIDES.map((side) => `${side} ${MEETS[besides(plan, side)]}`);
  return `${room.join('\n')}\n${sides.join(', ')}.`;
}
