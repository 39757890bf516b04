/** Contexts of methods in the literature, written as a user would write them, and what becomes of their calls. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Call, Part } from '../../core/episode.ts';
import { type Message, user } from '../../core/messages.ts';
import { promptOf } from '../../core/sample.ts';
import { roleGroups } from '../../core/trajectory.ts';
import { expectExact, play, player, renderer, tokenizer } from './searching.test-helper.ts';
import { type Conversation, defineContext, type View } from './strategy.ts';
import { summary } from './summary.ts';

// DeepMiner: keep W tool results, fold S at a time.
const slidingWindow = defineContext({
  name: 'sliding-window',
  summary: 'the latest results; earlier ones are left out',
  options: z.strictObject({ window: z.int().default(3), fold: z.int().default(2) }),
  start: () => ({ folded: 0 }),
  window(view) {
    const { window, fold } = view.options;
    const isResult = ({ content }: Message) => /^r\d/.test(content);
    const results = [...view.calls.flatMap((call) => call.messages), ...view.fresh].filter(isResult).length;
    let { folded } = view.state;
    if (results - folded > window) folded += fold;
    let seen = 0;
    const shown = (messages: readonly Message[]): Part[] =>
      messages.map((one) => (isResult(one) && seen++ < folded ? user('omitted') : one));
    const parts = [
      ...view.calls.flatMap((call): Part[] => [...shown(call.messages), { call: call.id }]),
      ...shown(view.fresh),
    ];
    return { conversation: { parts }, state: { folded } };
  },
});

test('a sliding window of 3 that folds 2 shows 1, 2, 3, 2, 3, 2, 3 results', async () => {
  const { policy, requests, read } = player();
  const episode = await play(slidingWindow, {}, policy);
  const unfolded = read().map((prompt) => prompt.split(' ').filter((word) => /^r\d/.test(word)).length);
  expect(unfolded).toEqual([0, 1, 2, 3, 2, 3, 2, 3]);
  // Where something is folded, the prompt goes on from the tokens before it: here of the whole first call.
  expect(episode.calls.map(({ parent, kept, newPath }) => [parent, kept, newPath])).toEqual([
    [undefined, undefined, undefined],
    [0, undefined, undefined],
    [1, undefined, undefined],
    [2, undefined, undefined],
    [0, undefined, undefined],
    [4, undefined, undefined],
    [5, 12, 'window'],
    [6, undefined, undefined],
  ]);
  // question <act> search <end> | omitted <act> search <end> | omitted <act> …
  expect(read()[4]).toBe(
    'question <act> search <end> omitted <act> search <end> omitted <act> search <end> r3 <act> search <end> r4 <act>',
  );
  expectExact(episode, episode, requests);
});

// SUPO: threshold L, at most S summaries.
type Supo = { from: number; written: number; summary: number | null };
const supo = defineContext({
  name: 'supo',
  summary: 'summaries',
  options: z.strictObject({ threshold: z.int(), summaries: z.int() }),
  start: (): Supo => ({ from: 0, written: 0, summary: null }),
  async window(view, ask) {
    const { threshold, summaries } = view.options;
    const { from, written, summary: latest } = view.state;
    const first = view.calls[0];
    const head: Part[] =
      first === undefined || latest === null ? [] : [{ shown: first.id }, { call: latest }];
    const acts = view.calls.filter((call) => call.purpose === 'act' && call.id >= from);
    const parts: Part[] = [...head, ...acts.flatMap(({ id }): Part[] => [{ shown: id }, { call: id }])];
    const whole = { parts: [...parts, ...view.fresh] };
    if (view.tokens(whole) < threshold) return { conversation: whole, state: view.state };
    if (written >= summaries || first === undefined || acts.length === 0) return { stop: 'context-overflow' };
    const call = await ask('summarize', { parts: [...parts, user('summarize what mattered')] });
    return {
      conversation: { parts: [{ shown: first.id }, { call: call.id }, ...view.fresh] },
      state: { from: call.id + 1, written: written + 1, summary: call.id },
    };
  },
});

/** Two tokens for every message and act: `question <act> search <end> r1 <act>`: 4·turn + 2 tokens before each turn. */
const summarizing = (): ReturnType<typeof player> =>
  player(({ messages }) => (messages.at(-1)!.content.startsWith('summarize') ? 'what was found' : undefined));

test.each([
  ['of a user', supo, {}],
  ['built in', summary, { instruction: 'summarize what mattered' }],
])(
  'summaries, %s: asked before the prompt has 14 tokens, spliced token for token',
  async (_, strategy, more) => {
    const { policy, requests, read } = summarizing();
    const episode = await play(strategy, { threshold: 14, summaries: 3, ...more }, policy);
    expect(episode).toMatchObject({ stop: 'done', outcome: { agent: 1 } });
    expect(episode.calls.map(({ purpose }) => purpose)).toEqual([
      'act',
      'act',
      'act',
      'summarize',
      'act',
      'act',
      'summarize',
      'act',
      'act',
      'summarize',
      'act',
    ]);
    expect(read()[3]).toBe(
      'question <act> search <end> r1 <act> search <end> r2 <act> search <end> summarize what mattered <act>',
    );
    expect(read()[4]).toBe('question <act> what was found <end> r3 <act>');
    const [, , , asked, act] = episode.calls as readonly Call[];
    expect(asked).toMatchObject({ parent: 2, messages: [], trainable: true, text: 'what was found' });
    expect(asked).not.toHaveProperty('newPath');
    expect(asked!.parts).toEqual([
      ...[0, 1, 2].flatMap((id) => [{ shown: id }, { call: id }]),
      user('summarize what mattered'),
    ]);
    expect(act).toMatchObject({
      parent: 3,
      kept: 2,
      newPath: 'window',
      parts: [{ shown: 0 }, { call: 3 }, { shown: 4 }],
      messages: [user('r3')],
    });
    expectExact(episode, episode, requests);
    // A summary is learned with the act after it.
    const [group] = roleGroups([{ step: 1, group: 0, members: [episode] }]);
    expect(group!.members[0]!.turns.map(({ calls }) => calls.map(({ id }) => id))).toEqual([
      [0],
      [1],
      [2],
      [3, 4],
      [5],
      [6, 7],
      [8],
      [9, 10],
    ]);
  },
);

test.each([
  // Half of the context: acts and summaries may be longer than the other half.
  [24, [0, 0, 1, 1, 1, 1, 1]],
  [40, [0, 0, 0, 0, 1, 0, 0]],
  // There is room for all seven turns.
  [200, [0, 0, 0, 0, 0, 0, 0]],
])(
  'a threshold over what the model has room for is lowered: %d tokens, summaries before turns %j',
  async (contextLength, before) => {
    const { policy, requests } = summarizing();
    const options = { threshold: 1024, instruction: 'summarize what mattered' };
    const episode = await play(summary, options, policy, { contextLength });
    expect(episode.stop).toBe('done');
    expectExact(episode, episode, requests);
    const asked = episode.calls.flatMap(({ purpose }, index) =>
      purpose === 'act' ? [episode.calls[index - 1]?.purpose === 'summarize' ? 1 : 0] : [],
    );
    expect(asked.slice(1)).toEqual(before);
  },
);

test('after its last summary an episode overflows; untrained summaries are left out of the loss', async () => {
  const { policy, requests } = summarizing();
  const options = { threshold: 14, summaries: 1, instruction: 'summarize what mattered' };
  const episode = await play(summary, options, policy, { trained: false });
  expect(episode).toMatchObject({ stop: 'context-overflow' });
  expect(episode).not.toHaveProperty('failure');
  expect(episode.calls.map(({ purpose, trainable }) => [purpose, trainable])).toEqual([
    ['act', true],
    ['act', true],
    ['act', true],
    ['summarize', 'left-out'],
    ['act', true],
    ['act', true],
  ]);
  expectExact(episode, episode, requests);
});

test('a summary that is cut by its limit is used as it is', async () => {
  const { policy } = player(({ messages }) =>
    messages.at(-1)!.content.startsWith('summarize') ? 'what was found what was found what' : undefined,
  );
  const options = { threshold: 14, summaries: 3, instruction: 'summarize' };
  const { calls } = await play(summary, options, policy);
  expect(calls[3]!.ids).toHaveLength(7);
  expect(calls[3]!.ids.at(-1)).not.toBe(renderer.stopIds[0]);
  expect(tokenizer.decode([...promptOf(calls[4]!, calls)])).toBe(
    'question <act> what was found what was found what r3 <act>',
  );
});

// MEM1: the question, the last completion and what it brought.
const mem1 = defineContext({
  name: 'mem1',
  summary: 'the latest state',
  options: z.strictObject({ note: z.boolean().default(true) }),
  start: () => null,
  window(view) {
    const [first, last, left] = [view.calls[0], view.calls.at(-1), view.limit - view.turn];
    const note = view.options.note ? [user(left <= 1 ? 'now' : `${left} left`)] : [];
    const parts: Part[] =
      first && last ? [{ shown: first.id }, { call: last.id }, ...note, ...view.fresh] : [...view.fresh];
    return { conversation: { parts }, state: null };
  },
});

test('the latest state and how many turns are left', async () => {
  const { policy, requests, read } = player();
  const episode = await play(mem1, {}, policy);
  expect(read().slice(0, 3)).toEqual([
    'question <act>',
    'question <act> search <end> <unk> left r1 <act>',
    'question <act> search <end> <unk> left r2 <act>',
  ]);
  expect(read().at(-1)).toBe('question <act> search <end> 5 left r7 <act>');
  expect(episode.calls.slice(1).map(({ parts }) => parts)).toEqual(
    episode.calls
      .slice(1)
      .map(({ id }) => [{ shown: 0 }, { call: id - 1 }, user(`${12 - id} left`), { shown: id }]),
  );
  expectExact(episode, episode, requests);
});

// MemTool: search and remove belong to the strategy.
const own = {
  name: 'load',
  description: '',
  parameters: { type: 'object', properties: { names: { type: 'string' } } },
} as const;
const memTool = defineContext({
  name: 'mem-tool',
  summary: 'tools that are loaded',
  options: z.strictObject({ cap: z.int().default(1) }),
  start: (): { loaded: readonly string[] } => ({ loaded: [] }),
  window: (view) => ({
    conversation: {
      parts: [...view.calls.flatMap(({ id }): Part[] => [{ shown: id }, { call: id }]), ...view.fresh],
      tools: [own],
    },
    state: view.state,
  }),
  answer(call, view: View<{ cap: number }, { loaded: readonly string[] }>) {
    const [use] = call.reply?.toolCalls ?? [];
    if (use?.name !== 'load') return undefined;
    const loaded = [...view.state.loaded, String(use.arguments.names)];
    const full = loaded.length > view.options.cap;
    return {
      messages: [{ role: 'tool', content: full ? 'left' : 'found' }],
      state: full ? view.state : { loaded },
    };
  },
});

test('a strategy answers its own tools without a step of the environment, and the answer is read next', async () => {
  const said = ['<call> load names: x', '<call> load names: y'];
  const { policy, requests, read } = player((_, at) => said[at]);
  const episode = await play(memTool, {}, policy);
  expect(read().slice(0, 3)).toEqual([
    'question <act>',
    'question <act> <call> load names: x <end> found <act>',
    'question <act> <call> load names: x <end> found <act> <call> load names: y <end> left <act>',
  ]);
  expect(episode.transitions.map(({ call }) => call)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  expect(episode.calls[0]).toMatchObject({ tools: 'tools-0', reply: { toolCalls: [{ name: 'load' }] } });
  expect(episode.tools).toEqual({ 'tools-0': [own] });
  expect(episode.calls[1]!.messages).toEqual([{ role: 'tool', content: 'found' }]);
  // What was answered joins the next act of the conversation.
  const [group] = roleGroups([{ step: 1, group: 0, members: [episode] }]);
  expect(group!.members[0]!.turns[0]!.calls.map(({ id }) => id)).toEqual([0, 1, 2]);
  expectExact(episode, episode, requests);
  const always = player(() => '<call> load names: x');
  expect(await play(memTool, {}, always.policy)).toMatchObject({ stop: 'turn-limit', transitions: [] });
  expect(always.requests).toHaveLength(12);
});

test('a conversation goes on from what its latest call read, whatever was left out, and the record says it', async () => {
  const window = (view: View<object, null>): { conversation: Conversation; state: null } => {
    const [first, second] = view.calls;
    // The third call forgets the first turn; those after it go on from there, the fifth with tools of its own.
    const forgetful = [{ shown: second?.id ?? 0 }, { call: second?.id ?? 0 }, ...view.fresh];
    const tools = view.calls.length === 4 ? { tools: [{ name: 'x', description: '', parameters: {} }] } : {};
    if (first === undefined) return { conversation: { parts: view.fresh }, state: null };
    if (view.calls.length === 2) return { conversation: { parts: forgetful }, state: null };
    return { conversation: { goesOn: true, parts: view.fresh, ...tools }, state: null };
  };
  const options = z.strictObject({});
  const { policy, requests, read } = player();
  const episode = await play(
    defineContext({ name: 'forgetful', summary: '', options, start: () => null, window }),
    {},
    policy,
  );
  expect(read()[3]).toBe('r1 <act> search <end> r2 <act> search <end> r3 <act>');
  expect(episode.calls.map(({ parent, newPath }) => [parent, newPath])).toEqual([
    [undefined, undefined],
    [0, undefined],
    [undefined, 'window'],
    ...[2, 3, 4, 5, 6].map((parent) => [parent, undefined]),
  ]);
  expect(episode.calls[3]!.parts).toBeUndefined();
  expect(episode.calls[4]!.parts?.map((part) => ('call' in part ? part.call : 'shown' in part))).toEqual([
    ...[false, 1, false, 2, false, 3, true],
  ]);
  expectExact(episode, episode, requests);
});
