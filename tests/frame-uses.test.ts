/** Methods that shaped the contracts: each is shipped, or written on the public exports in the test that the table names. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../src/core/json/json.ts';
import { Rng } from '../src/core/rng.ts';
import { madeEpisode, madeKey, madeTransition } from '../src/core/testing/made-episodes.ts';
import { defineTasks } from '../src/exports/index.ts';

const root = resolve(import.meta.dirname, '..');

/** The method, the file that has it, and words by which it is found there. */
const USES = [
  ['DeepMiner', 'src/rollout/context/strategies.test.ts', 'DeepMiner'],
  ['SUPO', 'src/rollout/context/summary.ts', '2510.06727'],
  ['MEM1', 'src/rollout/context/strategies.test.ts', 'MEM1'],
  ['MemTool', 'src/rollout/context/strategies.test.ts', 'MemTool'],
  ['ScalingInter', 'tests/own-methods/turns.ts', 'scalingInter'],
  ['percentile limits', 'tests/own-methods/turns.ts', 'percentiles'],
  ['UFO', 'tests/own-methods/turns.ts', 'ufo'],
  ['SCoRe', 'tests/own-methods/turns.ts', 'twoAttempts'],
  ['over-turn masking', 'tests/own-methods/curations.ts', 'overTurnMasking'],
  ['DART', 'tests/own-methods/tasks.ts', 'dart'],
  ['success replay', 'tests/own-methods/curations.ts', 'successReplay'],
  ['ExIt', 'tests/own-methods/tasks.ts', 'exit'],
  ['GRPO-RoC', 'tests/own-methods/curations.ts', 'roc'],
  ['SPEAR', 'tests/own-methods/curations.ts', 'spear'],
  ['dynamic sampling', 'src/curation/dynamic-sampling.ts', 'dynamic-sampling'],
  ['SSP', 'tests/frame-uses.test.ts', 'search-self-play'],
  ['ARPO', 'src/rollout/explore/arpo.ts', 'Explorer'],
  ['full trees', 'src/rollout/explore/full-tree.ts', 'Explorer'],
  ['reset to turn', 'src/rollout/explore/reset-to-turn.ts', 'Explorer'],
  ['MCTS', 'src/rollout/explore/mcts.ts', 'Explorer'],
  ['shared prefixes', 'src/engine/token-batch.ts', 'sharedWith'],
  ['staleness and order', 'src/train/batches/batches.ts', 'maxStaleness'],
] as const;

test.each(USES)('%s is in %s', (_, file, words) => {
  expect(readFileSync(join(root, file), 'utf8')).toContain(words);
});

const isProposal = (task: Json): boolean => (task as { readonly kind?: Json }).kind === 'propose';

/** SSP: proposals in round 0, solvers of what was proposed in round 1, and a proposer's reward when both are over. */
const searchSelfPlay = defineTasks({
  name: 'search-self-play',
  summary: 'the policy asks itself questions',
  next: ({ round, wanted, groups }) => {
    if (round === 0)
      return Array.from({ length: wanted }, (_, answer) => ({
        task: { task: { kind: 'propose', answer } },
        members: 1,
      }));
    if (round > 1) return [];
    return groups.flatMap(({ members: [proposal] }) =>
      proposal && isProposal(proposal.task)
        ? [
            {
              task: {
                task: { kind: 'solve', question: proposal.transitions[0]!.action, group: proposal.key.group },
              },
              members: 5,
            },
          ]
        : [],
    );
  },
  scores: (groups) =>
    new Map(
      groups.flatMap(({ members: [proposal] }) => {
        if (!proposal || !isProposal(proposal.task)) return [];
        const solvers = groups.find(
          ({ members }) => (members[0]!.task as { readonly group?: Json }).group === proposal.key.group,
        );
        const solved = solvers?.members.filter(({ outcome }) => outcome.agent! > 0).length ?? 0;
        return [[proposal, { agent: solvers ? 1 - solved / solvers.members.length : 0 }] as const];
      }),
    ),
});

test('SSP: what five solvers of whom two succeed leave to the proposer is .6', () => {
  const source = searchSelfPlay.create();
  const at = { step: 1, memory: null, rng: Rng.of('ssp') };
  const tasks = { size: 1, fresh: () => [] };
  const common = { ...at, members: 4, tasks };
  const [asked] = source.next({ ...common, round: 0, wanted: 1, groups: [] });
  const taskOf = (request: typeof asked): Json => (request!.task as { readonly task: Json }).task;
  const proposed = {
    step: 1,
    group: 0,
    members: [
      madeEpisode(0, [], [madeTransition(undefined, 0, { action: 'who?' })], { task: taskOf(asked) }),
    ],
  };
  const [solving] = source.next({ ...common, round: 1, wanted: 0, groups: [proposed] });
  expect(solving).toMatchObject({ members: 5, task: { task: { question: 'who?' } } });
  const solved = {
    step: 1,
    group: 1,
    members: [1, 1, 0, 0, 0].map((reward, member) =>
      madeEpisode(member, [], [madeTransition(undefined, reward)], {
        task: taskOf(solving),
        key: madeKey({ group: 1, member }),
      }),
    ),
  };
  expect([...source.scores!([proposed, solved], at).values()]).toEqual([{ agent: 0.6 }]);
});
