import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { measurePlayer, playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { bestPull, valueOfBest } from './best-pull.ts';
import { BOLD, bandits, CALM, expected, world } from './index.ts';

const defaults = world.options.parse({});
const risk = bandits(defaults);
const explore = bandits({ ...defaults, game: 'explore' });
const none = { wins: [0, 0], losses: [0, 0] };

describe('oracle of risk', () => {
  it('the risky arm is worth 0.25, the safe one 0.1, and either by chance 0.175', () => {
    const { arms } = risk.tasks('train').at(0);
    expect(arms.map(expected).sort()).toEqual([0.1, 0.25]);
    expect((expected(arms[0]!) + expected(arms[1]!)) / 2).toBeCloseTo(0.175, 12);
  });

  it('pays so in the long run', () => {
    const task = risk.tasks('train').at(3);
    const { state } = risk.start(task, Rng.of(0));
    for (const arm of task.arms) {
      let paid = 0;
      for (let seed = 0; seed < 4000; seed++) paid += risk.step(state, arm.name, Rng.of(seed)).reward / 4000;
      expect(paid).toBeCloseTo(expected(arm), 1.6);
    }
  });
});

describe('oracle of explore', () => {
  it('two pulls are worth 13/12 where play is best, worked by hand', () => {
    expect(valueOfBest(none, 2)).toBeCloseTo(1 / 2 + (1 / 2) * (2 / 3) + (1 / 2) * (1 / 2), 12);
    expect(bestPull({ wins: [1, 0], losses: [0, 0] }, 2)).toEqual([2 / 3, 1 / 2]);
  });

  it('the expert earns the exact value on average, below a player who knows the chances', async () => {
    const { outcome } = await measurePlayer(world.create({ ...defaults, game: 'explore' }), 'expert', 2000);
    const exact = valueOfBest(none, 10) / 10;
    expect(exact).toBeCloseTo(0.602, 3);
    expect(exact).toBeLessThan(2 / 3);
    // Standard error of 2,000 episodes: below 0.007.
    expect(Math.abs(outcome - exact)).toBeLessThan(0.02);
  });
});

it('scripted players do as the README says', async () => {
  expect(await scores(world.create(defaults), 1000)).toMatchInlineSnapshot(`
    [
      "expert 1.000 0.273 1.00",
      "beginner 0.153 0.125 1.00",
      "random 0.509 0.198 1.00",
    ]
  `);
  expect(await scores(world.create({ ...defaults, game: 'explore' }), 1000)).toMatchInlineSnapshot(`
    [
      "expert 0.796 0.611 10.00",
      "beginner 0.664 0.568 10.00",
      "random 0.472 0.505 10.00",
    ]
  `);
});

describe('rules', () => {
  it('risk ends with the first pull, and success is the better arm, whether it paid or not', () => {
    const { arms } = risk.tasks('train').at(0);
    const { state } = risk.start({ arms }, Rng.of(0));
    for (const arm of arms) {
      const { done, success } = risk.step(state, arm.name, Rng.of(1));
      expect({ done, success }).toEqual({ done: true, success: arm.pays === 1 });
    }
    expect(risk.step(state, 'pelican', Rng.of(1))).toMatchObject({ done: true, valid: false, reward: 0 });
  });

  it('explore counts wins and losses of each arm', async () => {
    const arms = [
      { name: 'left', chance: 1, pays: 0.1 },
      { name: 'right', chance: 0, pays: 0.1 },
    ];
    const { state, messages } = explore.start({ arms }, Rng.of(0));
    const won = explore.step(state, 'left', Rng.of(0));
    const lost = explore.step(won.state, 'right', Rng.of(0));
    const invalid = explore.step(lost.state, 'middle', Rng.of(0));
    expect([
      messages[0]!.content,
      won.observation,
      lost.observation,
      invalid.observation,
    ]).toMatchInlineSnapshot(`
      [
        "arms left won0 lost0 right won0 lost0",
        "arms left won1 lost0 right won0 lost0",
        "arms left won1 lost0 right won0 lost1",
        "invalid arms left won1 lost0 right won0 lost1",
      ]
    `);
    const played = await playEpisode(world.create({ ...defaults, game: 'explore' }), { arms }, 0, 'expert');
    expect(played.turns).toHaveLength(10);
    expect(played.success).toBe(true);
  });
});

it('no pair of names is in two splits, and every name is in training', () => {
  const pairs = (split: 'train' | 'test' | 'validation') =>
    new Set(
      Array.from({ length: 600 }, (_, index) =>
        risk
          .tasks(split)
          .at(index)
          .arms.map(({ name }) => name)
          .join(),
      ),
    );
  const [train, validation, test] = [pairs('train'), pairs('validation'), pairs('test')];
  for (const pair of test) expect(train.has(pair) || validation.has(pair)).toBe(false);
  const names = new Set([...train].flatMap((pair) => pair.split(',')));
  expect(names.size).toBe(CALM.length + BOLD.length);
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, { options: [{ game: 'explore', pulls: 2 }] }));
