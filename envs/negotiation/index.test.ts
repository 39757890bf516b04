import { describe, expect, test } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { playEpisode } from '../../src/env/play.ts';
import {
  BASE,
  gain,
  type NegotiationState,
  type NegotiationTask,
  negotiationGame,
  RESOURCES,
  world,
  worthOf,
} from './index.ts';

const defaults = world.options.parse({});
const game = negotiationGame(defaults);
const trading = world.create(defaults);
const rng = Rng.of(0);
const side = (worth: Readonly<Record<string, number>>, amount = 10) => ({
  stock: Object.fromEntries(RESOURCES.map((name) => [name, amount])),
  worth: { ...BASE, ...worth },
});
const task: NegotiationTask = [side({ wood: 12, ore: 36 }), side({ wood: 8, ore: 40 })];
const say = (state: NegotiationState, action: string) => game.step(state, game.toMove(state)!, action, rng);

describe('oracle', () => {
  test('both gain by a trade only where their values differ', () => {
    const same: NegotiationTask = [side({}), side({})];
    const differ = (of: NegotiationTask): boolean =>
      RESOURCES.some((a) =>
        RESOURCES.some((b) => of[0].worth[a]! * of[1].worth[b]! !== of[0].worth[b]! * of[1].worth[a]!),
      );
    for (const [of, expected] of [
      [same, false],
      [task, true],
    ] as const) {
      expect(differ(of)).toBe(expected);
      const state = game.start(of, rng);
      const both = game.actions!(state, 'first').flatMap((action) => {
        const offered = say(state, action).state;
        const taken = offered.offer && say(offered, 'accept').state;
        return taken && gain(taken, 0) > 0 && gain(taken, 1) > 0 ? [action] : [];
      });
      expect(both.length > 0).toBe(expected);
    }
  });

  test('the sum of all gains is bounded by moving every resource to whom it is worth more', async () => {
    for (let seed = 0; seed < 30; seed++) {
      const of = game.tasks('test').at(seed);
      const bound = RESOURCES.reduce((sum, name) => {
        const [one, two] = of;
        const lead = one.worth[name]! - two.worth[name]!;
        return sum + (lead > 0 ? lead * two.stock[name]! : -lead * one.stock[name]!);
      }, 0);
      let state = game.start(of, rng);
      const choices = Rng.of('bound', seed);
      while (game.toMove(state) !== undefined) {
        const legal = game.actions!(state, '');
        state = say(
          state,
          legal.includes('accept') && choices.chance(0.5) ? 'accept' : choices.pick(legal),
        ).state;
      }
      expect(gain(state, 0) + gain(state, 1)).toBeLessThanOrEqual(bound);
      for (const name of RESOURCES)
        expect(state.stocks[0][name]! + state.stocks[1][name]!).toBe(of[0].stock[name]! + of[1].stock[name]!);
    }
  });

  test('whoever never trades cannot lose to the expert, who beats random players far more often than not', async () => {
    let won = 0;
    for (let seed = 0; seed < 40; seed++) {
      const idle = await playEpisode(trading, game.tasks('test').at(seed), seed, async (of, chance) =>
        of.toMove() === 'first' ? 'deny' : (await trading.script!(of, 'expert', chance))!,
      );
      expect(idle.outcome).toBe(0);
      won += (
        await playEpisode(
          trading,
          game.tasks('test').at(seed),
          seed,
          async (of, chance) =>
            (await trading.script!(of, of.toMove() === 'first' ? 'expert' : 'random', chance))!,
        )
      ).outcome;
    }
    expect(won).toBeGreaterThan(15);
  });
});

describe('rules', () => {
  const state = game.start(task, rng);

  test('an accepted offer changes both stocks, and values tell who gained', () => {
    const offered = say(state, 'offer 1 ore for 3 wood');
    expect(offered).toMatchObject({ done: false, valid: true });
    const taken = say(offered.state, 'accept').state;
    expect([taken.stocks[0].ore, taken.stocks[0].wood, taken.stocks[1].ore, taken.stocks[1].wood]).toEqual([
      9, 13, 11, 7,
    ]);
    expect([gain(taken, 0), gain(taken, 1)]).toEqual([0, 16]);
    expect(worthOf({ gives: 'ore', given: 1, wants: 'wood', wanted: 3 }, task[0].worth, 1)).toBe(0);
  });

  test('the larger gain wins after the last turn, and equal gains draw', () => {
    let now = say(state, 'offer 1 ore for 3 wood').state;
    now = say(now, 'accept').state;
    let last = say(now, 'deny');
    while (!last.done) last = say(last.state, 'deny');
    expect(last).toMatchObject({
      rewards: { first: -1, second: 1 },
      success: { first: false, second: true },
    });
    expect(game.observe(last.state, 'second')[0]!.content).toBe('won gain:16');
  });

  // TextArena checks the acceptor alone.
  test('an offer needs the stock of both sides', () => {
    const poor = game.start([side({}, 2), side({}, 1)], rng);
    expect(say(poor, 'offer 3 ore for 1 wood')).toMatchObject({
      valid: false,
      done: true,
      rewards: { first: -1 },
    });
    const offered = say(poor, 'offer 1 ore for 2 wood').state;
    expect(game.actions!(offered, 'second')).not.toContain('accept');
    expect(say(offered, 'accept')).toMatchObject({ valid: false, done: true, rewards: { first: 1 } });
  });

  test('an offer that is answered by another is gone', () => {
    const countered = say(say(state, 'offer 1 ore for 3 wood').state, 'offer 1 wood for 1 wheat').state;
    expect(say(say(countered, 'deny').state, 'accept')).toMatchObject({ valid: false });
  });

  test('each role reads its own stock and values alone', () => {
    expect(game.observe(state, 'first')[0]!.content).toBe(
      'turn:0 wheat:10@5 wood:10@12 sheep:10@15 brick:10@25 ore:10@36 last nothing',
    );
    expect(game.observe(state, 'second')[0]!.content).toContain('wood:10@8');
    expect(game.natural!(state, 'first').at(-1)!.content).toBe(
      'You have 10 wheat (worth 5 each), 10 wood (worth 12 each), 10 sheep (worth 15 each), 10 brick (worth 25 each), 10 ore (worth 36 each). 10 turns are left. What do you say?',
    );
  });
});
