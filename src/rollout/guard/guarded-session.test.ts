import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { user } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import type { Session, StepResult } from '../../env/session.ts';
import type { World } from '../../env/world.ts';
import { Boundary, EpisodeEnd } from '../boundary.ts';
import { FAULTS, type FaultPlan } from '../testing/faults.ts';
import { FAULTY_CALLS, type FaultyCall, faultyWorld } from '../testing/faulty-world.ts';
import { unwatched } from '../watch.ts';
import { GuardedSession } from './guarded-session.ts';

const TIMEOUT_MS = 20;

/** Count to three. */
const counting = fromEnvironment(
  defineEnvironment<null, { count: number }>({
    name: 'counting',
    description: 'count to three',
    maxTurns: 3,
    tasks: () => ({ size: 1, at: () => null }),
    start: () => ({ state: { count: 0 }, messages: [user('count')] }),
    step: ({ count }) => ({
      state: { count: count + 1 },
      observation: String(count + 1),
      reward: 1,
      done: count === 2,
      success: count === 2,
      valid: true,
      info: { said: count, credit: { progress: 1 / 3 } },
    }),
    actions: () => ['more'],
  }),
);

/** Play an episode through the guard, with every call that it has. */
async function play(world: World, seed: string, signal = new AbortController().signal): Promise<string> {
  const boundary = new Boundary(signal, unwatched);
  const rng = Rng.of(seed);
  const options = { world, boundary, timeoutMs: TIMEOUT_MS, place: seed };
  let session: GuardedSession | undefined;
  let copy: GuardedSession | undefined;
  try {
    session = await GuardedSession.open({ task: null, rng }, options);
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      session.observe(role);
      session.anchor(role);
      if (session.hasSnapshots && copy === undefined) {
        const snapshot = await session.snapshot();
        try {
          copy = await GuardedSession.reopen(snapshot, undefined, options);
        } finally {
          await boundary.quietly('letting go', TIMEOUT_MS, () => snapshot.dispose());
        }
      }
      const text = (await session.script('random', rng)) ?? '';
      session.thought(text);
      const parsed = session.parse(text);
      await session.step(parsed.ok ? parsed.action : '');
      session.render();
    }
    session.observe('agent');
    await boundary.settled();
    return 'done';
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) throw error;
    expect(error.message.length).toBeLessThan(2200);
    return error.stop;
  } finally {
    await Promise.all([session?.close(), copy?.close()]);
    boundary.close();
    // What came late is still being let go of, and that too has its deadline.
    await expect.poll(() => getEventListeners(signal, 'abort'), { interval: 5 }).toEqual([]);
  }
}

const timers = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

async function playFaulty(plan: Omit<FaultPlan<FaultyCall>, 'lateMs' | 'rng'>, episodes: number) {
  const before = timers();
  const faulty = faultyWorld(counting, {
    ...plan,
    rng: Rng.of('faults', JSON.stringify(plan)),
    lateMs: 2 * TIMEOUT_MS,
  });
  const stops = await Promise.all(Array.from({ length: episodes }, (_, k) => play(faulty.world, `e${k}`)));
  await faulty.settled();
  // What comes late is closed when it comes.
  await new Promise((resolve) => setTimeout(resolve, 2 * TIMEOUT_MS));
  expect([faulty.openSessions(), faulty.openSnapshots()]).toEqual([0, 0]);
  expect(timers()).toBeLessThanOrEqual(before);
  return { stops: new Set(stops), injected: faulty.injected() };
}

describe('every fault at every call ends an episode and nothing else', () => {
  test.each(FAULTY_CALLS.flatMap((call) => FAULTS.map((fault) => [call, fault] as const)))(
    '%s %s',
    async (call, fault) => {
      const { stops, injected } = await playFaulty({ rate: 1, calls: [call], faults: [fault] }, 40);
      expect(injected).toBeGreaterThanOrEqual(40);
      const always =
        call !== 'close' &&
        call !== 'dispose' &&
        fault !== 'gives something wrong' &&
        fault !== 'gives a wrong field';
      if (always) expect(stops).not.toContain('done');
      if (call === 'close' || call === 'dispose') expect(stops).toEqual(new Set(['done']));
    },
  );

  test.each([0.01, 0.1, 0.5])('with probability %f at all calls', async (rate) => {
    const { stops, injected } = await playFaulty({ rate }, 500);
    expect(injected).toBeGreaterThan(50);
    expect(stops).toContain('failed:environment');
    for (const stop of stops) expect(['done', 'failed:environment', 'timeout']).toContain(stop);
  });
});

test('a run that is asked to stop ends every episode as cancelled and closes it', async () => {
  const controller = new AbortController();
  const faulty = faultyWorld(counting, {
    rate: 1,
    rng: Rng.of('stop'),
    calls: ['step', 'close'],
    faults: ['never settles'],
    lateMs: 0,
  });
  const playing = play(faulty.world, 'e', controller.signal);
  setTimeout(() => controller.abort(), 5);
  expect(await playing).toBe('cancelled');
  expect(faulty.openSessions()).toBe(0);
});

describe('messages name the call, what was seen and what is allowed', () => {
  const failure = async (parts: Partial<Session>): Promise<string> => {
    const world: World = {
      ...counting,
      open: async (task, rng) => {
        const inner = await counting.open(task, rng);
        const session: Session = {
          roles: inner.roles,
          toMove: () => inner.toMove(),
          observe: (role) => inner.observe(role),
          anchor: (role) => inner.anchor(role),
          step: (action, signal) => inner.step(action, signal),
          close: () => inner.close(),
        };
        return { ...session, ...parts };
      },
    };
    const boundary = new Boundary(new AbortController().signal, unwatched);
    const options = { world, boundary, timeoutMs: TIMEOUT_MS, place: 'e turn 0' };
    try {
      const session = await GuardedSession.open({ task: null, rng: Rng.of(0) }, options);
      session.toMove();
      session.observe('agent');
      session.anchor('agent');
      await session.step('more');
      return 'nothing failed';
    } catch (error) {
      return `${(error as EpisodeEnd).stop}: ${(error as EpisodeEnd).message}`;
    }
  };
  const result: StepResult = { rewards: { agent: 1 }, done: false, success: {}, valid: true };
  /** What user code gives is not what its type says. */
  const stepped = (parts: object): Partial<Session> => ({ step: async () => ({ ...result, ...parts }) });
  const given = (value: unknown): never => value as never;

  test('of sessions', async () => {
    expect(
      await Promise.all([
        failure({ step: given(undefined) }),
        failure({ toMove: () => 'nobody' }),
        failure({ toMove: () => given(null) }),
        failure({ observe: () => given(Promise.reject(new Error('late'))) }),
        failure({ observe: () => [{ role: 'user', content: given(7) }] }),
        failure({ anchor: () => given(7) }),
        failure({ step: () => new Promise(() => {}) }),
        failure({ step: async () => given(undefined) }),
        failure({
          step: () => {
            throw {
              toString() {
                throw 1;
              },
            };
          },
        }),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "failed:environment: opening counting: open() returned an invalid value. Seen: a session whose step is undefined. Allowed: a session with toMove, observe, anchor, step and close.",
        "failed:environment: asking for the mover of e turn 0: toMove() returned an invalid value. Seen: "nobody". Allowed: "agent", or undefined once the episode is over.",
        "failed:environment: asking for the mover of e turn 0: toMove() returned an invalid value. Seen: null. Allowed: "agent", or undefined once the episode is over.",
        "failed:environment: observing e turn 0: observe() returned an invalid value. Seen: a promise. Allowed: an array of messages.",
        "failed:environment: observing e turn 0: observe() returned an invalid value. Seen: 7 at messages[0].content. Allowed: a string, which may be empty.",
        "failed:environment: naming the state of e turn 0: anchor() returned an invalid value. Seen: 7. Allowed: a string.",
        "timeout: stepping e turn 0 took longer than 20 ms",
        "failed:environment: stepping e turn 0: step() returned an invalid value. Seen: undefined. Allowed: { rewards, done, success, valid } and, optionally, metrics and info.",
        "failed:environment: stepping e turn 0: an object with toString was thrown",
      ]
    `);
  });

  test('of steps', async () => {
    expect(
      await Promise.all([
        failure(stepped({ rewards: { agent: Number.NaN } })),
        failure(stepped({ rewards: { agent: 1e308 } })),
        failure(stepped({ rewards: { nobody: 1 } })),
        failure(stepped({ success: null })),
        failure(stepped({ done: 'yes' })),
        failure(stepped({ info: { a: [1n] } })),
        failure(stepped({ info: { credit: { progres: 1 } } })),
      ]),
    ).toMatchInlineSnapshot(`
      [
        "failed:environment: stepping e turn 0: "counting" returned a reward for role "agent" that is not a finite number. Seen: NaN. Allowed: any finite number. Look for a division by zero or a missing field in its step function.",
        "failed:environment: stepping e turn 0: "counting" returned a reward for role "agent" whose sums would overflow. Seen: 1e+308. Allowed: numbers from -1000000000000 to 1000000000000. Scale the rewards down.",
        "failed:environment: stepping e turn 0: step() returned an invalid value. Seen: "nobody" in rewards. Allowed: "agent".",
        "failed:environment: stepping e turn 0: step() returned an invalid value. Seen: null as success. Allowed: an object with true or false for each role.",
        "failed:environment: stepping e turn 0: step() returned an invalid value. Seen: "yes" as done. Allowed: true or false.",
        "failed:environment: stepping e turn 0: step() returned an invalid value. Seen: a BigInt at info.a[0]. Allowed: null, booleans, finite numbers, strings, arrays and plain objects.",
        "failed:environment: stepping e turn 0: The result of step() has no setting "info.credit.progres". Allowed: info.credit.dense, info.credit.answerProbability, info.credit.informationGain, info.credit.calls, info.credit.progress, info.credit.features, info.credit.answer, info.credit.correct, info.credit.actionCount, info.credit.effectiveActions, info.credit.labelCorrect, info.credit.response, info.credit.wellFormed, info.credit.counterfactual, info.credit.teacherGaps, info.credit.game, info.credit.entityShare, info.credit.goldenCalls, info.credit.neededCalls, info.credit.mode. Did you mean "info.credit.progress"?",
      ]
    `);
  });
});

test('facts are taken out of the info, and the author’s object is never touched again', async () => {
  const boundary = new Boundary(new AbortController().signal, unwatched);
  const said = { list: [1], credit: { dense: 2 } };
  const world: World = {
    ...counting,
    open: async (task, rng) => {
      const inner = await counting.open(task, rng);
      return {
        ...inner,
        toMove: () => 'agent',
        observe: () => [],
        anchor: () => '',
        close: async () => {},
        step: async () => ({ rewards: {}, done: true, success: { agent: true }, valid: true, info: said }),
      };
    },
  };
  const options = { world, boundary, timeoutMs: TIMEOUT_MS, place: 'e' };
  const session = await GuardedSession.open({ task: null, rng: Rng.of(0) }, options);
  const step = await session.step('more');
  said.list.push(2);
  expect(step).toEqual({
    rewards: {},
    done: true,
    success: { agent: true },
    valid: true,
    facts: { dense: [2] },
    info: { list: [1] },
  });
});
