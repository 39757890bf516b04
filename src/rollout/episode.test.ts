import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Episode } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import { user } from '../core/messages.ts';
import { promptOf, samplesOfTrajectory } from '../core/sample.ts';
import { byPolicy, madeKey, trajectoryOf } from '../core/testing/made-episodes.ts';
import { defineEnvironment, type Environment } from '../env/environment.ts';
import { fromEnvironment } from '../env/from-environment.ts';
import type { Session } from '../env/session.ts';
import type { World } from '../env/world.ts';
import { wordRenderer } from '../model/chat/renderer.ts';
import { WordTokenizer } from '../model/tokenizer/word-tokenizer.ts';
import type { CompletionRequest, Policy } from '../policy/policy.ts';
import { fullContext, latestContext } from './context/contexts.ts';
import { type EpisodeOptions, runEpisode } from './episode.ts';
import { turnRules } from './turns/turn-control.ts';
import { turnsRegistry, untilVoid } from './turns/turn-controls.ts';
import { unwatched } from './watch.ts';

const counter = (parts: Partial<Environment<Json, { at: number }>> = {}): World =>
  fromEnvironment(
    defineEnvironment<Json, { at: number }>({
      name: 'counter',
      description: 'say up three times',
      maxTurns: 10,
      tasks: () => ({ size: 1, at: () => null }),
      start: () => ({ state: { at: 0 }, messages: [user('at 0')] }),
      step: ({ at }, action) => {
        const next = action === 'up' ? at + 1 : at;
        const done = next === 3;
        return {
          state: { at: next },
          observation: `at ${next}`,
          reward: done ? 1 : -0.25,
          done,
          success: done,
          valid: action === 'up' || action === 'stay',
        };
      },
      ...parts,
    }),
  );

const tokenizer = WordTokenizer.fromTexts(['at 0 1 2 3 up stay']);
const renderer = wordRenderer(tokenizer, 1);

/** Says the given words in order, over and over, and remembers every prompt it saw. */
function sayer(words: readonly string[]): Policy & { readonly requests: CompletionRequest[] } {
  const requests: CompletionRequest[] = [];
  return {
    author: byPolicy('sayer', 7),
    requests,
    complete: async (request) => {
      const text = words[requests.length % words.length]!;
      requests.push(request);
      const ids = tokenizer.encode(text);
      return {
        ids: Int32Array.from(ids),
        logprobs: Float32Array.from(ids, () => -0.5),
        text,
        finish: 'length',
        by: byPolicy('sayer', 7),
        trainable: true,
      };
    },
  };
}

const options = (world: World, policy: Policy, more: Partial<EpisodeOptions> = {}): EpisodeOptions => ({
  world,
  policy,
  renderer,
  context: fullContext,
  sampling: { temperature: 1, topP: 1, topK: 0 },
  maxTurns: 10,
  contextLength: 100,
  turnTimeoutMs: 50,
  seed: 1,
  signal: new AbortController().signal,
  watch: unwatched,
  ...more,
});

const play = (world: World, policy: Policy, more: Partial<EpisodeOptions> = {}): Promise<Episode> =>
  runEpisode({ key: madeKey(), task: null }, options(world, policy, more));

const rewardsOf = ({ transitions }: Episode): unknown[] => transitions.map(({ rewards }) => rewards.agent);

test('an episode ends at a void turn where it is told to, with what was paid until then', async () => {
  const words = ['up', 'dance', 'up', 'up'];
  const turns = turnRules(untilVoid.create(), { step: 1, memory: null, seed: 1, usual: 10 });
  const stopping = { turns };
  const on = await play(counter(), sayer(words));
  expect(on).toMatchObject({ stop: 'done', success: { agent: true }, outcome: { agent: 0.25 } });
  const stopped = await play(counter(), sayer(words), stopping);
  expect(stopped).toMatchObject({
    stop: 'invalid-action',
    success: { agent: false },
    outcome: { agent: -0.5 },
  });
  expect(stopped.transitions.map(({ valid }) => valid)).toEqual([true, false]);
  // A script's mistake is no void turn, and the environment's own end is its end.
  const scripted = { ...sayer(words) };
  const complete: Policy['complete'] = async (request) => ({
    ...(await scripted.complete(request)),
    trainable: 'scripted',
  });
  expect(await play(counter(), { ...scripted, complete }, stopping)).toMatchObject({
    stop: 'done',
  });
  const ends = counter({
    step: () => ({ state: { at: 0 }, observation: 'over', reward: 0, done: true, valid: false }),
  });
  expect(await play(ends, sayer(['dance']), stopping)).toMatchObject({ stop: 'done' });
});

test('a task that is opened again has not succeeded until it does so in its latest attempt', async () => {
  const control = turnsRegistry.find('two-attempts').create({});
  const turns = turnRules(control, { step: 1, memory: control.start(), seed: 1, usual: 3 });
  const twice = (words: readonly string[], maxTurns: number): Promise<Episode> =>
    play(counter(), sayer(words), { turns, maxTurns });
  const unfinished = await twice(['up', 'up', 'up', 'stay', 'up', 'up'], 6);
  expect(unfinished).toMatchObject({ stop: 'turn-limit', success: { agent: false } });
  expect(unfinished.transitions.map(({ attempt = 0 }) => attempt)).toEqual([0, 0, 0, 1, 1, 1]);
  expect(await twice(['up'], 6)).toMatchObject({ stop: 'done', success: { agent: true } });
});

test('an agent with a name reads it once, before anything else', async () => {
  const policy = sayer(['up']);
  const episode = await play(counter(), policy, { names: { agent: 'agent2' } });
  expect(episode.calls.map(({ messages }) => messages[0]!.content)).toEqual(['agent2 at 0', 'at 1', 'at 2']);
  expect(policy.requests.at(-1)!.messages[0]!.content).toBe('agent2 at 0');
  expect(episode.transitions[0]!.anchor).toBe((await play(counter(), sayer(['up']))).transitions[0]!.anchor);
});

test('an episode records calls, transitions, rewards, who played and the reason it ended', async () => {
  const episode = await play(counter(), sayer(['up', 'stay', 'up', 'up']));
  expect(episode).toMatchObject({
    stop: 'done',
    success: { agent: true },
    outcome: { agent: 0.25 },
    seats: { agent: { player: 'sayer', version: 7 } },
  });
  expect(rewardsOf(episode)).toEqual([-0.25, -0.25, -0.25, 1]);
  expect(episode.calls.map(({ by }) => by.version)).toEqual([7, 7, 7, 7]);
  expect(episode.calls.map(({ id, parent }) => [id, parent])).toEqual([
    [0, undefined],
    [1, 0],
    [2, 1],
    [3, 2],
  ]);
  expect(episode.transitions.map(({ call }) => call)).toEqual([0, 1, 2, 3]);
  expect(episode.closing).toEqual({ agent: [user('at 3')] });
  expect(episode.calls[1]!.messages).toEqual([user('at 1')]);
});

test('an action that is not valid is marked, and the episode goes on', async () => {
  const episode = await play(counter(), sayer(['3', 'up', 'up', 'up']));
  expect(episode.transitions.map(({ valid }) => valid)).toEqual([false, true, true, true]);
  expect(episode.stop).toBe('done');
});

test('limits end an episode with their own reasons', async () => {
  expect((await play(counter(), sayer(['stay']), { maxTurns: 4 })).stop).toBe('turn-limit');
  expect((await play(counter(), sayer(['stay']), { contextLength: 8 })).stop).toBe('context-overflow');
});

test('an environment that throws is a failure with an origin, not a reward', async () => {
  const throwing = counter({
    step: () => {
      throw new Error('the lake has melted');
    },
  });
  const episode = await play(throwing, sayer(['up']));
  expect(episode).toMatchObject({ stop: 'failed:environment', outcome: { agent: 0 }, transitions: [] });
  // What the policy wrote is kept; it led to nothing.
  expect(episode.calls.map(({ text }) => text)).toEqual(['up']);
  expect(episode.failure).toMatchInlineSnapshot(`"stepping 1/0/0 turn 0: the lake has melted"`);
});

test('rewards that are not finite, and states that are not JSON, fail where they are born', async () => {
  const bad = (step: Partial<{ reward: number; state: { at: number } }>): World =>
    counter({
      step: () => ({ state: { at: 1 }, observation: 'at 1', reward: 0, done: false, valid: true, ...step }),
    });
  const infinite = await play(bad({ reward: Number.POSITIVE_INFINITY }), sayer(['up']));
  expect(infinite.stop).toBe('failed:environment');
  expect(infinite.failure).toContain('Infinity');
  const date = await play(bad({ state: { at: new Date() as unknown as number } }), sayer(['up']));
  expect(date.stop).toBe('failed:environment');
  expect(date.failure).toContain('$.at');
});

test('a step that never answers ends as a timeout and is told to stop', async () => {
  let told = false;
  const hanging: World = {
    ...counter(),
    open: async (task, rng) => {
      const session = await counter().open(task, rng);
      const hung: Session = {
        roles: session.roles,
        toMove: () => 'agent',
        observe: () => [user('at 0')],
        anchor: () => '0',
        step: (_action, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              told = true;
            });
          }),
        close: () => session.close(),
      };
      return hung;
    },
  };
  const episode = await play(hanging, sayer(['up']));
  expect(episode.stop).toBe('timeout');
  expect(episode.failure).toMatchInlineSnapshot(`"stepping 1/0/0 turn 0 took longer than 50 ms"`);
  expect(told).toBe(true);
});

test('Ctrl-C ends episodes as cancelled', async () => {
  const controller = new AbortController();
  controller.abort();
  expect((await play(counter(), sayer(['up']), { signal: controller.signal })).stop).toBe('cancelled');
});

test('members of a group share a random start, and nothing else of chance', async () => {
  const world = counter({
    start: (_task, rng) => ({ state: { at: 0 }, messages: [user(`at ${rng.next()}`)] }),
    step: ({ at }, _action, rng) => ({
      state: { at },
      observation: `at ${rng.next()}`,
      reward: 0,
      done: false,
      valid: true,
    }),
  });
  const [first, second] = await Promise.all(
    [0, 1].map((member) =>
      runEpisode({ key: madeKey({ member }), task: null }, options(world, sayer(['up']), { maxTurns: 2 })),
    ),
  );
  const shown = ({ calls }: Episode): string[] => calls.map(({ messages }) => messages[0]!.content);
  expect(shown(first!)[0]).toBe(shown(second!)[0]);
  expect(shown(first!)[1]).not.toBe(shown(second!)[1]);
});

const words = fc.array(fc.constantFrom('up', 'stay', '3'), { minLength: 1, maxLength: 8 });

test('property: masks are 1 exactly on sampled tokens, and samples are what the policy saw', async () => {
  await fc.assert(
    fc.asyncProperty(words, fc.boolean(), async (script, remember) => {
      const policy = sayer(script);
      const episode = await play(counter(), policy, { context: remember ? fullContext : latestContext });
      const samples = samplesOfTrajectory(trajectoryOf(episode));
      const sampledTokens = episode.calls.flatMap(({ ids }) => [...ids]);
      const marked = samples.flatMap(({ ids_T, mask_T }) => [...ids_T].filter((_, t) => mask_T[t] === 1));
      expect(marked).toEqual(sampledTokens);
      // Up to each completion, a sample is exactly the prompt that was sent.
      expect(policy.requests).toHaveLength(episode.calls.length);
      let before: number[] = [];
      for (const [index, { keep, append }] of policy.requests.entries()) {
        const promptIds = [...before.slice(0, keep), ...append];
        before = [...promptIds, ...episode.calls[index]!.ids];
        const sample = samples.find(({ turn_T }) => turn_T.includes(index))!;
        const begins = sample.turn_T.indexOf(index);
        expect([...sample.ids_T.slice(0, begins)]).toEqual(promptIds);
        expect(sample.ids_T[begins]).toBe(episode.calls[index]!.ids[0]);
        expect([...promptOf(episode.calls[index]!, episode.calls)]).toEqual(promptIds);
      }
      expect(samples).toHaveLength(remember ? 1 : episode.calls.length);
    }),
    { numRuns: 60 },
  );
});
