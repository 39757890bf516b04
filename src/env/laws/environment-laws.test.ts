import { expect, test } from 'vitest';
import { type Message, user } from '../../core/messages.ts';
import type { Environment } from '../environment.ts';
import { fromEnvironment } from '../from-environment.ts';
import type { Session } from '../session.ts';
import type { World } from '../world.ts';
import { brokenLaw, brokenWorldLaw } from './environment-laws.ts';

type State = { readonly count: number };

const counting: Environment<{ goal: number }, State> = {
  name: 'counting',
  description: 'count to the goal',
  maxTurns: 8,
  tasks: () => ({ size: 1, at: () => ({ goal: 3 }) }),
  start: () => ({ state: { count: 0 }, messages: [user('count')] }),
  step: ({ count }, action) => {
    const valid = action === 'more';
    const next = count + (valid ? 1 : 0);
    return { state: { count: next }, observation: String(next), reward: 0, done: next === 3, valid };
  },
  actions: () => ['more'],
};

/** The first law that any of 20 seeds breaks. */
async function firstBroken(law: (seed: number) => Promise<string | undefined>): Promise<string | undefined> {
  for (let seed = 0; seed < 20; seed++) {
    const broken = await law(seed);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

const lawOf = (parts: Partial<Environment<{ goal: number }, State>>) =>
  firstBroken((seed) => brokenLaw({ ...counting, ...parts }, { goal: 3 }, seed));

const worldLawOf = (change: (session: Session) => Partial<Session>, goal = 3) =>
  firstBroken((seed) => brokenWorldLaw(worldWith(change), { goal }, seed));

/** The world of `counting` whose sessions are replaced in part. */
function worldWith(change: (session: Session) => Partial<Session>): World {
  const world = fromEnvironment(counting);
  const changed = (session: Session): Session => {
    const same: Session = {
      roles: session.roles,
      toMove: () => session.toMove(),
      observe: (role) => session.observe(role),
      anchor: (role) => session.anchor(role),
      step: (action, signal) => session.step(action, signal),
      snapshot: async () => {
        const snapshot = await session.snapshot!();
        return { ...snapshot, open: async (options) => changed(await snapshot.open(options)) };
      },
      close: () => session.close(),
    };
    return { ...same, ...change(same) };
  };
  return {
    ...world,
    open: async (...how) => changed(await world.open(...how)),
    reopen: async (held) => changed(await world.reopen!(held)),
    script: () => 'more',
  };
}

test('an environment that keeps the laws breaks none', async () => {
  expect(await lawOf({})).toBeUndefined();
  expect(await worldLawOf(() => ({}))).toBeUndefined();
});

test('each law is named when it is broken', async () => {
  const { step } = counting;
  let clock = 0;
  const unread: Message[] = [user('once')];
  expect([
    await lawOf({ step: (...how) => ({ ...step(...how), observation: String(clock++) }) }),
    await lawOf({ step: (...how) => ({ ...step(...how), valid: true }) }),
    await lawOf({ step: (...how) => ({ ...step(...how), valid: false }) }),
    await lawOf({
      step: (state, action, rng) =>
        action === 'more' ? step(state, action, rng) : { ...step(state, action, rng), state: { count: 2 } },
    }),
    await worldLawOf(() => ({ observe: () => unread.splice(0) })),
    await worldLawOf((session) => ({
      snapshot: async () => ({ cost: 'free', open: async () => session, dispose: async () => {} }),
    })),
    await worldLawOf(() => ({ snapshot: undefined as never })),
    await worldLawOf((session) => ({ toMove: () => (clock++ % 50 === 49 ? 'agent' : session.toMove()) })),
    await worldLawOf(() => ({}), Number.NaN),
  ]).toMatchInlineSnapshot(`
    [
      "a snapshot reached another state",
      ""{\\"name\\":1}" was taken for an action",
      "the legal action "more" was invalid",
      "an invalid action moved",
      "asked twice, it gave two answers",
      "a step of a copy changed the original",
      "world.snapshots and session.snapshot disagree",
      "asked twice, it gave two answers",
      "the task is not plain JSON at $.goal",
    ]
  `);
});

test('a reply that no rollout accepts is raised', async () => {
  await expect(worldLawOf(() => ({ anchor: () => 7 as never }))).rejects.toMatchObject({
    code: 'environment-reply',
  });
});

test('nonsense that an environment lists as an action is one', async () => {
  const parts: Partial<Environment<{ goal: number }, State>> = {
    step: ({ count }, action) => {
      const valid = action === '-1';
      const next = count + (valid ? 1 : 0);
      return { state: { count: next }, observation: String(next), reward: 0, done: next === 3, valid };
    },
  };
  expect(await lawOf({ ...parts, actions: () => ['-1'] })).toBeUndefined();
  expect(await lawOf({ ...parts, actions: () => ['more'] })).toMatch(/was invalid|was taken for an action/);
});
