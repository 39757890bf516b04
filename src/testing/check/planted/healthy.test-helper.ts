/** An environment without a fault, into which tests plant some. */

import { user } from '../../../core/messages.ts';
import type { Environment, Step } from '../../../env/environment.ts';

export interface Walk {
  /** Steps to the goal; negative to the left. */
  readonly left: number;
}

const MOVES: Readonly<Record<string, number>> = { left: -1, right: 1 };
const PLACES = [-8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8];

const words = ({ left }: Walk): string => `${left < 0 ? 'left' : 'right'} ${Math.abs(left)}`;

/** A walk along a line to a goal that is seen. */
export const healthy: Environment<number, Walk> = {
  name: 'walk',
  description: 'Walk to the goal.',
  maxTurns: 12,
  returns: [0, 1],
  facts: ['effectiveActions'],
  tasks: (split) => {
    const places = PLACES.filter((_, index) =>
      split === 'train' ? index % 4 < 2 : index % 4 === (split === 'test' ? 2 : 3),
    );
    return { size: places.length, at: (index) => places[index]! };
  },
  start: (left) => ({ state: { left }, messages: [user(words({ left }))] }),
  step: ({ left }, action): Step<Walk> => {
    const state = { left: left - (MOVES[action] ?? 0) };
    const done = state.left === 0;
    const valid = action in MOVES;
    return {
      ...{
        state,
        observation: done ? 'there' : words(state),
        reward: done ? 1 : 0,
        done,
        success: done,
        valid,
      },
      info: { credit: { effectiveActions: valid ? 1 : 0 } },
    };
  },
  actions: () => ['left', 'right'],
  solve: ({ left }) => (left < 0 ? 'left' : 'right'),
  natural: {
    instructions: 'Walk to the goal. Answer with left or right.',
    example: [['The goal is 2 steps to the right.', 'right']],
    observe: ({ left }, step) =>
      step?.done
        ? 'You are there.'
        : `The goal is ${Math.abs(left)} steps to the ${left < 0 ? 'left' : 'right'}.`,
  },
};
