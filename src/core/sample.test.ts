import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keyText } from './episode-key.ts';
import { promptOf, type Sample, samplesOf, samplesOfTrajectory } from './sample.ts';
import {
  byPolicy,
  madeCall,
  madeEpisode,
  madeGroup,
  madeTransition,
  trajectoryOf,
} from './testing/made-episodes.ts';
import { randomGroup } from './testing/random-episodes.ts';
import { chainOf, isTrained, roleGroups, sampledTokens } from './trajectory.ts';

const learned = (...samples: readonly Sample[]): number[] =>
  samples.flatMap(({ ids_T, mask_T }) => [...ids_T].filter((_, token) => mask_T[token] === 1));

describe('an agent alone', () => {
  const logprobs = (ids: readonly number[]): number[] => ids.map((id) => -id / 10);
  const call = (id: number, context: number[], ids: number[], more = {}) =>
    madeCall(id, ids, { context, logprobs: logprobs(ids), ...(id > 0 && { parent: id - 1 }), ...more });
  const samples = (...calls: ReturnType<typeof call>[]) =>
    samplesOfTrajectory(
      trajectoryOf(
        madeEpisode(
          0,
          calls,
          calls.map(({ id }) => madeTransition(id)),
        ),
      ),
    );

  test('one sample while prompts grow; marks, log-probabilities and turns only on sampled tokens', () => {
    const [sample, ...rest] = samples(
      call(0, [1, 2], [3]),
      call(1, [4], [5, 6], { trainable: 'scripted' }),
      call(2, [7], [8]),
    );
    expect(rest).toEqual([]);
    expect([...sample!.ids_T]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([...sample!.mask_T]).toEqual([0, 0, 1, 0, 0, 0, 0, 1]);
    expect([...sample!.turn_T]).toEqual([-1, -1, 0, -1, -1, -1, -1, 2]);
    expect([...sample!.logprobs_T].map((x) => Math.round(x * 10))).toEqual([0, 0, -3, 0, 0, 0, 0, -8]);
  });

  test('a prompt that does not extend the last one begins a new sample; one without marks is left out', () => {
    const window = { parent: undefined, newPath: 'window' };
    const found = samples(
      call(0, [1], [2]),
      call(1, [1, 9], [3], { ...window, trainable: 'scripted' }),
      call(2, [1, 9, 9], [4], window),
    );
    expect(found.map(({ ids_T }) => [...ids_T])).toEqual([
      [1, 2],
      [1, 9, 9, 4],
    ]);
  });

  test('what is imitated may be chosen', () => {
    const episode = madeEpisode(0, [call(0, [1], [2], { trainable: 'scripted' })], [madeTransition(0)]);
    expect(samplesOfTrajectory(trajectoryOf(episode))).toEqual([]);
    expect(learned(...samplesOfTrajectory(trajectoryOf(episode), () => true))).toEqual([2]);
  });
});

describe('paths', () => {
  test('an edit keeps a prefix as context; a summary that was asked for and what it cut off are trained once', () => {
    const episode = madeEpisode(
      0,
      [
        madeCall(0, [10, 11], { context: [1] }),
        madeCall(1, [20, 21], { context: [2], parent: 0 }),
        madeCall(2, [30, 31, 32], { context: [3], parent: 1, purpose: 'summarize' }),
        madeCall(3, [40, 41], { context: [4], parent: 1, kept: 2, newPath: 'window' }),
      ],
      [madeTransition(0), madeTransition(1), madeTransition(3, 1)],
    );
    const [long, edited, ...none] = samplesOf(madeGroup(episode), 'learner');
    expect(none).toEqual([]);
    expect([...long!.ids_T]).toEqual([1, 10, 11, 2, 20, 21, 3, 30, 31, 32]);
    expect([...long!.mask_T]).toEqual([0, 1, 1, 0, 1, 1, 0, 1, 1, 1]);
    expect([...long!.turn_T]).toEqual([-1, 0, 0, -1, 1, 1, -1, 2, 2, 2]);
    // The first two tokens of what was there, one of them sampled, then what is new.
    expect([...edited!.ids_T]).toEqual([1, 10, 4, 40, 41]);
    expect([...edited!.mask_T]).toEqual([0, 0, 0, 1, 1]);
    expect([...edited!.logprobs_T]).toEqual([0, 0, 0, -1, -1]);
    expect([...edited!.turn_T]).toEqual([-1, -1, -1, 2, 2]);
  });

  test('a cut reaches through several calls, and what is cut off everywhere is nothing', () => {
    const calls = [
      madeCall(0, [10], { context: [1] }),
      madeCall(1, [20], { context: [2], parent: 0 }),
      madeCall(2, [30], { context: [3], parent: 1, kept: 3 }),
      madeCall(3, [40], { context: [4], parent: 2, kept: 2 }),
      madeCall(4, [50], { context: [5], parent: 3, kept: 0 }),
    ];
    expect(calls.map((call) => [...promptOf(call, calls)])).toEqual([
      [1],
      [1, 10, 2],
      [1, 10, 2, 3],
      [1, 10, 4],
      [5],
    ]);
  });

  test('one context of two roles is a path of each, in which the other is context', () => {
    const episode = madeEpisode(
      0,
      [
        madeCall(0, [10], { context: [], role: 'poser' }),
        madeCall(1, [20], { context: [], role: 'solver', parent: 0 }),
        madeCall(2, [30], { context: [], role: 'poser', parent: 1 }),
      ],
      [madeTransition(0, 0, { role: 'poser' }), madeTransition(1, 1, { role: 'solver' })],
    );
    const samples = samplesOf(madeGroup(episode), 'learner');
    expect(samples.map(({ role, ids_T, mask_T }) => [role, [...ids_T], [...mask_T]])).toEqual([
      ['poser', [10, 20, 30], [1, 0, 1]],
      ['solver', [10, 20], [0, 1]],
    ]);
  });

  test('players have samples of their own', () => {
    const white = { role: 'w', by: byPolicy('white') };
    const black = { role: 'b', by: byPolicy('black') };
    const game = madeGroup(
      madeEpisode(
        0,
        [madeCall(0, [10], white), madeCall(1, [20], black), madeCall(2, [30], { ...white, parent: 0 })],
        [
          madeTransition(0, 0, { role: 'w' }),
          madeTransition(1, 0, { role: 'b' }),
          madeTransition(2, 0, { role: 'w' }),
        ],
      ),
    );
    expect(samplesOf(game, 'white').map((sample) => learned(sample))).toEqual([[10, 30]]);
    expect(samplesOf(game, 'black').map((sample) => learned(sample))).toEqual([[20]]);
    expect(samplesOf(game, 'learner')).toEqual([]);
  });

  test('a call that continues one which is not there is refused', () => {
    const orphan = madeCall(3, 1, { parent: 2 });
    expect(() => promptOf(orphan, [orphan])).toThrow('Call 3 continues call 2, which is not there');
  });
});

const random = fc
  .record({ seed: fc.nat(), members: fc.integer({ min: 1, max: 5 }) })
  .map(({ seed, members }) => randomGroup(seed, members));

describe('property: over random calls', () => {
  test('each token of a player has mask 1 in exactly one sample of an episode, a branch’s prefix included', () => {
    fc.assert(
      fc.property(random, ({ group }) => {
        const samples = samplesOf(group, 'learner');
        for (const episode of group.members) {
          const own = samples.filter((sample) => keyText(sample.episode) === keyText(episode.key));
          const trained = chainOf(group, episode).calls.filter(isTrained);
          const byNumber = (a: number, b: number): number => a - b;
          expect(learned(...own).sort(byNumber)).toEqual(
            trained.flatMap(({ ids }) => [...ids]).sort(byNumber),
          );
          expect(own.every(({ mask_T }) => mask_T.includes(1))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('before each marked token stands what its call was fed, and the prompt is that too', () => {
    fc.assert(
      fc.property(random, ({ group, prompts }) => {
        const samples = samplesOf(group, 'learner');
        for (const episode of group.members) {
          const { calls } = chainOf(group, episode);
          const fed = prompts.get(keyText(episode.key))!;
          for (const call of calls) {
            const prompt = fed.get(call.id)!;
            expect([...promptOf(call, calls)]).toEqual(prompt);
            if (!isTrained(call) || call.ids.length === 0) continue;
            const places = samples
              .filter((sample) => keyText(sample.episode) === keyText(episode.key))
              .map((sample) => ({ sample, at: sample.ids_T.indexOf(call.ids[0]!) }))
              .filter(({ sample, at }) => at >= 0 && sample.mask_T[at] === 1);
            expect(places).toHaveLength(1);
            const { sample, at } = places[0]!;
            expect([...sample.ids_T.subarray(0, at)]).toEqual(prompt);
            expect([...sample.ids_T.subarray(at, at + call.ids.length)]).toEqual([...call.ids]);
            expect([...sample.logprobs_T.subarray(at, at + call.ids.length)]).toEqual([...call.logprobs]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('turns of tokens are those of the trajectory, and tokens that are not marked have none', () => {
    fc.assert(
      fc.property(random, ({ group }) => {
        for (const { members } of roleGroups([group])) {
          for (const trajectory of members) {
            const samples = samplesOfTrajectory(trajectory);
            const counts = trajectory.turns.map((_, k) =>
              samples.reduce((sum, { turn_T }) => sum + turn_T.filter((turn) => turn === k).length, 0),
            );
            expect(counts).toEqual(trajectory.turns.map(sampledTokens));
            for (const { mask_T, turn_T } of samples) {
              expect([...turn_T].map((turn) => (turn >= 0 ? 1 : 0))).toEqual([...mask_T]);
            }
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
