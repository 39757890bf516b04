/** Episodes as plain JSON that both sides read: random turns of a small vocabulary, the same for every run of this script. */

import { writeFileSync } from 'node:fs';

const [path] = process.argv.slice(2);

let state = 12345;
const next = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const int = (n) => Math.floor(next() * n);

export const VOCABULARY = 32;
const GROUPS = 8;
const MEMBERS = 4;

const turn = (last, outcome) => ({
  context: Array.from({ length: 2 + int(4) }, () => 4 + int(VOCABULARY - 4)),
  // The first turn, and now and then a later one, begins a sample of its own.
  extends: next() < 0.8,
  ids: Array.from({ length: 1 + int(3) }, () => 4 + int(VOCABULARY - 4)),
  reward: last ? outcome : next() < 0.2 ? 0.25 : 0,
  valid: next() < 0.9,
  anchor: `state ${int(6)}`,
  credit: {
    dense: [int(3) / 4],
    answerProbability: int(5) / 8,
    answer: ['', 'x', 'y'][int(3)],
    effectiveActions: int(2),
    entityShare: int(5) / 4,
  },
});

const member = () => {
  const outcome = int(3) / 2;
  const count = 1 + int(4);
  return {
    success: outcome > 0.5,
    turns: Array.from({ length: count }, (_, k) => turn(k === count - 1, outcome)),
  };
};

const steps = Array.from({ length: 3 }, () =>
  Array.from({ length: GROUPS }, () => Array.from({ length: MEMBERS }, member)),
);
writeFileSync(path, JSON.stringify({ steps }));
