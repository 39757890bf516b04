import { describe, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { byPolicy, playedEpisode, trajectoriesOf, trajectoryOf } from '../../core/testing/made-episodes.ts';
import { actOf, type Trajectory } from '../../core/trajectory.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/renderer.ts';
import { SPECIAL_TOKENS, WordTokenizer } from '../../model/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { fullContext } from '../context.ts';
import { unwatched } from '../watchdog.ts';
import { aepoExplorer, balancedShare } from './aepo.ts';
import { type ArpoExplorerOptions, arpoExplorer } from './arpo.ts';
import { fullTreeExplorer } from './full-tree.ts';
import { type ExploreOptions, playTrees } from './play-trees.ts';
import type { Explorer } from './tree.ts';

/** Counts its turns; every step is counted, copies are not. */
let stepped = 0;
const counting = defineEnvironment<number, { turn: number; said: string }>({
  name: 'counting',
  description: 'three turns',
  maxTurns: 3,
  tasks: () => ({ size: 4, at: (index) => index }),
  start: () => ({ state: { turn: 0, said: '' }, messages: [user('go')] }),
  step: ({ turn, said }, action) => {
    stepped++;
    const next = { turn: turn + 1, said: `${said}${action}` };
    return { state: next, observation: 'go', reward: turn, done: turn === 2, success: true, valid: true };
  },
});

const tokenizer = new WordTokenizer([...SPECIAL_TOKENS, 'go', 'a', 'b']);

/** Says a or b by the seed; the turns after the first surprise it more. */
const policy: Policy = {
  author: byPolicy(),
  complete: async ({ seedKey, promptIds }) => {
    const text = Rng.of(seedKey).next() < 0.5 ? 'a' : 'b';
    const later = promptIds.length > 4;
    const ids = tokenizer.encode(text);
    return {
      ids: Int32Array.from(ids),
      logprobs: Float32Array.from(ids, () => (later ? -1.5 : -0.5)),
      text,
      finish: 'stop',
      by: byPolicy(),
      trainable: true,
    };
  },
};

const usual: ArpoExplorerOptions = { initial: 0.5, alpha: 0.5, beta: 0.2, threshold: 0.5, width: 2 };

async function play(explorer: Explorer, members: number, more: Partial<ExploreOptions> = {}) {
  stepped = 0;
  const [group] = await playTrees([{ step: 1, group: 0, split: 'train', index: 0, task: 0, members }], {
    world: fromEnvironment(counting),
    policy,
    renderer: wordRenderer(tokenizer, 1),
    context: fullContext,
    sampling: { temperature: 1, topP: 1, topK: 0 },
    maxTurns: 3,
    contextLength: 100,
    turnTimeoutMs: 1000,
    seed: 1,
    signal: new AbortController().signal,
    watch: unwatched,
    lockstep: new Lockstep(),
    concurrency: 8,
    explorer,
    ...more,
  });
  return trajectoriesOf(group!);
}

const saidOf = ({ turns }: Trajectory): string => turns.map((turn) => actOf(turn)!.text).join('');

describe('branches', () => {
  test('go on from where their parent was, and only what is new is played', async () => {
    const members = await play(arpoExplorer(usual), 8);
    expect(members).toHaveLength(8);
    const branches = members.filter(({ parent }) => parent !== undefined);
    expect(branches).toHaveLength(4);
    for (const branch of branches) {
      const parent = members.find(({ id }) => id === branch.parent)!;
      const shared = branch.sharedTurns!;
      expect(shared).toBeGreaterThan(0);
      expect(branch.turns.slice(0, shared)).toEqual(parent.turns.slice(0, shared));
      expect(branch.turns).toHaveLength(3);
      expect(branch.outcome).toBe(3);
      expect(branch.turns.map(({ reward }) => reward)).toEqual([0, 1, 2]);
    }
    const copied = branches.reduce((sum, { sharedTurns = 0 }) => sum + sharedTurns, 0);
    expect(stepped).toBe(8 * 3 - copied);
    expect(new Set(members.map(({ id }) => id)).size).toBe(8);
  });

  test('come only from places that are surprising enough; else all start afresh', async () => {
    const members = await play(arpoExplorer({ ...usual, threshold: 0.8 }), 8);
    expect(members.filter(({ parent }) => parent !== undefined)).toEqual([]);
    expect(stepped).toBe(24);
  });

  test('are spread over episodes by a penalty', async () => {
    const spread = (penalty: number) => aepoExplorer({ ...usual, width: 4, balance: 0, penalty });
    const parents = async (penalty: number) =>
      new Set((await play(spread(penalty), 8)).map(({ parent }) => parent)).size - 1;
    expect(await parents(0.2)).toBe(4);
  });

  test('the same seed branches alike', async () => {
    const once = (await play(arpoExplorer(usual), 8)).map(saidOf);
    expect((await play(arpoExplorer(usual), 8)).map(saidOf)).toEqual(once);
  });
});

test('a tree of width two over three turns has eight leaves and fourteen turns', async () => {
  const members = await play(fullTreeExplorer({ width: 2 }), 8);
  expect(members).toHaveLength(8);
  expect(stepped).toBe(14);
});

test('the more the question surprises and the less the results do, the more episodes start afresh', () => {
  const episode = (...surprises: number[]) => [
    trajectoryOf(
      playedEpisode(
        0,
        surprises.map((surprise) => ({ call: { logprobs: [-surprise] } })),
      ),
    ),
  ];
  // σ(0.4) and σ(-0.4): with 16 episodes 9.579 and 6.421.
  expect(16 * balancedShare(1, episode(0.9, 0.4, 0.6))).toBeCloseTo(9.579, 3);
  expect(16 * balancedShare(1, episode(0.3, 0.7))).toBeCloseTo(6.421, 3);
});
