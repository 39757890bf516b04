/** Turn limits in a mix of worlds: each part has its own usual limit, for the loop, for the context and for the control. */

import { expect, test } from 'vitest';
import type { Episode } from '../../core/episode.ts';
import { user } from '../../core/messages.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import { mixWorlds } from '../../env/mix/mix-worlds.ts';
import { wordRenderer } from '../../model/chat/renderer.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { Policy } from '../../policy/policy.ts';
import { contextRegistry } from '../context/contexts.ts';
import { runEpisode } from '../episode.ts';
import { unwatched } from '../watch.ts';
import { turnRules } from './turn-control.ts';
import { turnsRegistry } from './turn-controls.ts';
import { controlledLimit } from './turn-limit.ts';

/** Won by `yes`; anything else goes on. */
const asking = (name: string, maxTurns: number) =>
  fromEnvironment(
    defineEnvironment<null, null>({
      name,
      description: '',
      maxTurns,
      tasks: () => ({ size: 1, at: () => null }),
      start: () => ({ state: null, messages: [user('ask')] }),
      step: (_state, action) => ({
        ...{ state: null, observation: 'ask', reward: action === 'yes' ? 1 : 0, valid: true },
        ...{ done: action === 'yes', success: action === 'yes' },
      }),
    }),
  );

const USUAL = 6;
const mixed = mixWorlds([
  { name: 'one', world: asking('one', 1), weight: 1 },
  { name: 'three', world: asking('three', 3), weight: 1 },
  { name: 'six', world: asking('six', USUAL), weight: 1 },
]);

const renderer = wordRenderer(
  WordTokenizer.fromTexts([
    'yes no ask is wrong there may be a mistake last turn left now act down all that',
  ]),
  6,
);

const context = contextRegistry.find('full').create({});

interface Played {
  readonly part: 'one' | 'three' | 'six';
  readonly turns: string;
  readonly options?: object;
  readonly says: (turn: number) => string;
  readonly context?: typeof context;
  /** Of the group. */
  readonly maxTurns?: number;
}

async function play({ part, turns: name, options = {}, says, maxTurns, ...more }: Played): Promise<Episode> {
  let turn = 0;
  const policy: Policy = {
    author: byPolicy('learner', 1),
    complete: async () => {
      const text = says(turn++);
      const ids = Int32Array.from(renderer.completionIds(text));
      const by = byPolicy('learner', 1);
      return { ids, logprobs: new Float32Array(ids.length), text, finish: 'stop', by, trainable: true };
    },
  };
  const rules = turnRules(turnsRegistry.find(name).create(options), {
    ...{ step: 1, memory: null, seed: 1, usual: USUAL },
  });
  const [key, task] = [madeKey(), { environment: part, task: null }];
  return runEpisode(
    { key, task, ...(maxTurns !== undefined && { maxTurns }) },
    {
      ...{
        world: mixed,
        policy,
        renderer,
        context,
        turns: rules,
        seed: 1,
        turnTimeoutMs: 500,
        contextLength: 400,
      },
      ...more,
      maxTurns: maxTurns ?? controlledLimit(rules, key, task)!,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

const attempts = ({ transitions }: Episode): number[] => {
  const counts: number[] = [];
  for (const { attempt = 0 } of transitions) counts[attempt] = (counts[attempt] ?? 0) + 1;
  return counts;
};

test('an attempt has the usual turns of its part, the last one too', async () => {
  const lost = (part: Played['part'], turns: string, options: object = {}) =>
    play({ part, turns, options, says: () => 'no' });
  const one = await lost('one', 'retry', { attempts: 3 });
  expect([attempts(one), one.stop, one.limit]).toEqual([[1, 1, 1], 'turn-limit', 3]);
  expect(attempts(await lost('three', 'two-attempts'))).toEqual([3, 3]);
  expect(attempts(await lost('six', 'two-attempts'))).toEqual([6, 6]);
  // A first attempt that ends early leaves the second no more turns.
  const early = await play({
    part: 'six',
    turns: 'two-attempts',
    says: (turn) => (turn === 0 ? 'yes' : 'no'),
  });
  expect([attempts(early), early.stop, early.success]).toEqual([[1, 6], 'turn-limit', { agent: false }]);
});

test('a right answer is tried again where there are turns for it, and else stays right', async () => {
  const right = { turns: 'two-attempts', says: () => 'yes' } as const;
  const twice = await play({ ...right, part: 'one' });
  expect([attempts(twice), twice.stop, twice.outcome]).toEqual([[1, 1], 'done', { agent: 2 }]);
  const once = await play({ ...right, part: 'one', maxTurns: 1 });
  expect([attempts(once), once.stop, once.success]).toEqual([[1], 'done', { agent: true }]);
});

test('a context is told of the turns that there are', async () => {
  const state = contextRegistry.find('state').create({});
  const { calls, stop } = await play({ part: 'three', turns: 'usual', says: () => 'no', context: state });
  const told = calls.flatMap(({ parts = [] }) =>
    parts.flatMap((part) => ('content' in part && part.content.includes('turn') ? [part.content] : [])),
  );
  expect([...new Set(told)]).toEqual(['2 turns are left.', 'This is the last turn.']);
  expect(stop).toBe('turn-limit');
});

test('a control with a limit of its own has it in every part', async () => {
  const options = { limits: [2, 5], every: 9 };
  const long = await play({ part: 'one', turns: 'scaling-inter', options, says: () => 'no' });
  expect(attempts(long)).toEqual([2]);
});
