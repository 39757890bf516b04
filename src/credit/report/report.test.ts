import { expect, test } from 'vitest';
import { parseRollouts } from './node/read-rollouts.ts';
import { creditReport, creditTable } from './report.ts';

const rollouts = parseRollouts(
  JSON.stringify([
    {
      groupId: 'g',
      id: 'a',
      stop: 'done',
      turns: [{ anchor: 'start' }, { anchor: 'door  {"open":false,"keys":[1,2]}', reward: 1 }],
    },
    { groupId: 'g', id: 'b', stop: 'turn-limit', turns: [{ anchor: 'start', reward: -0.25, tokens: 2 }] },
    { groupId: 'g', id: 'c', stop: 'failed:environment', turns: [{ anchor: 'start', reward: 9, tokens: 2 }] },
    { groupId: 'g', id: 'd', stop: 'context-overflow', turns: [] },
  ]),
  'rollouts.json',
);

test('the report has full precision, settings with defaults, and excluded trajectories at 0', () => {
  expect(creditReport('dr-grpo', {}, rollouts)).toEqual({
    method: 'dr-grpo',
    config: {},
    trajectories: [
      { id: 'a', groupId: 'g', turns: [{ advantage: 0.75 }, { advantage: 0.75 }] },
      { id: 'b', groupId: 'g', turns: [{ advantage: -0.5 }] },
      { id: 'c', groupId: 'g', excluded: true, turns: [{ advantage: 0 }] },
      { id: 'd', groupId: 'g', turns: [] },
    ],
  });
  expect(creditReport('reinforce++', { whiten: false }, rollouts)).toEqual({
    method: 'reinforce++',
    config: { gamma: 1, whiten: false, baseline: 'none', observationReset: false },
    trajectories: [
      {
        id: 'a',
        groupId: 'g',
        turns: [
          { advantage: 1, tokens: [1] },
          { advantage: 1, tokens: [1] },
        ],
      },
      { id: 'b', groupId: 'g', turns: [{ advantage: -0.25, tokens: [-0.25, -0.25] }] },
      { id: 'c', groupId: 'g', excluded: true, turns: [{ advantage: 0, tokens: [0, 0] }] },
      { id: 'd', groupId: 'g', turns: [] },
    ],
  });
});

test('the table has a line per turn', () => {
  const table = creditTable(creditReport('gigpo', { normalisation: 'mean' }, rollouts), rollouts);
  expect(`\n${table}\n`).toMatchInlineSnapshot(`
    "
    trajectory    turn  anchor                    reward  advantage
    a                1  start                          0     1.3500          │████████
                     2  door {"open":false,"key…       1     0.7500          │████
    b                1  start                      -0.25    -1.1000   ███████│
    c (excluded)     1  start                          9
    d                -
    "
  `);
});

test('zero has no sign and no bar', () => {
  const alone = parseRollouts('{"groupId":"g","id":"a","outcome":-1,"turns":[{}]}', 'rollouts.jsonl');
  expect(`\n${creditTable(creditReport('grpo', {}, alone), alone)}\n`).toMatchInlineSnapshot(`
    "
    trajectory  turn  anchor  reward  advantage
    a              1              -1     0.0000          │
    "
  `);
});
