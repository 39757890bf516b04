/** States of contexts go with kept places: a branch goes on from the state, the calls and the tokens of where it began. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { user } from '../../core/messages.ts';
import { promptOf, samplesOf } from '../../core/sample.ts';
import { byPolicy } from '../../core/testing/made-episodes.ts';
import { chainOf } from '../../core/trajectory.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { fullTreeExplorer } from '../explore/full-tree.ts';
import { playTrees } from '../explore/play-trees.ts';
import { unwatched } from '../watch.ts';
import { defineContext } from './strategy.ts';

const tokenizer = WordTokenizer.fromTexts(['ask a b note 0 1 2 3 4']);
const renderer = wordRenderer(tokenizer, 2);

const counting = fromEnvironment(
  defineEnvironment<null, { at: number }>({
    name: 'counting',
    description: '',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { at: 0 }, messages: [user('0')] }),
    step: ({ at }) => ({
      state: { at: at + 1 },
      observation: `${at + 1}`,
      reward: 1,
      done: at === 2,
      success: at === 2,
      valid: true,
    }),
  }),
);

/** Asks for a note before each act, and keeps the latest two; what it changes in its own state must not be seen elsewhere. */
const notes = defineContext({
  name: 'notes',
  summary: '',
  options: z.strictObject({}),
  start: (): { notes: number[] } => ({ notes: [] }),
  async window({ fresh, state }, ask) {
    const before = state.notes.slice(-2).map((call) => ({ call }));
    const { id } = await ask('note', { parts: [...before, ...fresh, user('ask')] });
    state.notes.push(id);
    return { conversation: { parts: [...before, { call: id }, ...fresh] }, state };
  },
});

test('every leaf of a full tree reads the notes of its own way, and each of its tokens is trained once', async () => {
  const promptOfSeed = new Map<string, readonly number[]>();
  const held = new Map<string, readonly number[]>();
  const policy: Policy = {
    author: byPolicy('learner', 1),
    complete: async (request) => {
      const before = held.get(request.conversation) ?? [];
      expect(request.keep).toBeLessThanOrEqual(before.length);
      const promptIds = [...before.slice(0, request.keep), ...request.append];
      promptOfSeed.set(request.seedKey, promptIds);
      const text = request.messages.at(-1)!.content === 'ask' ? 'note' : 'a';
      const ids = Int32Array.from(renderer.completionIds(text));
      held.set(request.conversation, [...promptIds, ...ids]);
      return {
        ids,
        logprobs: Float32Array.from(ids, () => -1),
        text,
        finish: 'stop',
        by: byPolicy('learner', 1),
        trainable: true,
      };
    },
  };
  const [group] = await playTrees([{ step: 1, group: 0, split: 'train', index: 0, task: null, members: 8 }], {
    world: counting,
    policy,
    renderer,
    context: notes.create(),
    sampling: { temperature: 1, topP: 1, topK: 0 },
    maxTurns: 3,
    contextLength: 100,
    turnTimeoutMs: 1000,
    seed: 1,
    signal: new AbortController().signal,
    watch: unwatched,
    batching: new Lockstep(),
    concurrency: 8,
    explorer: fullTreeExplorer({ width: 2 }),
  });
  const { members } = group!;
  expect(members.map(({ stop, failure }) => [stop, failure])).toEqual(new Array(8).fill(['done', undefined]));
  expect(members.filter(({ branchedFrom }) => branchedFrom)).toHaveLength(6);
  for (const member of members) {
    const { calls } = chainOf(group!, member);
    expect(calls.map(({ id, purpose }) => [id, purpose])).toEqual([
      [0, 'note'],
      [1, 'act'],
      [2, 'note'],
      [3, 'act'],
      [4, 'note'],
      [5, 'act'],
    ]);
    // note note, then what is new: the notes of this way alone.
    const last = tokenizer.decode([...promptOf(calls[5]!, calls)]);
    expect(last).toBe('<act> note <end> <act> note <end> <act> note <end> 2 <act>');
  }
  const prompts = new Set([...promptOfSeed.values()].map((ids) => tokenizer.decode([...ids])));
  expect(prompts.size).toBe(6);
  for (const { episode, mask_T, call_T } of samplesOf(group!, 'learner')) {
    expect([episode.group, mask_T.filter((one) => one === 1).length]).toEqual([
      0,
      call_T.filter((call) => call >= 0).length,
    ]);
  }
  const masked = members.map((member) => {
    const rows = samplesOf(group!, 'learner').filter(({ episode }) => episode.member === member.key.member);
    return rows.flatMap(({ call_T }) => [...call_T.filter((call) => call >= 0)]).sort();
  });
  for (const calls of masked) expect(calls).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
});
