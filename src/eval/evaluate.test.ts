import { describe, expect, test } from 'vitest';
import type { Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { user } from '../core/messages.ts';
import type { StopReason } from '../core/stop.ts';
import {
  madeCall,
  madeEpisode,
  madeGroup,
  madeTransition,
  playedEpisode,
} from '../core/testing/made-episodes.ts';
import { defineEnvironment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { fullContext } from '../rollout/context/contexts.ts';
import { unwatched } from '../rollout/watch.ts';
import { type Evaluation, evaluate, summarise } from './evaluate.ts';

const played = (outcome: number, stop: StopReason = 'done', turns = 2): Group =>
  madeGroup(
    playedEpisode(
      0,
      Array.from({ length: turns }, () => ({ reward: outcome / turns })),
      { stop },
    ),
  );

describe('a summary', () => {
  test('has the mean, its interval, and Wilson’s interval of success', () => {
    const result = summarise([played(1), played(1), played(0), played(0)]);
    expect(result).toMatchObject({ episodes: 4, success: 0.5, return: 0.5, turns: 2, stops: { done: 4 } });
    // 1.96 · sqrt((1/3) / 4) around the mean.
    expect(result.returnInterval).toEqual([expect.closeTo(-0.0658, 4), expect.closeTo(1.0658, 4)]);
    expect(result.successInterval).toEqual([expect.closeTo(0.15, 3), expect.closeTo(0.85, 3)]);
  });

  test('counts what failed and leaves it out of every figure', () => {
    const failed = (['failed:environment', 'timeout', 'cancelled'] as const).map((stop) =>
      played(-1000, stop, 50),
    );
    expect(summarise([...failed, played(1), played(0, 'turn-limit')])).toMatchObject({
      episodes: 2,
      success: 0.5,
      // One of five.
      successOfAll: 0.2,
      return: 0.5,
      turns: 2,
      stops: { 'failed:environment': 1, timeout: 1, cancelled: 1, done: 1, 'turn-limit': 1 },
    });
  });

  test('counts an invalid action as an outcome, and success among all only where some failed', () => {
    const result = summarise([played(0, 'invalid-action'), played(1)]);
    expect(result).toMatchObject({ episodes: 2, success: 0.5, stops: { 'invalid-action': 1, done: 1 } });
    expect(result).not.toHaveProperty('successOfAll');
  });

  test('counts every role of an episode, and the turns of a branch from the start', () => {
    const root = playedEpisode(0, [{}, {}, {}]);
    const branch = madeEpisode(1, [madeCall(2, 1, { parent: 1 })], [madeTransition(2)], {
      branchedFrom: { episode: root.key, transition: 1, calls: 2 },
    });
    expect(summarise([madeGroup(root, branch)])).toMatchObject({ episodes: 2, turns: 3 });
    const duel = { ...root, outcome: { first: 1, second: -1 }, success: { first: true, second: false } };
    expect(summarise([madeGroup(duel)])).toMatchObject({ episodes: 2, success: 0.5, return: 0 });
  });

  test('of nothing is no division by zero', () => {
    expect(summarise([])).toMatchObject({
      episodes: 0,
      success: 0,
      return: 0,
      turns: 0,
      successInterval: [0, 1],
    });
  });
});

describe('which tasks are played', () => {
  /** Its return is the number of its task; one of the splits is empty. */
  const world = (size: number) =>
    fromEnvironment(
      defineEnvironment<number, number>({
        name: 'numbers',
        description: '',
        maxTurns: 1,
        tasks: (split) => ({ size: split === 'validation' ? 0 : size, at: (index) => index }),
        start: (task, rng) => ({ state: task, messages: [user(`go ${rng.next()}`)] }),
        step: (state) => ({ state, observation: '', reward: state, done: true, valid: true }),
        solve: () => 'go',
      }),
    );

  const play = (
    size: number,
    tasks: number,
    split: 'test' | 'validation' = 'test',
    step = 3,
  ): Promise<Evaluation> => {
    const numbers = world(size);
    const renderer = wordRenderer(WordTokenizer.fromTexts(['go']), 1);
    return evaluate({
      world: numbers,
      policy: scriptedPolicy(numbers, { player: () => 'expert', randomRate: 0, renderer }),
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 1,
      contextLength: 100,
      turnTimeoutMs: 1000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 4,
      split,
      tasks,
      step,
    });
  };
  const outcomes = async (size: number, tasks: number): Promise<unknown[]> =>
    (await play(size, tasks)).groups.flatMap(({ members }) => members.map(({ outcome }) => outcome.agent));

  test('the first of a large set, each once', async () => {
    expect(await outcomes(100, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(await outcomes(Number.POSITIVE_INFINITY, 3)).toEqual([0, 1, 2]);
  });

  test('a small set in whole rounds, so that every task weighs the same', async () => {
    expect(await outcomes(3, 8)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(await outcomes(3, 3)).toEqual([0, 1, 2]);
  });

  test('evaluations at different steps have the same starts, under keys of their own', async () => {
    const [early, late] = [await play(3, 6, 'test', 0), await play(3, 6, 'test', 20)];
    const starts = ({ groups }: Evaluation): unknown[] =>
      groups.flatMap(({ members }) => members.map(({ calls }) => calls[0]!.messages[0]!.content));
    expect(starts(late)).toEqual(starts(early));
    expect(new Set(starts(early)).size).toBe(6);
    const keys = ({ groups }: Evaluation): string[] =>
      groups.flatMap(({ members }) => members.map(({ key }) => keyText(key)));
    expect(keys(early).slice(0, 2)).toEqual(['test/0/0/0', 'test/0/1/0']);
    expect(keys(late).slice(0, 2)).toEqual(['test/20/0/0', 'test/20/1/0']);
  });

  test('an empty split is refused', async () => {
    await expect(play(3, 3, 'validation')).rejects.toThrow(/"numbers" has no tasks in its validation split/);
  });
});
