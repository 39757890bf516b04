/** Methods that shaped the contracts: each is shipped, or written on the public exports in the test that the table names. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Json } from '../src/core/json/json.ts';
import { Rng } from '../src/core/rng.ts';
import { madeEpisode, madeKey, madeTransition } from '../src/core/testing/made-episodes.ts';
import { defineTasks } from '../src/exports/index.ts';

const root = resolve(import.meta.dirname, '..');

const CONTEXTS = 'src/rollout/context/strategies.test.ts';
const OWN = 'tests/own-methods/runs.test.ts';
const EXPLORERS = 'src/rollout/explore/explorers.test.ts';

/** The method, the file that has it, words by which it is found there, and the test that runs it. */
const USES = [
  ['DeepMiner', CONTEXTS, 'DeepMiner', CONTEXTS, 'a sliding window of 3 that folds 2'],
  [
    'SUPO',
    'src/rollout/context/summary.ts',
    '2510.06727',
    CONTEXTS,
    'summaries, %s: asked before the prompt',
  ],
  ['MEM1', CONTEXTS, 'MEM1', CONTEXTS, 'the latest state and how many turns are left'],
  ['MemTool', CONTEXTS, 'MemTool', CONTEXTS, 'a strategy answers its own tools without a step'],
  [
    'CaveAgent',
    'tests/own-methods/contexts.ts',
    'cave',
    'tests/own-methods/context.test.ts',
    'CaveAgent: then the older half becomes a summary',
  ],
  [
    'ScalingInter',
    'tests/own-methods/turns.ts',
    'scalingInter',
    OWN,
    'turns: limits, retries and what was said',
  ],
  [
    'percentile limits',
    'tests/own-methods/turns.ts',
    'percentiles',
    OWN,
    'turns: limits, retries and what was said',
  ],
  ['UFO', 'tests/own-methods/turns.ts', 'ufo', OWN, 'turns: limits, retries and what was said'],
  ['SCoRe', 'tests/own-methods/turns.ts', 'twoAttempts', OWN, 'turns: every task is attempted twice'],
  [
    'over-turn masking',
    'tests/own-methods/curations.ts',
    'overTurnMasking',
    OWN,
    'curations: %s; the stored file',
  ],
  ['DART', 'tests/own-methods/tasks.ts', 'dart', OWN, 'tasks: groups of their own sizes and limits'],
  [
    'success replay',
    'tests/own-methods/curations.ts',
    'successReplay',
    OWN,
    'curations: %s; the stored file',
  ],
  ['ExIt', 'tests/own-methods/tasks.ts', 'exit', OWN, 'tasks: a start at a place copies what was done'],
  ['GRPO-RoC', 'tests/own-methods/curations.ts', 'roc', OWN, 'curations: %s; the stored file'],
  ['SPEAR', 'tests/own-methods/curations.ts', 'spear', OWN, 'curations: %s; the stored file'],
  [
    ...['dynamic sampling', 'src/curation/dynamic-sampling.ts', 'dynamic-sampling'],
    ...['src/train/config/blocks.test.ts', '%s reads all that can be set'],
  ],
  [
    'SSP',
    'tests/frame-uses.test.ts',
    'search-self-play',
    'tests/frame-uses.test.ts',
    'SSP: what five solvers',
  ],
  ['ARPO', 'src/rollout/explore/arpo.ts', 'Explorer', EXPLORERS, 'go on from where their parent was'],
  [
    'full trees',
    'src/rollout/explore/full-tree.ts',
    'Explorer',
    EXPLORERS,
    'a tree of width two over three turns',
  ],
  [
    'reset to turn',
    'src/rollout/explore/reset-to-turn.ts',
    'Explorer',
    EXPLORERS,
    'go on from a turn of each episode',
  ],
  ['MCTS', 'src/rollout/explore/mcts.ts', 'Explorer', EXPLORERS, 'goes where a critic expects more'],
  [
    'shared prefixes',
    'src/engine/token-batch.ts',
    'sharedWith',
    'src/engine/embedded/training/shared-prefixes.test.ts',
    'sharedRows',
  ],
  [
    ...['staleness and order', 'src/train/batches/batches.ts', 'maxStaleness'],
    ...['src/train/batches/batches.test.ts', 'stale by k: k steps are asked for ahead'],
  ],
] as const;

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

test.each(USES)('%s is in %s and is run', (_, file, words, runs, title) => {
  expect(textOf(file)).toContain(words);
  // A call whose first argument is the title.
  const called = textOf(runs!)
    .split(/\(\s*['`]/)
    .filter((rest) => rest.startsWith(title!));
  expect(called).toHaveLength(1);
  // What is defined in a file of its own is imported and used.
  if (runs.startsWith('tests/own-methods/'))
    expect(textOf(runs).match(new RegExp(`\\b${words}\\b`, 'g'))!.length).toBeGreaterThan(1);
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
  const common = { ...at, members: 4, tasks, roles: ['agent'], players: [] };
  const [asked] = source.next({ ...common, round: 0, wanted: 1, groups: [], latest: [] });
  const taskOf = (request: typeof asked): Json => (request!.task as { readonly task: Json }).task;
  const proposed = {
    step: 1,
    group: 0,
    members: [
      madeEpisode(0, [], [madeTransition(undefined, 0, { action: 'who?' })], { task: taskOf(asked) }),
    ],
  };
  const [solving] = source.next({ ...common, round: 1, wanted: 0, groups: [proposed], latest: [proposed] });
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
