/** Dataset files: every form is read, every mistake names its line, and what was recorded comes back as it was. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Message } from '../core/messages.ts';
import { madeCall, madeEpisode, madeTransition } from '../core/testing/made-episodes.ts';
import { episodesOfRows } from './episodes-of-rows.ts';
import { pairsOfRows } from './pairs-of-rows.ts';
import { checkRows, parseRow, readRows } from './read-rows.ts';
import { type ConversationRow, messagesOf, type Row, type RowMessage } from './row.ts';
import { RowProblem } from './row-problem.ts';
import { rowsOfEpisode } from './rows-of-episode.ts';
import { splitRows, statisticsOf } from './statistics.ts';
import { appendRows, endLine, rowLine, writeRows } from './write-rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const user = { role: 'user', content: 'which shelf has figs' };
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{"item":"figs"}' } }],
};
const result = { role: 'tool', content: 'green', tool_call_id: 'c1' };
const answer = { role: 'assistant', content: 'green' };
const write = ({ content }: Message): string => content;
const reading = { environment: 'shelves', role: 'agent', write };
const read = (value: object): Row => parseRow(JSON.stringify(value));

test('a row is read, written and read again', () => {
  const row = read({
    messages: [user, call, result, { ...answer, weight: 0 }],
    reward: 1,
    task: { fruit: 'figs' },
  });
  expect(parseRow(rowLine(row))).toEqual(row);
  expect(row.messages[1]).toMatchObject({
    toolCalls: [{ id: 'c1', name: 'find', arguments: { item: 'figs' } }],
  });
  const [group] = episodesOfRows([row], reading).groups;
  expect(group!.members[0]).toMatchObject({ outcome: { agent: 1 }, success: { agent: true } });
  // The answer that is only shown is no turn, and is not learned.
  expect(group!.members[0]!.calls.map(({ trainable }) => trainable)).toEqual(['other-model', 'left-out']);
  expect(group!.members[0]!.transitions).toHaveLength(1);
});

test.each<[string, object, readonly string[]]>([
  ['prompt and completion as text', { prompt: 'hi', completion: 'there' }, ['user hi', 'assistant there']],
  [
    'prompt and completion as messages',
    { prompt: [user], completion: [answer] },
    ['user which shelf has figs', 'assistant green'],
  ],
  [
    'pairs after a prompt',
    { prompt: 'hi', chosen: 'good', rejected: 'bad' },
    ['user hi', 'assistant good', 'assistant bad'],
  ],
  [
    'pairs with their prompt in both',
    { chosen: [user, answer], rejected: [user, { role: 'assistant', content: 'red' }] },
    ['user which shelf has figs', 'assistant green', 'assistant red'],
  ],
  [
    'ShareGPT',
    {
      conversations: [
        { from: 'human', value: 'hi' },
        { from: 'gpt', value: 'there' },
      ],
    },
    ['user hi', 'assistant there'],
  ],
])('TRL, ShareGPT: %s', (_name, value, said) => {
  expect(messagesOf(read(value)).map(({ role, content }) => `${role} ${content}`)).toEqual(said);
});

test('Hermes writes calls and results as tags, the older ones in Python’s quotes', () => {
  const { messages } = read({
    conversations: [
      { from: 'human', value: 'figs?' },
      {
        from: 'gpt',
        value:
          "<think>\nask\n</think>\n<tool_call>\n{'name': 'find', 'arguments': {'item': 'figs'}}\n</tool_call>",
      },
      { from: 'tool', value: '<tool_response>\ngreen\n</tool_response>' },
    ],
  });
  expect(messages[1]).toEqual({
    role: 'assistant',
    content: '',
    reasoning: 'ask',
    toolCalls: [{ id: 'call_1_0', name: 'find', arguments: { item: 'figs' } }],
  });
  expect(messages[2]).toEqual({ role: 'tool', content: 'green' });
});

test('a judged completion is a reward; the two ways of a pair are a group of 1 and 0', () => {
  expect(read({ prompt: 'hi', completion: 'no', label: false })).toMatchObject({ reward: 0, success: false });
  const pair = read({ prompt: 'hi', chosen: 'good', rejected: 'bad' });
  const [group] = episodesOfRows([pair], reading).groups;
  expect(group!.members.map(({ outcome }) => outcome.agent)).toEqual([1, 0]);
  expect(group!.members.map(({ calls }) => calls.at(-1)!.text)).toEqual(['good', 'bad']);
});

test.each<[object | string, string, string]>([
  ['{"messages": [', '', 'one JSON object'],
  [
    { messages: [{ role: 'robot', content: 'x' }] },
    'messages[0].role',
    'system, developer, user, assistant, tool',
  ],
  [{ messages: [{ role: 'user', content: 3 }] }, 'messages[0].content', 'text'],
  [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0]', 'no images'],
  [{ messages: [{ ...answer, weight: 2 }] }, 'messages[0].weight', '0 or 1'],
  [{ messages: [{ ...user, reward: 1 }] }, 'messages[0].reward', 'assistant messages only'],
  [
    { messages: [user, { ...call, tool_calls: [{ function: { name: 'f', arguments: '{' } }] }] },
    'messages[1].tool_calls[0].function.arguments',
    'JSON',
  ],
  [{ messages: [] }, 'messages', 'at least one message'],
  [{ text: 'x' }, '', 'messages; chosen and rejected'],
  [{ v: 2, messages: [user] }, 'v', '1'],
  [{ messages: [user], tokens: { ids: [1], sampled: [[0, 2]] } }, 'tokens.sampled[0]', 'within 1 ids'],
])('%j is refused', (value, path, allowed) => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  expect(() => parseRow(text)).toThrow(RowProblem);
  try {
    parseRow(text);
  } catch (error) {
    expect((error as RowProblem).path).toBe(path);
    expect((error as RowProblem).allowed).toContain(allowed);
  }
});

test('a bad line names itself, all of them are listed, and nothing is half-written', () => {
  const file = join(folder, 'bad.jsonl');
  writeFileSync(file, `${JSON.stringify({ messages: [user, answer] })}\n\n{"messages":"x"}\n{"v":1}\n`);
  expect(() => readRows(file)).toThrow(
    `${file}, line 3: messages cannot be used. Seen: "x". Allowed: a list of messages. Correct the line, or leave it out; turnwise data check ${file} lists all of them.`,
  );
  expect(checkRows(file).errors.map(({ fields }) => fields.line)).toEqual([3, 4]);
  const nowhere = join(folder, 'none', 'out.jsonl');
  expect(() => writeRows(nowhere, [])).toThrow(expect.objectContaining({ code: 'disk-failed' }));
  expect(existsSync(nowhere)).toBe(false);
});

test('a line that a killed process left unfinished is cut off before more is appended', () => {
  const file = join(folder, 'cut.jsonl');
  const row = read({ messages: [user, answer] });
  writeFileSync(file, `${rowLine(row)}\n{"v":1,"messages":[{"ro`);
  endLine(file);
  appendRows(file, [row]);
  expect(readRows(file).map(({ line }) => line)).toEqual([1, 2]);
  writeFileSync(file, rowLine(row));
  endLine(file);
  expect(readFileSync(file, 'utf8').endsWith('\n')).toBe(true);
});

const first = madeCall(0, [5, 6], {
  context: Int32Array.of(1, 2),
  messages: [{ role: 'user', content: 'a' }],
  text: 'one',
});
const second = madeCall(1, [8], {
  parent: 0,
  context: Int32Array.of(7),
  messages: [{ role: 'user', content: 'b' }],
  text: 'two',
});

test('recorded ids come back for the same tokenizer, and for no other', () => {
  const episode = madeEpisode(0, [first, second], [madeTransition(0), madeTransition(1)]);
  const [row, ...more] = rowsOfEpisode(episode, episode, { kind: 'eval', tokenizer: 'same' });
  expect(more).toEqual([]);
  const again = parseRow(rowLine(row!)) as ConversationRow;
  const calls = (tokenizer: string) => {
    const { groups, exact } = episodesOfRows([again], { ...reading, tokenizer });
    expect(exact.size).toBe(tokenizer === 'same' ? 1 : 0);
    return groups[0]!.members[0]!.calls.map(({ context, ids }) => [[...context], [...ids]]);
  };
  expect(calls('same')).toEqual([
    [
      [1, 2],
      [5, 6],
    ],
    [[7], [8]],
  ]);
  expect(calls('other')).toEqual([
    [[], []],
    [[], []],
  ]);
});

test('a rewritten history is a row of its own, and each answer is learned once', () => {
  const rewritten = madeCall(2, [9], {
    parent: 1,
    kept: 1,
    newPath: 'rewritten',
    messages: [{ role: 'user', content: 'c' }],
    parts: [{ role: 'user', content: 'short' }, { call: 0 }, { role: 'user', content: 'c' }],
    text: 'three',
  });
  const episode = madeEpisode(
    0,
    [first, second, rewritten],
    [madeTransition(0), madeTransition(1), madeTransition(2)],
  );
  const rows = rowsOfEpisode(episode, episode, { kind: 'run' });
  expect(
    rows.map(({ messages }) =>
      messages.map(({ content, weight }) => `${content}${weight === 0 ? ' (shown)' : ''}`),
    ),
  ).toEqual([
    ['a', 'one', 'b', 'two'],
    ['short', 'one (shown)', 'c', 'three'],
  ]);
  // Both are one episode again.
  const { groups } = episodesOfRows(
    rows.map((row) => parseRow(rowLine(row))),
    reading,
  );
  expect(groups).toHaveLength(1);
  expect(groups[0]!.members).toHaveLength(1);
  expect(groups[0]!.members[0]!.transitions.map(({ action }) => action)).toEqual(['one', 'two', 'three']);
});

test('a division keeps rows of one opening together, and is the same in a larger file', () => {
  const rows = Array.from({ length: 60 }, (_, index) =>
    read({ messages: [{ role: 'user', content: `task ${index % 30}` }, answer] }),
  );
  const { kept, heldOut } = splitRows(rows, 0.3, 1);
  expect(kept.length + heldOut.length).toBe(60);
  expect(heldOut.length).toBeGreaterThan(6);
  const opening = ({ messages }: Row): string => messages[0]!.content;
  const held = new Set(heldOut.map(opening));
  expect(kept.some((row) => held.has(opening(row)))).toBe(false);
  expect(splitRows(rows.slice(0, 20), 0.3, 1).heldOut).toEqual(
    heldOut.filter((row) => rows.indexOf(row) < 20),
  );
  expect(statisticsOf(rows)).toMatchObject({ rows: 60, tasks: 30, answers: 60, rewarded: 0 });
});

const taught = (top: object) => ({
  messages: [user, answer],
  tokens: { tokenizer: 'hash', ids: [1, 2, 3, 4], sampled: [[2, 4]], logprobs: [-1, -2], top },
});

test('a teacher’s likeliest tokens are read, written, and stand with the calls that they are of', () => {
  const row = read(
    taught({ by: 'large', k: 2, ids: [3, 9, 4, 8], logprobs: [-0.1, -3, -0.2, -2.5] }),
  ) as ConversationRow;
  expect(parseRow(rowLine(row))).toEqual(row);
  const of = (tokenizer: string) => episodesOfRows([row], { ...reading, tokenizer });
  const [call] = of('hash').groups[0]!.members[0]!.calls;
  expect([...call!.top!.ids]).toEqual([3, 9, 4, 8]);
  expect(call!.top!.logprobs[3]).toBeCloseTo(-2.5, 6);
  // In the words of another model they mean nothing.
  expect(of('other').groups[0]!.members[0]!.calls[0]!.top).toBeUndefined();
});

test.each<[object, string]>([
  [{ ids: [3, 4], logprobs: [-1, -1] }, 'tokens.top.k'],
  [{ k: 2, ids: [3, 9, 4], logprobs: [-1, -1, -1, -1] }, 'tokens.top.ids'],
  [{ k: 1, ids: [3, 4], logprobs: [-1] }, 'tokens.top.logprobs'],
  [{ k: 1, ids: [3, -4], logprobs: [-1, -1] }, 'tokens.top.ids[1]'],
  [{ k: 1, ids: [3, 4], logprobs: [0.5, -1] }, 'tokens.top.logprobs'],
])('likeliest tokens %j cannot be used: %s', (top, path) => {
  expect(() => read(taught(top))).toThrow(RowProblem);
  try {
    read(taught(top));
  } catch (problem) {
    expect((problem as RowProblem).path).toBe(path);
  }
});

test('pairs are made of conversations that begin alike: the best with the worst, and so on inwards', () => {
  const said = (content: string, reward: number, asked = user) =>
    read({ messages: [asked, { role: 'assistant', content }], reward });
  const rows = [
    ...[said('b', 0.5), said('a', 1), said('d', 0), said('c', 0.25), said('e', 0.4)],
    ...[said('alone', 1, { ...user, content: 'else' }), said('x', 1, { ...user, content: 'equal' })],
    said('y', 1, { ...user, content: 'equal' }),
  ];
  const pairs = pairsOfRows(rows);
  expect(pairs.map(({ chosen, rejected }) => [chosen[0]!.content, rejected[0]!.content])).toEqual([
    ['a', 'd'],
    ['b', 'c'],
  ]);
  expect(pairs[0]!.messages).toEqual([user]);
  expect(parseRow(rowLine(pairs[0]!))).toEqual(pairs[0]);
  expect(pairsOfRows(pairs)).toEqual(pairs);
});
test('pairs of beginnings have as many answers on both sides, and differ', () => {
  const row = (reward: number, ...answers: readonly string[]): ConversationRow => ({
    v: 1,
    messages: [
      { role: 'user', content: 'go' },
      ...answers.flatMap((content): RowMessage[] => [
        { role: 'assistant', content },
        { role: 'user', content: `after ${content}` },
      ]),
    ],
    reward,
    source: { kind: 'file' },
  });
  const pairs = pairsOfRows([row(1, 'a', 'b', 'c'), row(0, 'a', 'x', 'y', 'z')], { beginnings: true });
  const answers = (messages: readonly RowMessage[]): string =>
    messages.flatMap(({ role, content }) => (role === 'assistant' ? content : [])).join('');
  expect(pairs.map(({ chosen, rejected }) => [answers(chosen), answers(rejected)])).toEqual([
    ['ab', 'ax'],
    ['abc', 'axyz'],
  ]);
  expect(pairs[0]!.chosen.at(-1)).toMatchObject({ role: 'assistant' });
});
