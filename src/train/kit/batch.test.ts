import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import {
  madeCall,
  madeEpisode,
  madeKey,
  madeTransition,
  playedEpisode,
  trajectoryOf,
} from '../../core/testing/made-episodes.ts';
import { isTrained, type Trajectory } from '../../core/trajectory.ts';
import { creditTrajectory } from '../../credit/contract/view.ts';
import type { CreditTrajectory, TrajectoryCredit } from '../../credit/report/rollouts.ts';
import {
  type Candidate,
  type CreditedSample,
  candidatesOf,
  minibatches,
  type SampleScores,
  spreadCredit,
  trainingRows,
  turnScores,
} from './batch.ts';

/** Turn k sees `context` ids and samples `sampled` of them; where it is not `sampled`, an opponent wrote them. */
interface Shape {
  readonly context: number;
  readonly written: number;
  readonly sampled: boolean;
  readonly extendsPrevious: boolean;
}

let nextId = 0;
const ids = (count: number): number[] => Array.from({ length: count }, () => nextId++);

const played = (shapes: readonly Shape[]): Trajectory =>
  trajectoryOf(
    playedEpisode(
      0,
      shapes.map(({ context, written, sampled, extendsPrevious }) => ({
        call: { context: ids(context), trainable: sampled || 'scripted' },
        written: ids(written),
        reward: 0.5,
        anew: !extendsPrevious,
      })),
    ),
  );

/** The tokens that the policy sampled in each turn. */
const sampledIn = ({ turns }: Trajectory): number[][] =>
  turns.map(({ calls }) => calls.filter(isTrained).flatMap((call) => [...call.ids]));

const shape = fc.record({
  context: fc.integer({ min: 1, max: 3 }),
  written: fc.integer({ min: 1, max: 3 }),
  sampled: fc.boolean(),
  extendsPrevious: fc.boolean(),
});
const trajectories = fc.array(fc.array(shape, { minLength: 1, maxLength: 5 }).map(played), {
  minLength: 1,
  maxLength: 5,
});

/** Turn k is worth k + 1, token by token k + 1 + position / 10. */
function creditOf(trajectory: Trajectory, perToken: boolean): TrajectoryCredit {
  const { id, turns } = trajectory;
  return {
    id,
    turnAdvantages_K: turns.map((_, turn) => turn + 1),
    ...(perToken && {
      tokenAdvantages_T: Float64Array.from(
        sampledIn(trajectory).flatMap((written, k) => written.map((_, position) => k + 1 + position / 10)),
      ),
    }),
  };
}

/** What a credit method reads of it. */
const readOf = (candidate: Candidate, rewardScale: number, scores?: SampleScores): CreditTrajectory =>
  creditTrajectory(candidate.trajectory, rewardScale, turnScores(candidate, scores));

const only = (trajectory: Trajectory): Candidate => candidatesOf([trajectory])[0]!;

describe('advantages', () => {
  test('property: they land on sampled tokens only, each token’s own', () => {
    fc.assert(
      fc.property(trajectories, fc.boolean(), (list, perToken) => {
        for (const trajectory of list) {
          const landed = new Map<number, number>();
          for (const { sample, advantages_T } of spreadCredit(
            only(trajectory),
            creditOf(trajectory, perToken),
          )) {
            for (const [token, advantage] of advantages_T.entries()) {
              if (sample.mask_T[token] === 1) landed.set(sample.ids_T[token]!, advantage);
              else expect(advantage).toBe(0);
            }
          }
          const expected = sampledIn(trajectory).flatMap((written, k) =>
            written.map((id, position) => [id, k + 1 + (perToken ? position / 10 : 0)]),
          );
          expect([...landed]).toEqual(expected.map(([id, value]) => [id, expect.closeTo(value!, 5)]));
        }
      }),
    );
  });

  test('a sample that only has zeros is not live; one that cancels out is', () => {
    const twice = played([
      { context: 1, written: 1, sampled: true, extendsPrevious: false },
      { context: 1, written: 1, sampled: true, extendsPrevious: true },
    ]);
    const live = (turnAdvantages_K: number[]): boolean[] =>
      spreadCredit(only(twice), { id: twice.id, turnAdvantages_K }).map((sample) => sample.live);
    expect(live([0, 0])).toEqual([false]);
    expect(live([1, -1])).toEqual([true]);
  });

  test.each([[Number.NaN], [Number.POSITIVE_INFINITY], [undefined]])('%s is refused', (advantage) => {
    nextId = 0;
    const trajectory = played([{ context: 1, written: 2, sampled: true, extendsPrevious: false }]);
    const credit = { id: trajectory.id, turnAdvantages_K: [advantage as number] };
    expect(() => spreadCredit(only(trajectory), credit)).toThrow(
      /gave token 0 of 1\/0\/0, in turn 0, no usable advantage/,
    );
  });
});

describe('what credit reads', () => {
  test('scaled rewards, the sampled tokens of each turn, and the critic’s values at those tokens', () => {
    const trajectory = played([
      { context: 2, written: 1, sampled: true, extendsPrevious: false },
      { context: 1, written: 2, sampled: false, extendsPrevious: true },
      { context: 1, written: 2, sampled: true, extendsPrevious: true },
    ]);
    const values = [Float32Array.from([0, 1, 2, 3, 4, 5, 6, 7, 8])];
    expect(readOf(only(trajectory), 10, { values, entropies: values })).toMatchObject({
      outcome: 15,
      turns: [
        { reward: 5, tokens: 1, values: [2], entropies: [2], valid: true },
        { reward: 5, tokens: 0, values: [] },
        { reward: 5, tokens: 2, values: [7, 8] },
      ],
    });
  });

  test('tokens of a turn stand in the order of its calls, whichever samples they are in', () => {
    // Two conversations take turns until something comes of it: one turn of all, on two paths.
    const inB = { conversation: 'b' };
    const trajectory = trajectoryOf(
      madeEpisode(
        0,
        [
          madeCall(0, [10, 11], { context: [1] }),
          madeCall(1, [20], { context: [2], ...inB }),
          madeCall(2, [30], { context: [3], parent: 0 }),
          madeCall(3, [40], { context: [4], parent: 1, ...inB }),
        ],
        [madeTransition(3, 1)],
      ),
    );
    const candidate = only(trajectory);
    expect(candidate.samples.map(({ ids_T }) => [...ids_T])).toEqual([
      [1, 10, 11, 3, 30],
      [2, 20, 4, 40],
    ]);
    const values = candidate.samples.map(({ ids_T }) => Float32Array.from(ids_T));
    expect(readOf(candidate, 1, { values }).turns).toMatchObject([{ values: [10, 11, 20, 30, 40] }]);
    const spread = spreadCredit(candidate, {
      id: trajectory.id,
      turnAdvantages_K: [0],
      tokenAdvantages_T: Float64Array.of(10, 11, 20, 30, 40),
      returns_T: Float64Array.of(1, 2, 3, 4, 5),
    });
    expect(spread.map(({ advantages_T }) => [...advantages_T])).toEqual([
      [0, 10, 11, 0, 30],
      [0, 20, 0, 40],
    ]);
    expect(spread.map(({ returns_T }) => [...returns_T!])).toEqual([
      [0, 1, 2, 0, 4],
      [0, 3, 0, 5],
    ]);
  });

  test('what the environment says of a turn, in units of the scaled reward', () => {
    const told = trajectoryOf(
      playedEpisode(0, [
        {
          transition: {
            facts: { dense: [0.5, 1], counterfactual: 0.25, labelCorrect: true, neededCalls: 2 },
          },
        },
      ]),
    );
    expect(readOf(only(told), 10)).toMatchObject({
      neededCalls: 2,
      turns: [{ dense: [5, 10], counterfactual: 2.5, labelCorrect: true }],
    });
  });

  test('the episode is what trajectories of different roles share', () => {
    const episode = madeEpisode(2, [], [], {
      key: madeKey({ step: 3, group: 1, member: 2 }),
      outcome: { first: 0, second: 0 },
    });
    const first = readOf(only(trajectoryOf(episode, 'first')), 1);
    expect([first.id, first.episode]).toEqual(['3/1/2/first', '3/1/2']);
    const alone = { ...episode, outcome: { agent: 0 } };
    const agent = readOf(only(trajectoryOf(alone)), 1);
    expect([agent.id, agent.episode, agent.overlong]).toEqual(['3/1/2', '3/1/2', undefined]);
    expect(readOf(only(trajectoryOf({ ...alone, stop: 'token-limit' })), 1).overlong).toBe(true);
  });
});

test('property: minibatches partition the samples into parts of nearly equal size, none empty', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 10 }), (size, count) => {
      const items = Array.from({ length: size }, (_, index) => index);
      const parts = minibatches(items, count, Rng.of(size, count));
      expect(parts).toHaveLength(Math.min(size, count));
      expect(parts.flat().sort((a, b) => a - b)).toEqual(items);
      const sizes = parts.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test('property: rows weigh sampled tokens only, and token means weigh them equally, to 1 in all', () => {
  fc.assert(
    fc.property(trajectories, (list) => {
      const samples: CreditedSample[] = candidatesOf(list).flatMap((candidate) =>
        spreadCredit(candidate, creditOf(candidate.trajectory, false)),
      );
      fc.pre(samples.length > 0);
      const rows = trainingRows(samples, 'token-mean');
      const tokens = list.flatMap((trajectory) => sampledIn(trajectory).flat());
      const weighed = rows.flatMap(({ ids_T, channels }) =>
        [...ids_T].filter((_, token) => channels.weight![token] !== 0),
      );
      expect(weighed).toEqual(tokens);
      for (const { channels } of rows) {
        for (const [token, weight] of channels.weight!.entries()) {
          if (weight !== 0) expect(weight).toBeCloseTo(1 / tokens.length, 6);
          expect(channels.oldLogprobs![token]).toBe(weight === 0 ? 0 : -1);
        }
      }
    }),
  );
});
