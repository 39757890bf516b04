import { describe, expect, expectTypeOf, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { defineEnvironment } from '../environment.ts';
import { fromEnvironment } from '../from-environment.ts';
import { brokenWorldLaw } from '../laws/environment-laws.ts';
import { defineSession } from '../live/define-session.ts';
import { playEpisode } from '../play.ts';
import { tagProtocol } from '../tag-protocol.ts';
import type { World } from '../world.ts';
import { type Mix, mix } from './mix.ts';
import { mixWorlds } from './mix-worlds.ts';
import { partOf } from './part.ts';

const echo = (name: string, words: readonly string[], maxTurns = 2) =>
  defineEnvironment<string, string>({
    name,
    description: `say it, ${name}`,
    maxTurns,
    facts: ['dense', name],
    tasks: () => ({ size: words.length, at: (index) => words[index]! }),
    start: (word) => ({ state: word, messages: [user(word)] }),
    step: (word, action) => {
      const valid = words.includes(action);
      const success = action === word;
      const metrics = { tries: 1 };
      return {
        state: word,
        observation: word,
        reward: success ? 1 : 0,
        done: success,
        success,
        valid,
        metrics,
      };
    },
    actions: () => words,
    solve: (word) => word,
    truth: (word) => word,
  });

const colours = fromEnvironment(echo('colours', ['red', 'blue']));
const endless = fromEnvironment(
  {
    ...echo('numbers', ['1', '2', '3'], 5),
    tasks: () => ({ size: Number.POSITIVE_INFINITY, at: (index: number) => String(1 + (index % 3)) }),
  },
  { protocol: tagProtocol },
);
const both = mixWorlds([
  { name: 'colours', world: colours, weight: 3 },
  { name: 'numbers', world: endless, weight: 1 },
]);

describe('tasks', () => {
  const drawn = Array.from({ length: 2000 }, (_, index) => both.tasks('train').at(index)) as unknown as {
    environment: string;
    task: string;
  }[];

  test('are drawn by weight, the same for ever, others in each split', () => {
    const share = drawn.filter(({ environment }) => environment === 'colours').length / drawn.length;
    expect(Math.abs(share - 0.75)).toBeLessThan(0.04);
    expect(both.tasks('train').at(7)).toEqual(drawn[7]);
    expect(both.tasks('train').size).toBe(Number.POSITIVE_INFINITY);
    const tested = Array.from({ length: 50 }, (_, index) => both.tasks('test').at(index));
    expect(tested).not.toEqual(drawn.slice(0, 50));
  });

  test('a world without tasks in a split is left out of it', () => {
    const trainOnly = {
      ...colours,
      tasks: (split: string) => ({ size: split === 'train' ? 1 : 0, at: () => 'red' }),
    };
    const mixed = mixWorlds([
      { name: 'a', world: trainOnly, weight: 9 },
      { name: 'b', world: endless, weight: 1 },
    ]);
    expect(mixed.tasks('test').at(0)).toMatchObject({ environment: 'b' });
    expect(mixWorlds([{ name: 'a', world: trainOnly, weight: 1 }]).tasks('test').size).toBe(0);
  });
});

test('it keeps the laws, and tells what all of its worlds have', async () => {
  for (let seed = 0; seed < 30; seed++) {
    expect(await brokenWorldLaw(both, both.tasks('train').at(seed), seed)).toBeUndefined();
  }
  expect(both).toMatchObject({
    name: 'colours+numbers',
    maxTurns: 5,
    pure: true,
    snapshots: 'free',
    facts: ['dense'],
  });
  const live = defineSession({
    ...colours,
    name: 'live',
    tasks: ['red'],
    open: (task: string, rng) => colours.open(task, rng),
  });
  const { pure: _, snapshots: __, ...unheld } = live as World;
  const half = mixWorlds([
    { name: 'colours', world: colours, weight: 1 },
    { name: 'live', world: unheld, weight: 1 },
  ]);
  expect([half.pure, half.snapshots]).toEqual([undefined, undefined]);
  expect((await half.open({ environment: 'colours', task: 'red' }, Rng.of(1))).snapshot).toBeUndefined();
});

test('an episode has the action format, the turn limit and the metrics of its own world', async () => {
  const open = (environment: string, task: string) => both.open({ environment, task }, Rng.of(1));
  const number = await open('numbers', '2');
  const colour = await open('colours', 'red');
  expect([partOf(both, number), partOf(both, colour)]).toMatchObject([
    { name: 'numbers', protocol: { name: 'tags' }, maxTurns: 5 },
    { name: 'colours', protocol: { name: 'raw' }, maxTurns: 2 },
  ]);
  const { metrics } = await number.step('1', new AbortController().signal);
  expect(metrics).toEqual({ 'numbers/tries': 1 });
  const task = { environment: 'colours', task: 'red' };
  expect((await playEpisode(both, task, 1, () => 'blue')).turns).toHaveLength(2);
  expect(await playEpisode(both, task, 1, 'expert')).toMatchObject({ success: true });
  expect([both.truth!(task), both.truth!({ environment: 'numbers', task: '2' })]).toEqual([
    'red',
    '<action>2</action>',
  ]);
  expect(both.protocol.instructions).toContain('numbers: You may reason first.');
});

test('scores are those of the world of the group, which sees its own tasks', async () => {
  const scoring: World = {
    ...colours,
    scoreGroup: (episodes) => episodes.map(({ task }) => (task === 'red' ? 5 : 0)),
  };
  const mixed = mixWorlds([
    { name: 'colours', world: scoring, weight: 1 },
    { name: 'numbers', world: endless, weight: 1 },
  ]);
  const context = { signal: new AbortController().signal, ask: async () => '' };
  const score = (environment: string) =>
    mixed.scoreGroup!([{ task: { environment, task: 'red' } } as never], context);
  expect([await score('colours'), await score('numbers')]).toEqual([[5], [undefined]]);
});

test('what cannot be mixed is refused', () => {
  const failure = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };
  const several = { ...colours, roles: ['first', 'second'] };
  const agent = { ...colours, agent: {} as never };
  expect([
    failure(() => mix({})),
    failure(() => mix({ maze: 0 })),
    failure(() => mix({ maze: '3' as never })),
    failure(() =>
      mixWorlds([
        { name: 'a', world: colours, weight: 1 },
        { name: 'a', world: endless, weight: 1 },
      ]),
    ),
    failure(() =>
      mixWorlds([
        { name: 'a', world: colours, weight: 1 },
        { name: 'b', world: several, weight: 1 },
      ]),
    ),
    failure(() => mixWorlds([{ name: 'a', world: agent, weight: 1 }])),
  ]).toMatchInlineSnapshot(`
    [
      "A mix has no worlds. Seen: an empty object. Allowed: at least one world. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
      "A world of a mix has no usable weight: maze. Seen: 0. Allowed: a number above 0. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
      "A world of a mix has no usable weight: an object. Seen: undefined. Allowed: a number above 0. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
      "Two worlds of a mix have one name. Seen: a, a. Allowed: a different name for each. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
      "The worlds of a mix have different roles. Seen: first, second in b. Allowed: agent, as in a. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
      ""a" is an agent, whose own code plays its episodes. Seen: an agent. Allowed: worlds that are played turn by turn. Write it as in mix({ 'frozen-lake': 3, wordle: 1 }), or mix:frozen-lake=3,wordle=1 in a command.",
    ]
  `);
  const typed = mix({ maze: 1, mine: { world: colours, weight: 2 } }, { name: 'two' });
  expectTypeOf(typed).toEqualTypeOf<Mix>();
  expect(typed.entries).toEqual([
    { world: 'maze', weight: 1 },
    { world: colours, weight: 2, name: 'mine' },
  ]);
});
