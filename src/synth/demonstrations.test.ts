import { expect, test } from 'vitest';
import { z } from 'zod';
import { world as kuhnPoker } from '../../envs/kuhn-poker/index.ts';
import type { Call, Episode, Group } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import { user } from '../core/messages.ts';
import { promptOf } from '../core/sample.ts';
import { defineEnvironment, type Environment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import type { World } from '../env/world.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { latestContext } from '../rollout/context/contexts.ts';
import { defineContext } from '../rollout/context/strategy.ts';
import { summary } from '../rollout/context/summary.ts';
import { unwatched } from '../rollout/watch.ts';
import { type DemonstrationOptions, demonstrate, learnVocabulary } from './demonstrations.ts';
import { renderDemonstrations } from './render-calls.ts';

type Walk = { readonly start: number; readonly at: number };

/** Walk up to 3; the beginner walks down first. */
const stairs = (parts: Partial<Environment<number, Walk>> = {}): World =>
  fromEnvironment(
    defineEnvironment<number, Walk>({
      name: 'stairs',
      description: '',
      maxTurns: 6,
      tasks: () => ({ size: 3, at: (index) => index }),
      start: (start) => ({ state: { start, at: start }, messages: [user(`at:${start}`)] }),
      step: ({ start, at }, action) => {
        const next = at + (action === 'go up' ? 1 : -1);
        const done = next >= 3;
        return {
          state: { start, at: next },
          observation: `at:${next}`,
          reward: 0,
          done,
          success: done,
          valid: true,
        };
      },
      actions: () => ['go up', 'go down'],
      solve: () => 'go up',
      stumble: ({ start, at }) => (at === start ? 'go down' : 'go up'),
      ...parts,
    }),
  );

const episodesOf = (groups: readonly Group[]): Episode[] => groups.flatMap(({ members }) => members);
const callsIn = (groups: readonly Group[]): Call[] => episodesOf(groups).flatMap(({ calls }) => calls);
const lengths = (groups: readonly Group[]): number[] => episodesOf(groups).map(({ calls }) => calls.length);
/** What each role read first, episode after episode. */
const openings = (groups: readonly Group[]): string[] =>
  episodesOf(groups).flatMap(({ calls }) =>
    [...new Set(calls.map(({ role }) => role))].map(
      (role) => calls.find((call) => call.role === role)!.messages[0]!.content,
    ),
  );

const options: DemonstrationOptions = {
  demonstrations: 9,
  beginnerShare: 0,
  randomRate: 0,
  seed: 1,
  maxTurns: 6,
  turnTimeoutMs: 1000,
  signal: new AbortController().signal,
  watch: unwatched,
};

test('agents that exchange roles are shown in all of them, and else have no names', async () => {
  const poker = kuhnPoker.create({ wording: 'compact' });
  const opened = async (exchanges: boolean): Promise<string[]> => {
    const played = await demonstrate(poker, { ...options, demonstrations: 4, exchanges });
    const names = openings(played).map((words) => words.split(' ').slice(0, 2).join(' '));
    return [...new Set(names)].sort();
  };
  expect(await opened(true)).toEqual(['agent1 first', 'agent1 second', 'agent2 first', 'agent2 second']);
  for (const words of await opened(false)) expect(words).toMatch(/^(first|second) card:.$/);
});

test('the expert alone plays every task in turn, and what it writes is not sampled', async () => {
  const played = await demonstrate(stairs(), options);
  expect(lengths(played)).toEqual([3, 2, 1, 3, 2, 1, 3, 2, 1]);
  expect(episodesOf(played).every(({ success }) => success.agent)).toBe(true);
  expect(callsIn(played).every(({ trainable }) => trainable === 'scripted')).toBe(true);
});

test('beginners and random moves are mixed in, in about the shares asked for, and the same for the same seed', async () => {
  const many = { ...options, demonstrations: 300 };
  const beginners = await demonstrate(stairs(), { ...many, beginnerShare: 0.5 });
  const stumbled = episodesOf(beginners).filter(({ calls }) => calls[0]!.text === 'go down').length;
  expect(stumbled).toBeGreaterThan(105);
  expect(stumbled).toBeLessThan(195);
  const random = await demonstrate(stairs(), { ...many, randomRate: 1 });
  const texts = callsIn(random).map(({ text }) => text);
  expect(texts.filter((text) => text === 'go up').length / texts.length).toBeCloseTo(0.5, 1);
  const withoutTimes = (list: typeof random): unknown =>
    episodesOf(list).map(({ key, calls }) => [keyText(key), calls.map(({ text }) => text)]);
  expect(withoutTimes(await demonstrate(stairs(), { ...many, randomRate: 1 }))).toEqual(withoutTimes(random));
});

test('where thoughts can be told from actions, scripts write the right one before theirs', async () => {
  const thinking = stairs({ correctThought: ({ at }) => `at ${at}` });
  const first = await demonstrate(thinking, { ...options, demonstrations: 1 });
  expect(callsIn(first).map(({ text }) => text)).toEqual([
    'at 0 <action> go up </action>',
    'at 1 <action> go up </action>',
    'at 2 <action> go up </action>',
  ]);
  const { thought: _, ...protocol } = thinking.protocol;
  const plain = await demonstrate({ ...thinking, protocol }, { ...options, demonstrations: 1 });
  expect(callsIn(plain)[0]!.text).toBe('<action> go up </action>');
});

test('episodes that fail are left out', async () => {
  const brittle = stairs({
    start: (start) => {
      if (start === 1) throw new Error('a stair is missing');
      return { state: { start, at: start }, messages: [user(`at:${start}`)] };
    },
  });
  expect(lengths(await demonstrate(brittle, options))).toEqual([3, 1, 3, 1, 3, 1]);
});

test('an environment without a script is refused', async () => {
  const { script: _script, ...silent } = stairs();
  await expect(demonstrate(silent, options)).rejects.toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The environment stairs has no scripted player. Seen: a request for its expert. Give it solve() (and actions()), or start from a checkpoint instead of demonstrations.]`,
  );
});

test('the vocabulary is every word that was read or written, and a turn is as long as the longest action', async () => {
  const { tokenizer, maxActionWords } = learnVocabulary(await demonstrate(stairs(), options));
  expect(tokenizer.words.slice(4)).toEqual(['at:0', 'at:1', 'at:2', 'go', 'up']);
  expect(maxActionWords).toBe(2);
});

test('a rendered demonstration is what the policy would have seen and written', async () => {
  const demonstration = (await demonstrate(stairs(), options))[0]!;
  const { tokenizer, maxActionWords } = learnVocabulary([demonstration]);
  const renderer = wordRenderer(tokenizer, maxActionWords);
  const read = (ids: ArrayLike<number>): string => tokenizer.decode(Array.from(ids));
  const full = renderDemonstrations(demonstration, renderer);
  expect(callsIn([full]).map(({ context, ids }) => [read(context), read(ids)])).toEqual([
    ['at:0 <act>', 'go up <end>'],
    ['at:1 <act>', 'go up <end>'],
    ['at:2 <act>', 'go up <end>'],
  ]);
  expect(callsIn([full]).map(({ parent }) => parent)).toEqual([undefined, 0, 1]);
  const windowed = (await demonstrate(stairs(), { ...options, context: latestContext }))[0]!;
  const latest = renderDemonstrations(windowed, renderer);
  expect(callsIn([latest]).map(({ parent, newPath, parts }) => [parent, newPath, parts])).toEqual([
    [undefined, undefined, undefined],
    [undefined, 'window', [{ shown: 1 }]],
    [undefined, 'window', [{ shown: 2 }]],
  ]);
  expect(callsIn([latest]).map(({ context, ids }) => [read(context), read(ids)])).toEqual(
    callsIn([full]).map(({ context, ids }) => [read(context), read(ids)]),
  );
});

test('demonstrations are played under a context that asks, and rendered by what their records say', async () => {
  const context = summary.create({ threshold: 6, summaries: 2, instruction: 'sum up' });
  const [demonstration] = await demonstrate(stairs(), { ...options, demonstrations: 1, context });
  expect(callsIn([demonstration!]).map(({ purpose, text }) => [purpose, text])).toEqual([
    ['act', 'go up'],
    ['summarize', 'go up'],
    ['act', 'go up'],
    ['summarize', 'go up go up'],
    ['act', 'go up'],
  ]);
  const { tokenizer, maxActionWords } = learnVocabulary([demonstration!]);
  expect(tokenizer.words).toContain('sum');
  expect(maxActionWords).toBe(4);
  const rendered = renderDemonstrations(demonstration!, wordRenderer(tokenizer, maxActionWords));
  const read = (ids: ArrayLike<number>): string => tokenizer.decode(Array.from(ids));
  const calls = callsIn([rendered]);
  expect(calls.map((call) => [read(promptOf(call, calls)), read(call.ids)])).toEqual([
    ['at:0 <act>', 'go up <end>'],
    ['at:0 <act> go up <end> sum up <act>', 'go up <end>'],
    ['at:0 <act> go up <end> at:1 <act>', 'go up <end>'],
    ['at:0 <act> go up <end> at:1 <act> go up <end> sum up <act>', 'go up go up <end>'],
    ['at:0 <act> go up go up <end> at:2 <act>', 'go up <end>'],
  ]);
});

test('a context that asks without a script has no demonstrations', async () => {
  const context = defineContext({
    name: 'silent',
    summary: '',
    options: z.strictObject({}),
    start: () => null,
    window: async ({ fresh, state }, ask) => {
      await ask('plan', { parts: fresh });
      return { conversation: { parts: fresh }, state };
    },
  }).create();
  await expect(demonstrate(stairs(), { ...options, context })).rejects.toThrow(
    'The context asks for more than acts, and has no scripted player for it',
  );
});
