import { describe, expect, test } from 'vitest';
import { placeText } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { byPolicy, playedEpisode, trajectoriesOf, trajectoryOf } from '../../core/testing/made-episodes.ts';
import { actOf, type Trajectory } from '../../core/trajectory.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { SPECIAL_TOKENS, WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { fullContext } from '../context/contexts.ts';
import { faultyWorld } from '../testing/faulty-world.ts';
import { unwatched } from '../watch.ts';
import { aepoExplorer, balancedShare } from './aepo.ts';
import { type ArpoExplorerOptions, arpoExplorer } from './arpo.ts';
import { fullTreeExplorer } from './full-tree.ts';
import type { ExploreOptions } from './growing-tree.ts';
import { mctsExplorer } from './mcts.ts';
import { playTrees } from './play-trees.ts';
import { resetToTurnExplorer } from './reset-to-turn.ts';
import type { Explorer } from './tree.ts';
import { actEntropy } from './unsure-places.ts';

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
  complete: async ({ seedKey, keep, append }) => {
    const text = Rng.of(seedKey).next() < 0.5 ? 'a' : 'b';
    const later = keep + append.length > 4;
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
    batching: new Lockstep(),
    concurrency: 8,
    explorer,
    ...more,
  });
  return trajectoriesOf(group!);
}

const arpo = (): Explorer => arpoExplorer(usual);

/** Shows a number by chance after every turn. */
const dice = defineEnvironment<number, { turn: number }>({
  ...counting,
  start: () => ({ state: { turn: 0 }, messages: [user('0')] }),
  step: ({ turn }, _action, rng) => ({
    state: { turn: turn + 1 },
    observation: `${rng.int(10)}`,
    reward: 0,
    done: turn === 2,
    valid: true,
  }),
});

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
    // Of 8 episodes 5 start afresh, and each of the 3 branches has a parent of its own.
    expect(await parents(0.2)).toBe(3);
  });

  test('as many start afresh as N, balance and entropies say, the first of them included', async () => {
    const whole = async (balance: number, members: number) =>
      (await play(aepoExplorer({ ...usual, width: 16, balance, alpha: 1, penalty: 0 }), members)).filter(
        ({ parent }) => parent === undefined,
      ).length;
    // Later turns are unsure by 0.5 more than the first: σ(-balance / 2) is 0.5, 0.438, 0.378 and 0.
    expect(await whole(0, 16)).toBe(9);
    expect(await whole(0.5, 16)).toBe(8);
    expect(await whole(1, 16)).toBe(7);
    expect(await whole(99, 16)).toBe(1);
    expect(await whole(0, 8)).toBe(5);
    expect(await whole(-99, 8)).toBe(8);
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

test('forced tokens make no turn less uncertain', () => {
  const choices = [Int32Array.of(5, 2), Int32Array.of(7, 2)];
  const [turn] = trajectoryOf(
    playedEpisode(0, [{ written: [7, 2], call: { logprobs: [-0.7, 0], choices } }]),
  ).turns;
  expect(actEntropy(turn!)).toBeCloseTo(0.7, 6);
  const only = { written: [7, 2], call: { logprobs: [0, 0], choices: [Int32Array.of(7, 2)] } };
  expect(actEntropy(trajectoryOf(playedEpisode(0, [only])).turns[0]!)).toBe(0);
});

describe('what any explorer may rely on', () => {
  const all = (next: Explorer['next']): Explorer => ({ keeps: () => true, next });
  const startOnce = [{ from: 'start', members: 2 }] as const;

  test('rounds are asked for in turn, and the tree shows what came of them, in order', async () => {
    const seen: unknown[] = [];
    await play(
      all(({ members, episodes, kept, rounds }) => {
        seen.push([members, episodes.map(({ key }) => key.member), kept.map(placeText), rounds.length]);
        if (rounds.length === 0) return startOnce;
        return rounds.length === 1 ? [{ from: kept[3]!, members: 1 }] : 'done';
      }),
      5,
    );
    const first = ['1/0/0#0', '1/0/0#1', '1/0/1#0', '1/0/1#1'];
    expect(seen).toEqual([
      [5, [], [], 0],
      [5, [0, 1], first, 1],
      [5, [0, 1, 2], first, 2],
    ]);
  });

  test('an episode that ends first changes nothing', async () => {
    const slow = (late: number): Policy => ({
      author: policy.author,
      complete: async (request) => {
        await new Promise((resolve) => setTimeout(resolve, (late + request.key.member) % 2 === 0 ? 4 : 0));
        return policy.complete(request);
      },
    });
    const [one, other] = [
      await play(arpo(), 8, { policy: slow(0) }),
      await play(arpo(), 8, { policy: slow(1) }),
    ];
    expect(other.map(saidOf)).toEqual(one.map(saidOf));
    expect(other.map(({ parent, sharedTurns }) => [parent, sharedTurns])).toEqual(
      one.map(({ parent, sharedTurns }) => [parent, sharedTurns]),
    );
  });

  test('episodes of so many turns stop early, and others go on from there', async () => {
    const members = await play(
      all(({ episodes, kept, rounds }) => {
        if (rounds.length === 0) return [{ from: 'start', members: 2, turns: 1 }];
        expect(episodes.slice(0, 2).map(({ stop }) => stop)).toEqual(['early-stop', 'early-stop']);
        return rounds.length === 1 ? [{ from: kept[0]!, members: 1 }] : 'done';
      }),
      2,
    );
    expect(members.map(({ stop, turns }) => [stop, turns.length])).toEqual([
      ['early-stop', 1],
      ['early-stop', 1],
      ['done', 3],
    ]);
    expect(stepped).toBe(4);
  });

  test('a place that nobody kept, and numbers that are none, end the run with a reason', async () => {
    const elsewhere = all(({ episodes }) => {
      const [first] = episodes;
      return first ? [{ from: { episode: first.key, transition: 7 }, members: 1 }] : startOnce;
    });
    await expect(play(elsewhere, 2)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The explorer asks for episodes that cannot be played. Seen: the place after transition 7 of episode 1/0/0. Allowed: places of tree.kept, and after transition -1 of an episode that is no branch.]`,
    );
    await expect(
      play(
        all(() => [{ from: 'start', members: 0.5 }]),
        2,
      ),
    ).rejects.toMatchObject({
      code: 'definition-invalid',
    });
  });

  test('nothing is left open or held, whether the explorer, the policy or the person ends it', async () => {
    const watched = () => faultyWorld(fromEnvironment(counting), { rate: 0, rng: Rng.of(0), lateMs: 0 });
    const failing = all(({ rounds }) => {
      if (rounds.length > 0) throw new Error('no more');
      return startOnce;
    });
    const thrown = watched();
    await expect(play(failing, 2, { world: thrown.world })).rejects.toThrow('no more');
    expect([thrown.openSessions(), thrown.openSnapshots()]).toEqual([0, 0]);

    const broken = watched();
    let calls = 0;
    const engineFails: Policy = {
      author: policy.author,
      complete: (request) => {
        if (++calls > 5) throw new TurnwiseError('engine-failed', { what: 'no engine' });
        return policy.complete(request);
      },
    };
    await expect(play(arpo(), 8, { world: broken.world, policy: engineFails })).rejects.toThrow('no engine');
    await expect.poll(() => [broken.openSessions(), broken.openSnapshots()]).toEqual([0, 0]);

    const stopped = watched();
    const controller = new AbortController();
    const stops: Policy = {
      author: policy.author,
      complete: (request) => {
        if (request.key.member === 5) controller.abort();
        return policy.complete(request);
      },
    };
    const playing = play(arpo(), 8, { world: stopped.world, policy: stops, signal: controller.signal });
    await expect(playing).rejects.toMatchObject({ code: 'cancelled' });
    expect([stopped.openSessions(), stopped.openSnapshots()]).toEqual([0, 0]);
  });

  test('only places that are wanted are held', async () => {
    const faulty = faultyWorld(fromEnvironment(counting), { rate: 0, rng: Rng.of(0), lateMs: 0 });
    let held = 0;
    const second: Explorer = {
      keeps: (_, transition) => transition === 1,
      next: ({ rounds }) => {
        held = faulty.openSnapshots();
        return rounds.length === 0 ? startOnce : 'done';
      },
    };
    await play(second, 2, { world: faulty.world });
    expect([held, faulty.openSnapshots()]).toEqual([2, 0]);
  });
});

describe('twins', () => {
  test('go on from a turn of each episode, or from its start, with its chance', async () => {
    const members = await play(resetToTurnExplorer, 12, { world: fromEnvironment(dice) });
    expect(members).toHaveLength(24);
    const twins = members.slice(12);
    expect(twins.map(({ parent }) => parent)).toEqual(members.slice(0, 12).map(({ id }) => id));
    expect(new Set(twins.map(({ sharedTurns }) => sharedTurns))).toEqual(new Set([0, 1, 2]));
    for (const [index, twin] of twins.entries()) {
      const shown = ({ turns }: Trajectory) => turns.map((turn) => actOf(turn)!.messages[0]!.content);
      expect(shown(twin)).toEqual(shown(members[index]!));
    }
    const apart = members.slice(0, 12).map(({ turns }) => actOf(turns[1]!)!.messages[0]!.content);
    expect(new Set(apart).size).toBeGreaterThan(1);
  });
});

describe('tree search', () => {
  /** Only the first turn matters: after `a` nothing can be earned. */
  const fork = defineEnvironment<number, { said: string }>({
    ...counting,
    start: () => ({ state: { said: '' }, messages: [user('go')] }),
    step: ({ said }, action) => {
      const state = { said: said + action };
      const done = state.said.length === 3;
      const reward = done && state.said.startsWith('b') ? 1 : 0;
      return { state, observation: 'go', reward, done, success: reward > 0, valid: true };
    },
  });
  const options = { width: 4, iterations: 6, exploration: 0.1 };
  const begunWith = (members: readonly Trajectory[], word: string): number =>
    members.filter((member) => member.turns.length > 1 && saidOf(member).startsWith(word)).length;

  test('goes where a critic expects more, one turn at a time, with chance drawn anew', async () => {
    const asked: number[] = [];
    const [a] = tokenizer.encode('a');
    const members = await play(mctsExplorer(options), 4, {
      world: fromEnvironment(fork),
      valuesOf: async (prompts) => {
        asked.push(prompts.length);
        return prompts.map((ids) => (ids.slice(0, 4).includes(a!) ? 0 : 1));
      },
    });
    expect(members).toHaveLength(24);
    expect(members.every(({ turns, sharedTurns = 0 }) => turns.length === sharedTurns + 1)).toBe(true);
    expect(asked[0]).toBe(4);
    expect(begunWith(members, 'b')).toBeGreaterThan(0);
    expect(begunWith(members, 'a')).toBe(0);
  });

  test('finds it by itself, once an end was reached', async () => {
    const long = { ...options, iterations: 30 };
    const members = await play(mctsExplorer(long), 4, { world: fromEnvironment(fork) });
    expect(begunWith(members, 'b')).toBeGreaterThan(begunWith(members, 'a'));
    // Ends are not gone on from, so that the search is over when there is nothing else.
    expect(members.length).toBeLessThanOrEqual(30 * 4);
  });
});
