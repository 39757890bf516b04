/** Rows as tables and other tools write them: null is nothing, what repeats itself is read once, and the rest names itself. */

import { expect, test } from 'vitest';
import { parseRow } from './read-rows.ts';
import { messagesOf, type Row } from './row.ts';
import { RowProblem } from './row-problem.ts';

const user = { role: 'user', content: 'hi' };
const good = { role: 'assistant', content: 'good' };
const bad = { role: 'assistant', content: 'bad' };
const read = (value: object): Row => parseRow(JSON.stringify(value));

const SOURCE = { kind: 'eval', by: 'gpt', episode: { step: 0, task: 1, group: 1, member: 0 } };

test('null is nothing, wherever it stands', () => {
  const row = { messages: [user, good], source: SOURCE };
  const filled = {
    ...{ v: null, task: null, reward: null, success: null, tools: null, chosen: null, rejected: null },
    messages: [{ ...user, weight: null, tool_calls: null }, good],
    tokens: { tokenizer: null, ids: null, sampled: null, top: { k: null } },
    source: { ...SOURCE, run: null, environment: null, split: null, role: null, turns: null, stop: null },
  };
  expect(read(filled)).toEqual(read(row));
  for (const source of [null, {}, { kind: null, episode: null }])
    expect(read({ ...row, source }).source).toEqual({ kind: 'file' });
  const empty = { step: null, task: null, group: null, member: null };
  for (const episode of [null, empty])
    expect(read({ ...row, source: { ...SOURCE, episode } }).source).toEqual({ kind: 'eval', by: 'gpt' });
  const tokens = { ids: [1, 2], sampled: [[1, 2]], tokenizer: null, logprobs: null, top: null };
  expect(read({ ...row, tokens })).toMatchObject({ tokens: { logprobs: Float32Array.of(0) } });
});

test.each<[object, string]>([
  [{ source: { ...SOURCE, stop: 3 } }, 'source.stop'],
  [{ source: { ...SOURCE, role: ['X'] } }, 'source.role'],
  [{ source: { ...SOURCE, turns: [0.5] } }, 'source.turns'],
  [{ source: { ...SOURCE, episode: { step: 0, task: [], group: 0, member: 0 } } }, 'source.episode.task'],
  [{ source: { ...SOURCE, episode: { step: 0, task: 0, group: 0, member: null } } }, 'source.episode.member'],
  [{ reward: 'NaN' }, 'reward'],
  [{ reward: 'Infinity' }, 'reward'],
  [{ tokens: { ids: [1], sampled: [[0, 1]], logprobs: ['x'] } }, 'tokens.logprobs[0]'],
])('%j names what is wrong', (more, path) => {
  const text = JSON.stringify({ messages: [user, good], ...more });
  expect(() => parseRow(text)).toThrow(RowProblem);
  expect(() => parseRow(text)).toThrow(expect.objectContaining({ path }));
});

const system = { role: 'system', content: 'be kind' };

test.each<[string, object, readonly string[]]>([
  ['a text', { prompt: 'hi' }, ['hi']],
  ['messages', { prompt: [user] }, ['hi']],
  ['the whole better way', { prompt: 'hi', messages: [user, good] }, ['hi']],
  ['messages with a system that the ways leave out', { prompt: [system, user] }, ['be kind', 'hi']],
])('a prompt that both ways repeat is read once: %s', (_name, before, shown) => {
  const pair = read({ ...before, chosen: [user, good], rejected: [user, bad] });
  expect(pair.messages.map(({ content }) => content)).toEqual(shown);
  expect(messagesOf(pair).map(({ content }) => content)).toEqual([...shown, 'good', 'bad']);
});

test('ways that begin with a system before the prompt keep it, and ways that repeat nothing go on from the prompt', () => {
  const whole = read({ prompt: 'hi', chosen: [system, user, good], rejected: [system, user, bad] });
  expect(messagesOf(whole).map(({ content }) => content)).toEqual(['be kind', 'hi', 'good', 'bad']);
  const turns = { chosen: [good, user, good], rejected: [bad, user, bad] };
  expect(read({ prompt: 'hi', ...turns })).toMatchObject({ messages: [user], ...turns });
});
