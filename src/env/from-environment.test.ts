import { describe, expect, it } from 'vitest';
import type { Json } from '../core/json/json.ts';
import { user } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import { OBSERVATION_LIMIT } from './checks.ts';
import { defineEnvironment, type Environment, type Step } from './environment.ts';
import { fromEnvironment } from './from-environment.ts';
import { rawProtocol } from './raw-protocol.ts';
import { AGENT, type Session } from './session.ts';
import { tagProtocol } from './tag-protocol.ts';

type Count = { readonly count: number; readonly drawn: readonly number[] };

/** Counts to the task by `up`; every step draws a number. */
const counter = defineEnvironment<number, Count>({
  name: 'counter',
  description: 'Count up.',
  maxTurns: 5,
  tasks: () => ({ size: 3, at: (index) => index + 1 }),
  start: (task) => ({
    state: { count: -task, drawn: [] },
    messages: [user('Count.'), user(`from ${-task}`)],
  }),
  step: ({ count, drawn }, action, rng) => {
    if (action !== 'up') {
      return { state: { count, drawn }, observation: 'what?', reward: -1, done: false, valid: false };
    }
    const state = { count: count + 1, drawn: [...drawn, rng.int(1000)] };
    const done = state.count === 0;
    return {
      state,
      observation: done ? '' : `at ${state.count}`,
      reward: 0.5,
      done,
      success: done,
      valid: true,
    };
  },
  actions: () => ['up', 'down'],
  solve: () => 'up',
});

const { signal } = new AbortController();
const open = (environment: Environment<never, never> | typeof counter, task: Json = 2): Promise<Session> =>
  fromEnvironment(environment as typeof counter).open(task, Rng.of('test'));

describe('session', () => {
  it('shows the opening, then each observation, then the closing words', async () => {
    const session = await open(counter);
    expect(session.observe(AGENT)).toEqual([user('Count.'), user('from -2')]);
    expect(await session.step('up', signal)).toEqual({
      rewards: { agent: 0.5 },
      done: false,
      success: { agent: false },
      valid: true,
    });
    expect(session.observe(AGENT)).toEqual([user('at -1')]);
    expect(session.toMove()).toBe(AGENT);
    expect(await session.step('up', signal)).toMatchObject({ done: true, success: { agent: true } });
    expect(session.toMove()).toBeUndefined();
    expect(session.observe(AGENT)).toEqual([]);
  });

  it('tells of an invalid action and charges for it', async () => {
    const session = await open(counter);
    const before = session.anchor(AGENT);
    expect(await session.step('sideways', signal)).toMatchObject({ rewards: { agent: -1 }, valid: false });
    expect(session.observe(AGENT)).toEqual([user('what?')]);
    expect(session.anchor(AGENT)).toBe(before);
  });

  it('has the canonical state as its anchor and picture, unless the author says otherwise', async () => {
    expect((await open(counter)).anchor(AGENT)).toBe('{"count":-2,"drawn":[]}');
    expect((await open(counter)).render?.()).toBe('{"count":-2,"drawn":[]}');
    const named = { ...counter, anchor: (state: Count) => `at ${state.count}` };
    expect((await open(named)).anchor(AGENT)).toBe('at -2');
  });

  it('goes on from snapshots with the same future chance, or with another', async () => {
    const session = await open(counter, 3);
    await session.step('up', signal);
    const snapshot = await session.snapshot!();
    await session.step('up', signal);
    const [twin, other] = [await snapshot.open(), await snapshot.open({ chance: Rng.of('other') })];
    expect(twin.anchor(AGENT)).not.toBe(session.anchor(AGENT));
    await twin.step('up', signal);
    await other.step('up', signal);
    expect(twin.anchor(AGENT)).toBe(session.anchor(AGENT));
    expect(other.anchor(AGENT)).not.toBe(session.anchor(AGENT));
    await twin.step('up', signal);
    expect([twin.toMove(), session.toMove()]).toEqual([undefined, AGENT]);
    expect(snapshot.cost).toBe('free');
    expect(snapshot.toJson!()).toMatchObject({ state: { count: -2 }, steps: 1, done: false });
  });

  it('refuses a step after the end, and stops when it is told to', async () => {
    const session = await open(counter, 1);
    await session.step('up', signal);
    await expect(session.step('up', signal)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: "counter" was stepped after its episode had ended. Open a new session, or one from a snapshot of before the end.]`,
    );
    await expect((await open(counter)).step('up', AbortSignal.abort(new Error('enough')))).rejects.toThrow(
      'enough',
    );
  });
});

describe('scripted players', () => {
  const world = fromEnvironment(counter);

  it('are the expert, the beginner (the expert where there is none) and uniform choice', async () => {
    const session = await world.open(1, Rng.of(0));
    const rng = Rng.of(0);
    expect(world.script?.(session, 'expert', rng)).toBe('up');
    expect(world.script?.(session, 'beginner', rng)).toBe('up');
    const random = Array.from({ length: 20 }, () => world.script?.(session, 'random', rng));
    expect(new Set(random)).toEqual(new Set(['up', 'down']));
    await session.step('up', signal);
    expect(world.script?.(session, 'expert', rng)).toBeUndefined();
  });

  it('are missing where the author wrote none', async () => {
    const { solve: _, actions: __, ...bare } = counter;
    const mute = fromEnvironment(bare);
    const session = await mute.open(1, Rng.of(0));
    for (const kind of ['expert', 'beginner', 'random'] as const) {
      expect(mute.script?.(session, kind, Rng.of(0))).toBeUndefined();
    }
  });

  it('come with the protocol of the world', () => {
    expect(world.protocol.name).toBe('raw');
    expect(fromEnvironment(counter, { protocol: tagProtocol }).protocol.name).toBe('tags');
  });
});

describe('broken environments', () => {
  const broken = (step: Partial<Record<keyof Step<Count>, unknown>>): typeof counter => ({
    ...counter,
    step: (state, action, rng) => ({ ...counter.step(state, action, rng), ...step }) as Step<Count>,
  });

  const failure = async (environment: typeof counter): Promise<unknown> => {
    const session = await open(environment);
    const before = [session.anchor(AGENT), session.observe(AGENT)];
    const error = await session.step('up', signal).catch((thrown: unknown) => thrown);
    expect([session.anchor(AGENT), session.observe(AGENT)]).toEqual(before);
    return error;
  };

  it('a state that JSON cannot hold', async () => {
    expect(
      await failure(broken({ state: { count: 1, drawn: [1, { at: new Date(0) }] } })),
    ).toMatchInlineSnapshot(
      `[TurnwiseError: The state of "counter" is not plain JSON. Seen: a Date at $.drawn[1].at. Allowed: null, booleans, finite numbers, strings, arrays and plain objects. Keep only plain data in the state, or implement Session for a live environment.]`,
    );
    expect(await failure(broken({ state: { count: Number.NaN, drawn: [] } }))).toMatchInlineSnapshot(
      `[TurnwiseError: The state of "counter" is not plain JSON. Seen: NaN at $.count. Allowed: null, booleans, finite numbers, strings, arrays and plain objects. Keep only plain data in the state, or implement Session for a live environment.]`,
    );
    expect(await failure(broken({ state: undefined }))).toMatchObject({ code: 'state-not-json' });
    const bad = { ...counter, start: () => ({ state: { f: () => 0 } as never, messages: [] }) };
    await expect(open(bad)).rejects.toMatchObject({ code: 'state-not-json', fields: { path: '$.f' } });
  });

  it('a reward that is not finite', async () => {
    expect(await failure(broken({ reward: Number.POSITIVE_INFINITY }))).toMatchInlineSnapshot(
      `[TurnwiseError: "counter" returned a reward that is not a finite number. Seen: Infinity. Allowed: any finite number. Look for a division by zero or a missing field in its step function.]`,
    );
    expect(await failure(broken({ reward: undefined }))).toMatchObject({ code: 'reward-not-finite' });
  });

  it('an observation that is too long, or no text', async () => {
    expect(await failure(broken({ observation: 'x'.repeat(10_000_000) }))).toMatchInlineSnapshot(
      `[TurnwiseError: "counter" returned an observation that no model could read. Seen: 10000000 characters. Allowed: at most 1000000. Shorten or summarise it in the environment.]`,
    );
    expect(await failure(broken({ observation: undefined }))).toMatchInlineSnapshot(
      `[TurnwiseError: "counter" returned an observation that is not a string. Seen: undefined. Allowed: a string, which may be empty.]`,
    );
    const session = await open(broken({ observation: 'x'.repeat(OBSERVATION_LIMIT) }));
    expect(await session.step('up', signal)).toMatchObject({ valid: true });
  });

  it('a step that changes the state it was given', async () => {
    const impure: typeof counter = {
      ...counter,
      step: (state, action, rng) => {
        (state.drawn as number[]).push(1);
        return counter.step(state, action, rng);
      },
    };
    expect(await failure(impure)).toBeInstanceOf(TypeError);
  });
});

describe('thoughts', () => {
  const thinking = {
    ...counter,
    correctThought: ({ count }: Count, thought: string) => `${thought}${count}`,
  };

  it('stand before the actions of an environment that corrects them, in tags unless told otherwise', async () => {
    expect(fromEnvironment(counter).protocol.name).toBe('raw');
    expect(fromEnvironment(counter).correctThought).toBeUndefined();
    expect(fromEnvironment(thinking).protocol.name).toBe('tags');
    expect(fromEnvironment(thinking, { protocol: rawProtocol }).protocol.name).toBe('raw');
  });

  it('are corrected in the state that the session is in', async () => {
    const world = fromEnvironment(thinking);
    const session = await world.open(2, Rng.of('thoughts'));
    const rng = Rng.of('corrector');
    const ask = () => world.correctThought?.({ session, messages: [], thought: 'at ', rng });
    expect(ask()).toBe('at -2');
    await session.step('up', signal);
    expect(ask()).toBe('at -1');
  });
});
