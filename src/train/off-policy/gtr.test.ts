import { expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { trajectoryOf } from '../../core/testing/made-episodes.ts';
import { actOf } from '../../core/trajectory.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import type { World } from '../../env/world.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { unwatched } from '../../rollout/watch.ts';
import { playCorrected } from './gtr.ts';
import { correctedThought } from './thoughts.ts';

/** Counts up to 3; what is to be thought is where it stands. */
const counter = defineEnvironment<number, number>({
  name: 'counter',
  description: 'count up',
  maxTurns: 9,
  tasks: () => ({ size: 1, at: () => 0 }),
  start: (state) => ({ state, messages: [user(`at ${state}`)] }),
  step: (state, action) => ({
    state: state + 1,
    observation: `at ${state + 1}`,
    reward: 0,
    done: state === 2,
    valid: action === 'up',
  }),
  solve: () => 'up',
  correctThought: (state) => `now ${state}`,
});

/** The policy thinks that it is at 1, wherever it is. */
async function play(world: World) {
  const renderer = wordRenderer(WordTokenizer.fromTexts(['at now 0 1 2 3 <action> up </action>']), 3);
  const stuck = { ...world, correctThought: () => 'now 1' };
  const [group] = await playCorrected(
    [{ step: 1, group: 0, split: 'train', index: 0, task: 0, members: 2 }],
    {
      world,
      policy: scriptedPolicy(stuck, { player: () => 'expert', randomRate: 0, renderer }),
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 9,
      contextLength: 100,
      turnTimeoutMs: 20,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 2,
    },
  );
  return group!.members;
}

test('every thought is corrected in the state in which it was thought, and a right one is left alone', async () => {
  const members = await play(fromEnvironment(counter));
  for (const episode of members) {
    const { turns } = trajectoryOf(episode);
    expect(turns.map((turn) => [actOf(turn)!.text, correctedThought(turn)])).toEqual([
      ['now 1 <action> up </action>', 'now 0'],
      ['now 1 <action> up </action>', undefined],
      ['now 1 <action> up </action>', 'now 2'],
    ]);
  }
});

test('a corrector that is given beside the environment reads the conversation and may answer later', async () => {
  const seen: string[] = [];
  const [episode] = await play({
    ...fromEnvironment(counter),
    correctThought: async ({ messages, thought }) => {
      seen.push(`${messages.length} ${thought}`);
      return thought.toUpperCase();
    },
  });
  expect(seen.slice(0, 2)).toEqual(['1 now 1', '1 now 1']);
  expect(seen.at(-1)).toBe('5 now 1');
  expect(correctedThought(trajectoryOf(episode!).turns[0]!)).toBe('NOW 1');
});

test('a corrector that fails or never answers ends the episode, which teaches nothing then', async () => {
  const failing = await play({
    ...fromEnvironment(counter),
    correctThought: () => {
      throw new Error('no tokens left');
    },
  });
  expect(failing.map(({ stop, failure }) => [stop, failure])).toEqual([
    ['failed:grader', 'correcting 1/0/0 turn 0: no tokens left'],
    ['failed:grader', 'correcting 1/0/1 turn 0: no tokens left'],
  ]);
  const hanging = await play({ ...fromEnvironment(counter), correctThought: () => new Promise(() => {}) });
  expect(hanging.map(({ stop }) => stop)).toEqual(['timeout', 'timeout']);
});
