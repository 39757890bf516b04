import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ByRole, Group } from '../../../core/episode.ts';
import type { Json } from '../../../core/json/json.ts';
import { Rng } from '../../../core/rng.ts';
import { madeKey, playedEpisode } from '../../../core/testing/made-episodes.ts';
import type { Tasks } from '../task-source.ts';
import { fictitiousShares, placeAt, sharesOf } from './draw.ts';
import { afterMatches, defineLeague, league } from './league.ts';
import { expectedScore, rated, winRate, withMatch } from './rating.ts';

const roles = ['first', 'second'];

describe('ratings', () => {
  test('400 points are ten times the odds', () => {
    expect(expectedScore(1000, 1000)).toBe(0.5);
    expect(expectedScore(1200, 1000)).toBeCloseTo(0.7597, 4);
    expect(expectedScore(1400, 1000)).toBeCloseTo(10 / 11, 12);
  });

  test('a match at K = 32: 16 between equals, 7.69 for the stronger, 24.31 for the weaker', () => {
    expect(rated(1000, 1000, 1, 32)).toEqual([1016, 984]);
    expect(rated(1200, 1000, 1, 32)[0]).toBeCloseTo(1207.69, 2);
    expect(rated(1000, 1200, 1, 32)[0]).toBeCloseTo(1024.31, 2);
    expect(rated(1000, 1200, 0.5, 32)[0]).toBeCloseTo(1008.31, 2);
  });

  test('nothing is lost: what one gains the other loses, and who won cannot fall', () => {
    const rating = fc.double({ min: 0, max: 3000, noNaN: true });
    fc.assert(
      fc.property(rating, rating, (a, b) => {
        const [won, lost] = rated(a, b, 1, 32);
        expect(won + lost).toBeCloseTo(a + b, 6);
        expect(won).toBeGreaterThanOrEqual(a);
        expect(rated(b, a, 0, 32)).toEqual([lost, won].map((value) => expect.closeTo(value, 6)));
      }),
    );
  });

  test('matches of 1, 1 and 0 points at decay 1/2 are .75 points of 1.75 games', () => {
    const record = [1, 1, 0].reduce((before, points) => withMatch(before, { games: 1, points }, 0.5), {
      games: 0,
      points: 0,
    });
    expect(record).toEqual({ games: 1.75, points: 0.75 });
    expect(winRate(record)).toBeCloseTo(0.4286, 4);
    expect(winRate({ games: 0, points: 0 })).toBe(0.5);
  });
});

describe('prioritised fictitious self-play', () => {
  const rounded = (shares: readonly number[]) => shares.map((share) => Math.round(share * 1e4) / 1e4);

  test('win rates of .5, .75 and 1', () => {
    expect(rounded(fictitiousShares([0.5, 0.75, 1], 'hard', 2))).toEqual([0.8, 0.2, 0]);
    expect(rounded(fictitiousShares([0.5, 0.75, 1], 'hard', 1))).toEqual([0.6667, 0.3333, 0]);
    expect(rounded(fictitiousShares([0.5, 0.75, 1], 'even', 2))).toEqual([0.5714, 0.4286, 0]);
    expect(rounded(fictitiousShares([0.5, 0.75, 1], 'uniform', 2))).toEqual([0.3333, 0.3333, 0.3333]);
  });

  test('where all are always beaten, all are as likely', () => {
    expect(fictitiousShares([1, 1], 'hard', 2)).toEqual([0.5, 0.5]);
  });

  test('nobody without a share is drawn', () => {
    const shares = sharesOf([0, 3, 1, 0]);
    expect([0, 0.74, 0.76, 1 - 1e-16].map((at) => placeAt(shares, at))).toEqual([1, 1, 2, 2]);
    fc.assert(
      fc.property(
        fc.array(fc.nat(5), { minLength: 1 }).filter((all) => all.some((one) => one > 0)),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (weights, at) => weights[placeAt(sharesOf(weights), at)]! > 0,
      ),
    );
  });
});

/** A group between the learner and another player, with what the learner's role earned in each episode. */
const match = (step: number, learner: string, other: string, ...earned: readonly number[]): Group => ({
  step,
  group: 0,
  members: earned.map((reward, member) =>
    playedEpisode(member, [{}], {
      key: madeKey({ step, member }),
      seats: Object.fromEntries(
        roles.map((role) => [role, { player: role === learner ? 'learner' : other, version: 0 }]),
      ),
      outcome: Object.fromEntries(roles.map((role) => [role, role === learner ? reward : -reward])),
    }),
  ),
});

describe('the standing', () => {
  const at = { players: ['self@0', 'dice'], decay: 1, k: 32 };

  test('a group is a match: three wins of four at equal ratings are 8 points', () => {
    const before = { rating: 1000, members: {} };
    const after = afterMatches(before, [match(3, 'second', 'dice', 2, 1, -2, 1)], at);
    expect(after).toEqual({
      rating: 1008,
      members: {
        'self@0': { games: 0, points: 0, rating: 1008 },
        dice: { games: 4, points: 3, rating: 992 },
      },
    });
  });

  test('a draw is half a point, self-play is no match, and neither is what was inserted from an earlier step', () => {
    const before = { rating: 1000, members: {} };
    const groups = [
      match(3, 'first', 'dice', 0, 0),
      match(3, 'first', 'learner', 1, 1),
      { ...match(2, 'first', 'dice', 5), step: 3 },
    ];
    const { rating, members } = afterMatches(before, groups, at);
    expect(rating).toBe(1000);
    expect(members.dice).toMatchObject({ games: 2, points: 1 });
  });

  test('a snapshot begins with the rating of the learner, and whoever is gone is forgotten', () => {
    const before = { rating: 1200, members: { 'self@0': { games: 1, points: 1, rating: 900 } } };
    const { members } = afterMatches(before, [], { ...at, players: ['self@10', 'dice'] });
    expect(members).toEqual({
      'self@10': { games: 0, points: 0, rating: 1200 },
      dice: { games: 0, points: 0, rating: 1000 },
    });
  });
});

const asked = (source: Tasks, step: number, memory: Json, players: readonly string[], wanted = 8) =>
  source
    .next({
      ...{ step, memory, rng: Rng.of('league', step), round: 0, wanted, members: 4, groups: [], latest: [] },
      ...{ roles, players },
      tasks: { size: 99, fresh: (count) => Array.from({ length: count }, (_, index) => index) },
    })
    .map(({ seats }) => seats as ByRole<string>);

describe('what is asked for', () => {
  const players = ['self@0', 'self@10', 'dice'];

  test('the share of self-play holds on average, and each opponent is met from both seats', () => {
    const source = league.create({ selfPlay: 0.25, opponents: 2 });
    const steps = Array.from({ length: 200 }, (_, step) => asked(source, step + 1, source.start(), players));
    const all = steps.flat();
    const alone = all.filter((seats) => roles.every((role) => seats[role] === 'learner'));
    expect(alone.length / all.length).toBeCloseTo(0.25, 2);
    for (const name of players)
      for (const role of roles) {
        const share = all.filter((seats) => seats[role] === name).length / (all.length - alone.length);
        expect(share).toBeGreaterThan(0.12);
        expect(share).toBeLessThan(0.21);
      }
    for (const seats of steps) {
      const names = new Set(seats.flatMap((own) => Object.values(own)));
      names.delete('learner');
      expect(names.size).toBeLessThanOrEqual(2);
    }
  });

  test('whoever is always beaten is no longer met', () => {
    const source = league.create({ selfPlay: 0 });
    const beaten = { games: 9, points: 9, rating: 700 };
    const memory = { rating: 1300, members: { 'self@0': beaten, dice: beaten } };
    const met = Array.from({ length: 20 }, (_, step) => asked(source, step + 1, memory, players)).flat();
    expect(new Set(met.flatMap((seats) => Object.values(seats)))).toEqual(new Set(['learner', 'self@10']));
  });

  test('a league of one’s own draws by its own weights', () => {
    const weakest = defineLeague({
      name: 'weakest',
      weigh: ({ members }) => {
        const least = Math.min(...members.map(({ rating }) => rating));
        return members.map(({ rating }) => (rating === least ? 1 : 0));
      },
    });
    const source = weakest.create({ selfPlay: 0, every: 5, most: 3 });
    expect(source.players).toEqual({ self: 'past:5:3' });
    const memory = { rating: 1000, members: { dice: { games: 1, points: 1, rating: 900 } } };
    expect(asked(source, 1, memory, players).every((seats) => Object.values(seats).includes('dice'))).toBe(
      true,
    );
    const wrong = defineLeague({ name: 'wrong', weigh: () => [1] });
    expect(() => asked(wrong.create(), 1, { rating: 1, members: {} }, players)).toThrow(
      'The league "wrong" gives no usable weights',
    );
  });
});
