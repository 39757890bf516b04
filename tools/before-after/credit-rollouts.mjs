/** A file of random trajectories with every field that a credit method may read, for `turnwise credit --rollouts`. */

import { writeFileSync } from 'node:fs';

const [path] = process.argv.slice(2);

let state = 4711;
const next = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const int = (n) => Math.floor(next() * n);
const number = () => int(1280) / 64 - 10;
const list = (count, make) => Array.from({ length: count }, make);
const call = () => ({ name: ['search', 'open'][int(2)], arguments: { q: int(3), n: int(2) } });

const turn = () => {
  const tokens = 1 + int(4);
  return {
    reward: int(3) === 0 ? number() : int(2),
    anchor: ['a', 'b', 'c'][int(3)],
    tokens,
    value: number(),
    values: list(tokens, number),
    entropies: list(tokens, () => int(64) / 64),
    dense: list(2, number),
    valid: int(5) > 0,
    answerProbability: int(65) / 64,
    informationGain: number(),
    calls: list(int(3), call),
    progress: int(64) / 64,
    features: list(3, number),
    answer: ['', 'x', 'y'][int(3)],
    correct: int(2) === 0,
    actionCount: 1 + int(3),
    effectiveActions: int(3),
    labelCorrect: int(2) === 0,
    wellFormed: int(4) > 0,
    counterfactual: number(),
  };
};

const rows = [];
for (let group = 0; group < 40; group++) {
  for (const role of ['agent', 'opponent']) {
    for (let member = 0; member < 6; member++) {
      const turns = list(1 + int(5), turn);
      const branch = member > 0 && int(3) === 0;
      rows.push({
        groupId: `g${group}`,
        id: `m${member}`,
        role,
        game: ['one', 'two'][group % 2],
        episode: `g${group}/m${member}`,
        outcome: turns.reduce((sum, { reward }) => sum + reward, 0),
        entityShare: int(65) / 64,
        goldenCalls: list(1 + int(3), call),
        neededCalls: int(4),
        mode: ['instant', 'agentic'][int(2)],
        wellFormed: int(4) > 0,
        ...(branch && { parent: `m${member - 1}`, sharedTurns: 1 }),
        ...(int(10) === 0 && { replayedAdvantage: number() }),
        turns,
      });
    }
  }
}
writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
