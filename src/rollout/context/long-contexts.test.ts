/** The built-in contexts for long episodes: what the policy reads, how often, and what is learned. */

import { expect, test } from 'vitest';
import type { Call } from '../../core/episode.ts';
import { lastTurns } from './last-turns.ts';
import { expectExact, play, player, TURNS, tokenizer } from './searching.test-helper.ts';
import { state } from './state.ts';
import type { ContextStrategy } from './strategy.ts';
import { cutText } from './tool-results.ts';
import { toolRetention } from './tool-retention.ts';
import { toolWindow } from './tool-window.ts';
import { variables } from './variables.ts';

const resultsIn = (prompt: string): string[] => prompt.split(' ').filter((word) => /^r\d/.test(word));

/** How many results each prompt has, of an episode whose every sampled token is trained where it was read. */
async function shownResults(strategy: ContextStrategy, options: object): Promise<number[]> {
  const { policy, requests, read } = player();
  const episode = await play(strategy, options, policy);
  expect(episode.stop).toBe('done');
  expectExact(episode, episode, requests);
  return read().map((prompt) => resultsIn(prompt).length);
}

/** In how many contexts each result was read anew. */
async function timesRead(strategy: ContextStrategy, options: object): Promise<number[]> {
  const { calls } = await play(strategy, options, player().policy);
  const contexts = calls.map(({ context }: Call) => resultsIn(tokenizer.decode([...context])));
  return Array.from(
    { length: TURNS },
    (_, turn) => contexts.filter((words) => words.includes(`r${turn + 1}`)).length,
  );
}

const placeholder = 'omitted';

test('tool-window with 3 results that leaves out 2 shows 1, 2, 3, 2, 3, 2, 3', async () => {
  expect(await shownResults(toolWindow, { results: 3, every: 2, placeholder })).toEqual([
    0, 1, 2, 3, 2, 3, 2, 3,
  ]);
  expect(() => toolWindow.create({ results: 2, every: 3 })).toThrow('at most `results`');
});

test('tool-retention keeps at least so many results, and leaves the others out one by one or in blocks', async () => {
  expect(await shownResults(toolRetention, { keep: 2, every: 1, placeholder })).toEqual([
    0, 1, 2, 2, 2, 2, 2, 2,
  ]);
  expect(await shownResults(toolRetention, { keep: 2, placeholder })).toEqual([0, 1, 2, 3, 2, 3, 2, 3]);
});

test('variables keeps at least so many results, one by one or in blocks; a prompt over the budget overflows', async () => {
  expect(await shownResults(variables, { keep: 2, every: 1, placeholder })).toEqual([0, 1, 2, 2, 2, 2, 2, 2]);
  expect(await shownResults(variables, { keep: 2, placeholder })).toEqual([0, 1, 2, 3, 2, 3, 2, 3]);
  const { policy } = player();
  const episode = await play(variables, { placeholder }, policy, { contextLength: 16 });
  expect(episode.stop).toBe('context-overflow');
  expect(episode).not.toHaveProperty('failure');
});

test('a longer result is cut at the side that is not kept', () => {
  expect(cutText('abcdefghij', 4, 'left')).toBe('abcd…');
  expect(cutText('abcdefghij', 4, 'right')).toBe('…ghij');
  expect(cutText('abcdefghij', 4, 'middle')).toBe('ab…ij');
  expect(cutText('a😀c', 1, 'right')).toBe('…c');
  expect(cutText('abcd', 4, 'middle')).toBe('abcd');
});

test('last-turns forgets in blocks: between cuts the prompt goes on', async () => {
  const { policy, requests, read } = player();
  const episode = await play(lastTurns, { turns: 4 }, policy);
  expectExact(episode, episode, requests);
  // The latest turns are those that were taken, and the result that is new.
  const acts = read().map((prompt) => prompt.split(' ').filter((word) => word === 'search').length);
  expect(acts).toEqual([0, 1, 2, 3, 4, 2, 3, 4]);
  expect(read().every((prompt) => prompt.startsWith('question'))).toBe(true);
  expect(episode.calls.filter(({ newPath }) => newPath === 'window')).toHaveLength(1);

  const everyTurn = player();
  await play(lastTurns, { turns: 2, every: 1 }, everyTurn.policy);
  const counted = everyTurn
    .read()
    .map((prompt) => prompt.split(' ').filter((word) => word === 'search').length);
  expect(counted).toEqual([0, 1, 2, 2, 2, 2, 2, 2]);
});

test('last-turns keeps a prompt within its tokens', async () => {
  const { policy, requests } = player();
  await play(lastTurns, { turns: 100, tokens: 20 }, policy);
  expect(Math.max(...requests.map(({ promptIds }) => promptIds.length))).toBeLessThanOrEqual(20);
});

test.each([
  ['last-turns', lastTurns, { turns: 2 }],
  ['last-turns by tokens', lastTurns, { turns: 100, tokens: 16 }],
  ['tool-window', toolWindow, { results: 3, every: 2, placeholder }],
  ['tool-retention', toolRetention, { keep: 2, placeholder }],
] as const)('%s: a result is read at most three times', async (_name, strategy, options) => {
  const times = await timesRead(strategy, options);
  expect(Math.max(...times)).toBeLessThanOrEqual(3);
  expect(Math.max(...times)).toBeGreaterThan(1);
});

const words = { instruction: 'note', act: 'now', note: false };
const writer = () => player(({ messages }) => (messages.at(-1)!.content === 'note' ? 'found' : undefined));

test('state: opening, the latest state with its act, what that brought, and the next state', async () => {
  const { policy, requests, read } = writer();
  const episode = await play(state, words, policy);
  expectExact(episode, episode, requests);
  expect(read()[0]).toBe('question <act>');
  expect(read().at(-1)).toBe(
    'question <act> found <end> now <act> search <end> r7 note <act> found <end> now <act>',
  );
  expect(episode.calls.map(({ purpose }) => purpose)).toEqual([
    'act',
    ...Array.from({ length: TURNS }, () => ['state', 'act']).flat(),
  ]);
  expect(episode.calls.every(({ trainable }) => trainable === true)).toBe(true);
  // However many turns there are.
  const lengths = requests.map(({ promptIds }) => promptIds.length);
  expect(lengths.slice(5)).toEqual(lengths.slice(3, -2));
});

test('state: what it writes may be left untrained', async () => {
  const episode = await play(state, words, writer().policy, { trained: false });
  const trained = episode.calls.filter(({ trainable }) => trainable === true);
  expect(trained.map(({ purpose }) => purpose)).toEqual(Array.from({ length: TURNS + 1 }, () => 'act'));
});
