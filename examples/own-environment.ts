/** An environment of your own, and an agent trained in it: find a treasure in the dark, told only "warmer" or "colder". */

import { defineEnvironment, train } from 'turnwise';

// Task and state are one number: how many steps the treasure lies to the right. Distances 3 and 6 are held out.
const places = [-8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8];
const moves: Record<string, number> = { left: -1, right: 1 };

const treasure = defineEnvironment<number, number>({
  name: 'treasure',
  description: 'Find a treasure in the dark, told only "warmer" or "colder".',
  maxTurns: 10,
  tasks: (split) => {
    const chosen = places.filter((place) => (place % 3 === 0) === (split === 'test'));
    return { size: chosen.length, at: (index) => chosen[index]! };
  },
  start: (place) => ({ state: place, messages: [{ role: 'user', content: 'start' }] }),
  step: (place, action) => {
    const state = place - (moves[action] ?? 0);
    const found = state === 0;
    const observation = Math.abs(state) < Math.abs(place) ? 'warmer' : 'colder';
    return { state, observation, reward: found ? 1 : 0, done: found, success: found, valid: action in moves };
  },
  actions: () => ['left', 'right'],
  solve: (place) => (place < 0 ? 'left' : 'right'),
});

// Imitate a player whose every other move is random, then get better by trying. So small a model takes ten seconds.
const model = { width: 32, layers: 1, heads: 2, hidden: 64 };
const clone = { demonstrations: 500, steps: 40 };
const optimizer = { learningRate: 5e-3 };
const settings = { steps: 30, model, clone, optimizer, rollout: { tasks: 16 } };
const { before, after } = await train({ world: treasure, recipe: 'rloo', settings });
console.log(`finds held-out treasures: ${before.sampled.success} before, ${after.sampled.success} after`);
