/** Environments of tools: what each call of the author's code may do to an episode, and that teardown always comes. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Episode } from '../../core/episode.ts';
import { Rng } from '../../core/rng.ts';
import { noIds } from '../../model/chat/renderer.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { unwatched } from '../../rollout/watch.ts';
import type { WorldFactory } from '../factory.ts';
import { playEpisode } from '../play.ts';
import { defineTool } from '../tool.ts';
import { answerAction, toolAction } from '../tool-protocol.ts';
import type { World } from '../world.ts';
import { defineTools, type ToolEpisode, type ToolsDefinition } from './define-tools.ts';

interface Task {
  readonly word: string;
}

interface Shelf {
  readonly word: string;
  open: boolean;
}

const look = defineTool({
  name: 'look',
  description: 'Look at the shelf.',
  parameters: z.object({ at: z.string(), times: z.int().optional() }),
  run: async ({ at, times = 1 }, shelf: Shelf, signal) => {
    await sleep(1, undefined, { signal });
    return at === 'shelf' ? Array<string>(times).fill(shelf.word).join(' ') : 'nothing';
  },
});

/** Contexts that are open, by whom they were opened for. */
const shelves = new Set<Shelf>();

const definition: ToolsDefinition<Task, Shelf> = {
  name: 'shelf',
  description: 'Say the word on the shelf.',
  maxTurns: 3,
  tasks: [{ word: 'red' }, { word: 'blue' }, { word: 'green' }],
  tools: [look],
  async setup({ word }, signal) {
    await sleep(1, undefined, { signal });
    const shelf = { word, open: true };
    shelves.add(shelf);
    return shelf;
  },
  prompt: () => 'which word',
  score: ({ task, answer, calls }) => ({
    reward: answer === task.word ? 1 : 0,
    metrics: { looks: calls.length },
  }),
  teardown(shelf) {
    shelf.open = false;
    shelves.delete(shelf);
  },
  solve: ({ calls }) =>
    calls.length === 0 ? { tool: 'look', arguments: { at: 'shelf' } } : { answer: calls.at(-1)!.result },
  moves: () => [{ tool: 'look', arguments: { at: 'floor' } }, { answer: 'grey' }],
};

const create = (
  parts: Partial<ToolsDefinition<Task, Shelf>> = {},
  wording: 'compact' | 'natural' = 'compact',
): World => defineTools<Task, Shelf>({ ...definition, ...parts }).create({ wording });

const TIMEOUT_MS = 40;

const play = (world: World): Promise<Episode> =>
  runEpisode(
    {
      key: { step: 1, environment: world.name, split: 'train', task: 0, group: 0, member: 0 },
      task: { word: 'red' },
    },
    {
      world,
      policy: scriptedPolicy(world, { player: () => 'expert', randomRate: 0 }),
      renderer: noIds,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: world.maxTurns,
      contextLength: 100,
      turnTimeoutMs: TIMEOUT_MS,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );

test('an episode: calls, an answer, a score with metrics', async () => {
  const episode = await play(create());
  expect(episode.calls.map(({ text }) => text)).toEqual(['<call> look at: shelf', 'red']);
  expect(episode.calls[1]!.messages).toEqual([{ role: 'tool', content: 'red' }]);
  expect(
    episode.transitions.map(({ rewards, metrics, valid, facts }) => [rewards.agent, metrics, valid, facts]),
  ).toEqual([
    [0, undefined, true, { calls: [{ name: 'look', arguments: { at: 'shelf' } }] }],
    [1, { looks: 1 }, true, { calls: [] }],
  ]);
  expect([episode.stop, episode.outcome, episode.success]).toEqual(['done', { agent: 1 }, { agent: true }]);
  expect(shelves.size).toBe(0);
});

test('both wordings read calls in words and as JSON; each writes its own', () => {
  const call = toolAction('look', { at: 'the shelf', times: 2 });
  for (const wording of ['compact', 'natural'] as const) {
    const { protocol } = create({}, wording);
    const read = (text: string) => protocol.parse(text);
    expect(read('<tool_call>{"name":"look","arguments":{"at":"the shelf","times":2}}</tool_call>')).toEqual({
      ok: true,
      action: call,
    });
    expect(read(protocol.format(call))).toEqual({ ok: true, action: call });
    expect(read(' red ')).toEqual({ ok: true, action: answerAction('red') });
    expect(protocol.format(answerAction('red'))).toBe('red');
    expect(read('').ok).toBe(false);
    expect(read('<tool_call>{"name":"lok"}</tool_call>')).toMatchObject({ ok: false });
  }
  const { protocol } = create();
  expect(protocol.format(call)).toBe('<call> look at: the shelf times: 2');
  for (const text of [
    '<call> lok',
    '<call> look at: a <call> look at: b',
    '<call> look',
    '<call> look at: a times: x',
  ]) {
    expect([text, protocol.parse(text).ok]).toEqual([text, false]);
  }
});

test('a tool may end the episode, and then words are no answer', async () => {
  const submit = defineTool({
    name: 'submit',
    description: 'Submit the word.',
    parameters: z.object({ word: z.string() }),
    ends: true,
    run: ({ word }, shelf: Shelf) => (word === shelf.word ? 'right' : 'wrong'),
  });
  const score = ({ calls }: ToolEpisode<Task>) => ({
    reward: calls.at(-1)?.result === 'right' ? 2 : -1,
    success: true,
  });
  const solve = () => ({ tool: 'submit', arguments: { word: 'red' } });
  const world = create({ tools: [look, submit], score, solve });
  expect(world.protocol.parse('red').ok).toBe(false);
  const played = await playEpisode(world, { word: 'red' }, 1, 'expert');
  expect([played.turns.length, played.outcome, played.success, played.closing]).toEqual([
    1,
    2,
    true,
    [{ role: 'tool', content: 'right' }],
  ]);
});

test('the last turn is scored too, and what is no call costs a turn', async () => {
  const world = create();
  const played = await playEpisode(world, { word: 'red' }, 1, () => 'nonsense');
  expect(played.turns.map(({ valid, done }) => [valid, done])).toEqual([
    [false, false],
    [false, false],
    [false, true],
  ]);
  expect(played.turns.at(-1)!.metrics).toEqual({ looks: 0 });
  await expect(playEpisode(world, { word: 'red' }, 1, () => '')).resolves.toMatchObject({
    done: true,
    success: false,
  });
});

test('places of an episode are told apart by what led there', async () => {
  const world = create();
  const open = () => world.open({ word: 'red' }, Rng.of(1));
  const [one, other] = [await open(), await open()];
  const { signal } = new AbortController();
  const start = one.anchor('agent');
  expect(other.anchor('agent')).toBe(start);
  await one.step(toolAction('look', { at: 'shelf' }), signal);
  expect(one.anchor('agent')).not.toBe(start);
  await other.step('nonsense', signal);
  expect(other.anchor('agent')).toBe(start);
  await Promise.all([one.close(), other.close(), one.close()]);
});

const never = () => new Promise<never>(() => {});
const boom = () => {
  throw new Error('boom');
};
const later = () => sleep(TIMEOUT_MS * 2);

describe('faults end their episode, and teardown still comes', () => {
  test.each<[string, Partial<ToolsDefinition<Task, Shelf>>, string]>([
    ['setup throws', { setup: boom }, 'failed:environment: opening shelf: boom'],
    ['setup never settles', { setup: never }, 'timeout: opening shelf took longer than 40 ms'],
    ['prompt throws', { prompt: boom }, 'failed:environment: opening shelf: boom'],
    ['prompt never settles', { prompt: never }, 'timeout: opening shelf took longer than 40 ms'],
    [
      'prompt is a number',
      { prompt: (() => 7) as never },
      'failed:environment: opening shelf: "shelf" returned no list of messages',
    ],
    [
      'a tool throws',
      { tools: [{ ...look, run: boom }] },
      'failed:tool: stepping EPISODE turn 0: Tool "look" failed. Seen: boom.',
    ],
    [
      'a tool throws something hostile',
      { tools: [{ ...look, run: () => Promise.reject({ toString: 1 }) }] },
      'failed:tool: stepping EPISODE turn 0: Tool "look" failed',
    ],
    [
      'a tool never settles',
      { tools: [{ ...look, run: never }] },
      'timeout: stepping EPISODE turn 0 took longer',
    ],
    [
      'a tool returns no text',
      { tools: [{ ...look, run: (async () => 7) as never }] },
      'failed:tool: stepping EPISODE turn 0: Tool "look" returned no text. Seen: 7',
    ],
    ['score throws', { score: boom }, 'failed:grader: stepping EPISODE turn 1: score() failed. Seen: boom.'],
    [
      'score is not finite',
      { score: () => ({ reward: Number.NaN }) },
      'failed:grader: stepping EPISODE turn 1: score() failed. Seen: "shelf" returned a reward that is not a finite number',
    ],
    [
      'score is nothing',
      { score: (() => undefined) as never },
      'failed:grader: stepping EPISODE turn 1: score() failed. Seen: score() returned no score',
    ],
    ['a success is no boolean', { score: (() => ({ reward: 1, success: 'yes' })) as never }, 'failed:grader'],
    [
      'metrics are no numbers',
      { score: (() => ({ reward: 1, metrics: { a: 'b' } })) as never },
      'failed:grader: stepping EPISODE turn 1: score() failed. Seen: score() returned an invalid value',
    ],
    ['score never settles', { score: never }, 'timeout: stepping EPISODE turn 1 took longer'],
    [
      'teardown throws',
      {
        teardown: (shelf) => {
          shelves.delete(shelf);
          boom();
        },
      },
      'done',
    ],
    [
      'teardown never settles',
      {
        teardown: (shelf) => {
          shelves.delete(shelf);
          return never();
        },
      },
      'done',
    ],
  ])('%s', async (_, parts, expected) => {
    const { stop, failure } = await play(create(parts));
    const said =
      failure === undefined
        ? stop
        : `${stop}: ${failure.replaceAll('1/shelf/train/0/0/0', 'EPISODE').replace(/stepping \S+ turn/, 'stepping EPISODE turn')}`;
    expect(said.slice(0, expected.length)).toBe(expected);
    expect(shelves.size).toBe(0);
  });

  test('what setup makes too late is torn down, and setup was told', async () => {
    let told = false;
    const setup: typeof definition.setup = async (task, signal, rng) => {
      signal.addEventListener('abort', () => {
        told = true;
      });
      await later();
      return definition.setup(task, new AbortController().signal, rng);
    };
    expect((await play(create({ setup }))).stop).toBe('timeout');
    expect(told).toBe(true);
    await expect.poll(() => shelves.size).toBe(0);
  });

  test('a tool that is out of time is told', async () => {
    let told = false;
    const run = (_: unknown, __: Shelf, signal?: AbortSignal) => {
      signal!.addEventListener('abort', () => {
        told = true;
      });
      return never();
    };
    expect((await play(create({ tools: [{ ...look, run }] }))).stop).toBe('timeout');
    expect(told).toBe(true);
    expect(shelves.size).toBe(0);
  });
});

test('definitions that cannot work are refused', () => {
  const refused = (parts: Partial<ToolsDefinition<Task, Shelf>>) => {
    try {
      create(parts);
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };
  expect([
    refused({ name: 'A b' }),
    refused({ maxTurns: 0 }),
    refused({ tools: [look, look] }),
  ]).toMatchInlineSnapshot(`
    [
      "An environment of tools cannot be used because of its name. Seen: "A b". Allowed: lower-case letters, digits and hyphens. See docs/write-an-environment.md.",
      "An environment of tools cannot be used because of maxTurns. Seen: 0. Allowed: a whole number, at least 1. See docs/write-an-environment.md.",
      "An environment of tools cannot be used because of two tools of one name. Seen: "look". Allowed: tools of different names. See docs/write-an-environment.md.",
    ]
  `);
});

test('types are inferred, and what is no JSON is refused', () => {
  const world = defineTools({
    name: 'inferred',
    description: '',
    maxTurns: 1,
    tasks: [{ word: 'red' }],
    tools: [look],
    setup: (task) => {
      expectTypeOf(task).toEqualTypeOf<{ word: string }>();
      return { word: task.word, open: true };
    },
    prompt: ({ word }, { open }) => `${word} ${open}`,
    score: ({ task, answer = '' }, shelf) => {
      expectTypeOf(shelf).toEqualTypeOf<Shelf>();
      return { reward: answer === task.word ? 1 : 0 };
    },
  });
  expectTypeOf(world).toExtend<WorldFactory>();
  expect(world.options.parse({})).toEqual({ wording: 'natural' });
  const wrong = (): void => {
    // @ts-expect-error a Date is no task
    defineTools<Date, Shelf>;
    // @ts-expect-error a score has a reward
    create({ score: () => ({ success: true }) });
    const other = defineTool({
      name: 'other',
      description: '',
      parameters: z.object({}),
      run: (_, shelf: { none: 1 }) => String(shelf.none),
    });
    // @ts-expect-error the tool works on something else
    create({ tools: [other] });
    // @ts-expect-error moves name a tool or an answer
    create({ solve: () => ({ say: 'red' }) });
  };
  expectTypeOf(wrong).toBeFunction();
});
