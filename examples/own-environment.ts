/** An environment of your own, and an agent trained in it: find a hidden number by asking which way to go. */

import { defineEnvironment, train } from 'turnwise';

const treasure = defineEnvironment<{ at: number }, { at: number; me: number }>({
  name: 'treasure',
  description: 'Walk a corridor of ten cells to the treasure, then dig.',
  maxTurns: 12,
  tasks: (split) => ({ size: 10, at: (index) => ({ at: split === 'test' ? 9 - index : index }) }),
  start: ({ at }) => ({ state: { at, me: 5 }, messages: [{ role: 'user', content: hint(at, 5) }] }),
  step: ({ at, me }, action) => {
    const found = action === 'dig' && me === at;
    const next = action === 'left' ? Math.max(0, me - 1) : action === 'right' ? Math.min(9, me + 1) : me;
    const valid = ['left', 'right', 'dig'].includes(action);
    const done = found || action === 'dig';
    return {
      state: { at, me: next },
      observation: hint(at, next),
      reward: found ? 1 : 0,
      done,
      success: found,
      valid,
    };
  },
  actions: () => ['left', 'right', 'dig'],
  solve: ({ at, me }) => (at < me ? 'left' : at > me ? 'right' : 'dig'),
});

function hint(at: number, me: number): string {
  return at === me ? 'here' : at < me ? 'to-the-left' : 'to-the-right';
}

const summary = await train({
  environment: treasure,
  recipe: 'rloo',
  settings: {
    steps: 15,
    model: { width: 32, layers: 1, heads: 2, hidden: 64 },
    clone: { randomRate: 0.5, steps: 30 },
  },
});
console.log(`success: ${summary.before.sampled.success} -> ${summary.after.sampled.success}`);
