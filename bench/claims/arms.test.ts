import { expect, test } from 'vitest';
import type { Json } from '../../src/core/json/json.ts';
import { Rng } from '../../src/core/rng.ts';
import { madeKey, playedEpisode } from '../../src/core/testing/made-episodes.ts';
import { parseRollouts } from '../../src/credit/report/node/read-rollouts.ts';
import { AGENT } from '../../src/env/session.ts';
import type { World } from '../../src/env/world.ts';
import { finalAnswer } from './cory/final-answer.ts';
import { shakyTools } from './horizon/grpo-roc/shaky-tools.ts';
import { ownTurns } from './horizon/own-turns.ts';
import { post } from './horizon/parcels/post.ts';
import { rightTotals } from './horizon/score/right-totals.ts';
import { twoAnswers } from './horizon/score/two-answers.ts';
import { warehouse } from './horizon/tools/warehouse.ts';
import { paidAttempts } from './horizon/ufo/paid-attempts.ts';
import { threeAttempts } from './horizon/ufo/three-attempts.ts';
import { countdownUnits } from './horizon/units/units.ts';
import { pooled } from './self-play/pooled.ts';
import { roleMeans } from './self-play/role-means.ts';
import { improvementDealt } from './waltzrl/improvement-dealt.ts';

const parsed = (...lines: readonly object[]) =>
  parseRollouts(lines.map((line) => JSON.stringify(line)).join('\n'), 'made here');

const { signal } = new AbortController();

test('paid attempts: a right answer after a wrong one earns half, one that was repeated costs', () => {
  const turn = (answer: string, correct = false) => ({ reward: 0, answer, correct });
  const [late, repeated] = paidAttempts
    .create({})
    .shape(
      parsed(
        { groupId: 'g', id: 'a', outcome: 0, turns: [turn(''), turn('1'), turn('2', true)] },
        { groupId: 'g', id: 'b', outcome: 0, turns: [turn('1'), turn('1'), turn('1')] },
      ),
      {},
    ).trajectories;
  expect(late!.turns.map(({ reward }) => reward)).toEqual([0, 0, 0.5]);
  expect(repeated!.outcome).toBeCloseTo(-1 / 3, 12);
});

test('the final answer is what both roles earn', () => {
  const shape = finalAnswer.create({ role: 'conversation' });
  const { trajectories } = shape.shape(
    parsed(
      {
        ...{ groupId: 'g', id: 'a', role: 'conversation', episode: 'e', outcome: 3 },
        turns: [
          { reward: 1, response: 0 },
          { reward: 2, response: 1 },
        ],
      },
      { groupId: 'g', id: 'b', role: 'feedback', episode: 'e', outcome: 0, turns: [{ reward: 0 }] },
    ),
    {},
  );
  expect(trajectories.map(({ outcome }) => outcome)).toEqual([2, 2]);
});

test('baselines: one for both seats, and the plain mean of each', () => {
  const played = parsed(
    ...[1, -1, 1].map((outcome, id) => ({
      ...{ groupId: 'g', id: String(id), role: id === 1 ? 'second' : 'first', outcome },
      turns: [{ reward: outcome }],
    })),
  );
  const advantages = (method: typeof pooled): number[] =>
    method
      .create()
      .credit(played, {})
      .credits.map((credit) => credit.turnAdvantages_K[0]!);
  expect(advantages(roleMeans)).toEqual([1, -1, 0]);
  const [first, second, third] = advantages(pooled);
  expect([first, second]).toEqual([1, -1.05]);
  expect(third).toBeCloseTo(1.0025, 12);
});

test('feedback that was dealt anew is paid for the answers of another episode', () => {
  const episode = (id: string, before: number, after: number) => [
    {
      ...{ groupId: 'c', id, role: 'conversation', episode: id, outcome: before + after },
      turns: [
        { reward: before, response: 0 },
        { reward: after, response: 1 },
      ],
    },
    {
      ...{ groupId: 'f', id, role: 'feedback', episode: id, outcome: 0 },
      turns: [{ reward: 0, labelCorrect: true, wellFormed: true }],
    },
  ];
  const all = parsed(...Array.from({ length: 6 }, (_, id) => episode(String(id), 0, id)).flat());
  const feedback = improvementDealt
    .create()
    .credit(all, {})
    .credits.filter((_, index) => all[index]!.role === 'feedback')
    .map((credit) => credit.turnAdvantages_K[0]!);
  const sorted = [...feedback].sort((a, b) => a - b);
  expect(new Set(feedback).size).toBe(6);
  expect(feedback).not.toEqual(sorted);
});

test('turns that were repeated from an earlier episode are not an episode’s own', () => {
  const control = ownTurns.create({ turns: 2 });
  const { calls, transitions, task } = playedEpisode(0, [{}, {}, {}], { key: madeKey({}) });
  const now = { step: 1, memory: null, rng: Rng.of('test'), done: false, success: false };
  const view = { role: AGENT, task, transitions, turn: 3, limit: 9 };
  expect(control.after!({ ...view, calls }, now)).toEqual({ stop: 'early-stop' });
  const repeated = calls.map((call, index) =>
    index < 2 ? { ...call, trainable: 'earlier' as const } : call,
  );
  expect(control.after!({ ...view, calls: repeated }, now)).toBe('go on');
});

test('tools fail in a fifth of the calls, and a question is asked three times', async () => {
  const shaky = shakyTools.create(shakyTools.options.parse({ maxTurns: 100, packed: 0 }));
  const session = await shaky.open(shaky.tasks('train').at(0), Rng.of('shaky'));
  let errors = 0;
  for (let call = 0; call < 100; call++) {
    const { valid, metrics } = await session.step('run r = sorted(xs)', signal);
    expect(metrics?.errors).toBe(valid ? 0 : 1);
    errors += valid ? 0 : 1;
  }
  await session.close();
  expect(errors).toBeGreaterThan(8);
  expect(errors).toBeLessThan(35);

  const patient = threeAttempts.create(threeAttempts.options.parse({ packed: 0 }));
  const again = await patient.open(patient.tasks('train').at(0), Rng.of('patient'));
  const wrong = [];
  for (let attempt = 0; attempt < 3; attempt++) wrong.push(await again.step('submit 0.123', signal));
  expect(wrong.map(({ done }) => done)).toEqual([false, false, true]);
  await again.close();
});

test('running sums are attempted twice, whatever the first attempt was worth', async () => {
  const world = twoAnswers.create(twoAnswers.options.parse({ turns: 2 }));
  const task = world.tasks('train').at(0);
  for (const isFirstRight of [true, false]) {
    const session = await world.open(task, Rng.of('twice'));
    const right = async () => (await world.script!(session, 'expert', Rng.of('expert')))!;
    const steps = [
      await session.step(isFirstRight ? await right() : '99', signal),
      await session.step(await right(), signal),
    ];
    expect(steps.at(-1)).toMatchObject({ done: false, rewards: { [AGENT]: isFirstRight ? 1 : 0 } });
    expect(session.observe(AGENT)[0]!.content).toMatch(/^again .* worth /);
    steps.push(await session.step(await right(), signal), await session.step(await right(), signal));
    expect(steps.at(-1)).toMatchObject({ done: true, success: { [AGENT]: true }, rewards: {} });
    await session.close();
  }
});

test('right totals: both attempts are paid by their share, or the second one', () => {
  const turn = (correct: boolean) => ({ reward: 0, answer: '1', correct });
  const nonsense = { reward: 0, answer: '', correct: false };
  const turns = [turn(true), nonsense, turn(false), turn(true), turn(true)];
  const lines = { groupId: 'g', id: 'a', outcome: 0, turns };
  const rewards = (options: object) =>
    rightTotals
      .create({ totals: 2, ...options })
      .shape(parsed(lines), {})
      .trajectories[0]!.turns.map(({ reward, attempt }) => [attempt, reward]);
  expect(rewards({})).toEqual([
    [0, 0.5],
    [0, 0],
    [0, 0],
    [1, 0.5],
    [1, 0.5],
  ]);
  expect(rewards({ attempts: 'second' }).map(([, reward]) => reward)).toEqual([0, 0, 0, 0.5, 0.5]);
});

/** The expert plays a task; what it did, and how its last step ended. */
async function played(world: World, task: Json) {
  const session = await world.open(task, Rng.of('played'));
  const actions: string[] = [];
  for (;;) {
    const action = (await world.script!(session, 'expert', Rng.of('expert', actions.length)))!;
    actions.push(action);
    const step = await session.step(action, signal);
    if (!step.done) continue;
    await session.close();
    return { actions, step };
  }
}

test.each([
  ['a warehouse', warehouse.create(warehouse.options.parse({})), 400, 3],
  ['a post office', post.create(post.options.parse({})), 56, 2],
])('%s: the expert calls what a task needs', async (_, world, size, turns) => {
  const tasks = world.tasks('train');
  expect(world.tasks('train').size + world.tasks('validation').size + world.tasks('test').size).toBe(size);
  for (const index of [0, 1, 2]) {
    const { actions, step } = await played(world, tasks.at(index));
    expect(actions).toHaveLength(turns);
    expect(step.success).toEqual({ [AGENT]: true });
  }
});

test('countdown in units: the same expression twice ends it, and units are what is paid', async () => {
  const world = countdownUnits.create(countdownUnits.options.parse({ count: 2 }));
  const task = world.tasks('train').at(0);
  const { actions, step } = await played(world, task);
  expect(step).toMatchObject({ success: { [AGENT]: true }, rewards: { [AGENT]: (6 - actions.length) / 5 } });
  expect(actions.at(-1)).toBe(actions.at(-2));

  const session = await world.open(task, Rng.of('units'));
  const right = actions.at(-1)!;
  const wrong = right.split(' ').reverse().join(' - ');
  const steps = [];
  for (const action of [wrong, right, wrong, right, wrong, right])
    steps.push(await session.step(action, signal));
  expect(steps.map(({ done }) => done)).toEqual([false, false, false, false, false, true]);
  expect(steps.at(-1)).toMatchObject({ success: { [AGENT]: true }, rewards: { [AGENT]: 0 } });
  await session.close();
});
