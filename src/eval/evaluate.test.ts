import { describe, expect, test } from 'vitest';
import { user } from '../core/messages.ts';
import type { StopReason } from '../core/stop.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { defineEnvironment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import { wordRenderer } from '../model/renderer.ts';
import { WordTokenizer } from '../model/word-tokenizer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { fullContext } from '../rollout/context.ts';
import { unwatched } from '../rollout/watchdog.ts';
import { type Evaluation, evaluate, summarise } from './evaluate.ts';

const trajectory = (outcome: number, stop: StopReason = 'done', turns = 2): Trajectory =>
  ({ outcome, success: outcome > 0, stop, turns: new Array(turns).fill({}) }) as unknown as Trajectory;

describe('a summary', () => {
  test('has the mean, its interval, and Wilson’s interval of success', () => {
    const result = summarise([trajectory(1), trajectory(1), trajectory(0), trajectory(0)]);
    expect(result).toMatchObject({ episodes: 4, success: 0.5, return: 0.5, turns: 2, stops: { done: 4 } });
    // 1.96 · sqrt((1/3) / 4) around the mean.
    expect(result.returnInterval).toEqual([expect.closeTo(-0.0658, 4), expect.closeTo(1.0658, 4)]);
    expect(result.successInterval).toEqual([expect.closeTo(0.15, 3), expect.closeTo(0.85, 3)]);
  });

  test('counts what failed and leaves it out of every figure', () => {
    const failed = (['failed:environment', 'timeout', 'cancelled'] as const).map((stop) =>
      trajectory(-1000, stop, 50),
    );
    expect(summarise([...failed, trajectory(1), trajectory(0, 'turn-limit')])).toMatchObject({
      episodes: 2,
      success: 0.5,
      return: 0.5,
      turns: 2,
      stops: { 'failed:environment': 1, timeout: 1, cancelled: 1, done: 1, 'turn-limit': 1 },
    });
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
        start: (task) => ({ state: task, messages: [user('go')] }),
        step: (state) => ({ state, observation: '', reward: state, done: true, valid: true }),
        solve: () => 'go',
      }),
    );

  const play = (size: number, tasks: number, split: 'test' | 'validation' = 'test'): Promise<Evaluation> => {
    const numbers = world(size);
    const renderer = wordRenderer(WordTokenizer.fromTexts(['go']), 1);
    return evaluate({
      world: numbers,
      policy: scriptedPolicy(numbers, { player: () => 'expert', randomRate: 0, renderer }),
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 1,
      contextLength: 10,
      turnTimeoutMs: 1000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      lockstep: new Lockstep(),
      concurrency: 4,
      split,
      tasks,
      label: 'evaluation',
    });
  };
  const played = async (size: number, tasks: number): Promise<number[]> =>
    (await play(size, tasks)).trajectories.map(({ outcome }) => outcome);

  test('the first of a large set, each once', async () => {
    expect(await played(100, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(await played(Number.POSITIVE_INFINITY, 3)).toEqual([0, 1, 2]);
  });

  test('a small set in whole rounds, so that every task weighs the same', async () => {
    expect(await played(3, 8)).toEqual([0, 1, 2, 0, 1, 2]);
    expect(await played(3, 3)).toEqual([0, 1, 2]);
  });

  test('an empty split is refused', async () => {
    await expect(play(3, 3, 'validation')).rejects.toThrow(/"numbers" has no tasks in its validation split/);
  });
});
