import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Choice, Episode, Group } from '../core/episode.ts';
import type { Json } from '../core/json/json.ts';
import { Rng } from '../core/rng.ts';
import { madeKey, playedEpisode } from '../core/testing/made-episodes.ts';
import type { ChoiceRound, Chosen, OpenCuration } from './curation.ts';
import { curationRegistry } from './registry.ts';
import { errorsIn } from './resample-on-correct.ts';

const open = (name: string, options: object = {}): OpenCuration =>
  curationRegistry.find(name).create(options);
const now = (step: number, memory: Json = null) => ({ step, memory, rng: Rng.of('test', step) });

function choose(
  curation: OpenCuration,
  groups: readonly Group[],
  {
    step = 1,
    memory = curation.start(),
    isIn = () => true,
  }: Partial<ChoiceRound & { step: number; memory: Json }> = {},
): Chosen {
  return curation.choose(groups, { ...now(step, memory), round: 0, batch: groups.length, isIn });
}

const chosen = (group: Group, { choice }: Chosen): Choice[] =>
  group.members.map((episode) => choice!(episode, 'agent'));

/** Episodes of one turn: what each earned, a success where that is above 0, and more of it. */
const groupOf = (
  rewards: readonly number[],
  more: (member: number) => Partial<Episode> = () => ({}),
  { step = 1, group = 0, task = group }: { step?: number; group?: number; task?: number } = {},
): Group => ({
  step,
  group,
  members: rewards.map((reward, member) =>
    playedEpisode(member, [{ reward }], {
      key: madeKey({ step, task, group, member }),
      success: { agent: reward > 0 },
      ...more(member),
    }),
  ),
});

const learned = { inBaseline: true, inLoss: true, weight: 1 };
const compared = { inBaseline: true, inLoss: false, weight: 1 };
const left = { inBaseline: false, inLoss: false, weight: 1 };

describe('over-turns', () => {
  const over =
    (from: number, stop: Episode['stop'] = 'turn-limit') =>
    (member: number) =>
      member >= from ? { stop } : {};

  test('of 1, 0, 0, 0 the last two over the limit: four are compared, two are learned from', () => {
    const group = groupOf([1, 0, 0, 0], over(2));
    expect(chosen(group, choose(open('over-turns'), [group]))).toEqual([
      learned,
      learned,
      compared,
      compared,
    ]);
  });

  test('a group is left out whose other episodes agree, unless it is wanted; one episode agrees with nobody', () => {
    const agreeing = groupOf([1, 1, 0, 0], over(2));
    const all = groupOf([1, 0], over(0), { group: 1 });
    const alone = groupOf([1], undefined, { group: 2 });
    const groups = [agreeing, all, alone];
    const strict = choose(open('over-turns'), groups);
    expect(groups.map((group) => chosen(group, strict))).toEqual([
      Array(4).fill(left),
      Array(2).fill(left),
      [learned],
    ]);
    const wide = choose(open('over-turns', { unanimous: true }), groups);
    expect(chosen(agreeing, wide)).toEqual([learned, learned, compared, compared]);
    expect(chosen(all, wide)).toEqual([compared, compared]);
  });

  test('the ends that count are those that are named', () => {
    const group = groupOf([1, 0, 0.5], over(2, 'context-overflow'));
    expect(chosen(group, choose(open('over-turns'), [group]))[2]).toEqual(compared);
    const turnsOnly = open('over-turns', { stops: ['turn-limit'] });
    expect(chosen(group, choose(turnsOnly, [group]))[2]).toEqual(learned);
  });
});

describe('resample-on-correct', () => {
  const invalid = (errors: number, turns: number): Partial<Episode> => {
    const { transitions, calls } = playedEpisode(
      0,
      Array.from({ length: turns }, (_, turn) => ({ transition: { valid: turn >= errors } })),
    );
    return { transitions, calls };
  };

  test('of 24 successes and 8 failures 12 and 4 are kept, the successes with the fewest errors', () => {
    const group = groupOf([...Array<number>(24).fill(1), ...Array<number>(8).fill(0)], (member) =>
      invalid((member * 7) % 24, 24),
    );
    const kept = chosen(group, choose(open('resample-on-correct'), [group]));
    const errors = group.members.slice(0, 24).map((_, member) => (member * 7) % 24);
    const errorsOf = (isKept: boolean) => errors.filter((_, member) => kept[member]!.inBaseline === isKept);
    expect([errorsOf(true).length, kept.slice(24).filter(({ inLoss }) => inLoss).length]).toEqual([12, 4]);
    expect(Math.max(...errorsOf(true))).toBeLessThan(Math.min(...errorsOf(false)));
    expect(kept.every(({ inBaseline, inLoss }) => inBaseline === inLoss)).toBe(true);
  });

  test('a success is what the environment calls so, though it earned less than nothing', () => {
    const group = groupOf([-3, -2, -6, -6], (member) => ({
      ...invalid(member % 2, 2),
      success: { agent: member < 2 },
    }));
    const kept = chosen(group, choose(open('resample-on-correct'), [group]));
    expect(kept.slice(0, 2).map(({ inLoss }) => inLoss)).toEqual([true, false]);
    expect(kept.slice(2).filter(({ inLoss }) => inLoss).length).toBe(1);
  });

  test('errors of tools and of form are counted; an episode without a turn has both', () => {
    const turns = (list: readonly { valid: boolean; problem?: string }[]) => ({
      turns: list.map(({ valid, ...call }, id) => {
        const { calls, transitions } = playedEpisode(0, [{ transition: { valid }, call }]);
        return { calls, transition: transitions[0]!, reward: 0, id };
      }),
    });
    expect(
      errorsIn(
        turns([{ valid: true }, { valid: false, problem: 'no tag' }, { valid: false }, { valid: true }]),
      ),
    ).toBe(0.5 + 0.25);
    expect(errorsIn({ turns: [] })).toBe(1.5);
  });

  test('whatever the group, its share is kept, and two of each kind where there are as many', () => {
    const rewards = fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(rewards, fc.constantFrom(0.25, 0.5, 0.75, 1), fc.nat(), (outcomes, keep, seed) => {
        const group = groupOf(outcomes);
        const curation = open('resample-on-correct', { keep });
        const again = () => chosen(group, choose(curation, [group], { step: seed }));
        const kept = again();
        expect(again()).toEqual(kept);
        const count = kept.filter(({ inBaseline }) => inBaseline).length;
        expect(count).toBe(Math.max(1, Math.round(keep * outcomes.length)));
        for (const reward of [0, 1]) {
          const all = outcomes.filter((own) => own === reward).length;
          const own = outcomes.filter((one, member) => one === reward && kept[member]!.inBaseline).length;
          expect(own).toBeGreaterThanOrEqual(Math.min(2, all, Math.floor(count / 2)));
        }
      }),
    );
  });
});

describe('success-replay', () => {
  const stepOf = (step: number, ...rewards: readonly number[]): Group =>
    groupOf(rewards, undefined, { step, task: 7 });
  const curation = open('success-replay');
  const storedAfter = (memory: Json, group: Group): Json =>
    curation.remember([group], now(group.step, memory));

  test('all fail: the first gives way to the one success of the task, and outcomes differ', () => {
    const memory = storedAfter(curation.start(), stepOf(1, 0, 1));
    const failed = stepOf(2, 0, 0, 0);
    const result = choose(curation, [failed], { step: 2, memory });
    expect(result.insert).toEqual([{ group: 0, episode: madeKey({ task: 7, member: 1 }) }]);
    expect(chosen(failed, result).map(({ inBaseline }) => inBaseline)).toEqual([false, true, true]);
    const wide = choose(open('success-replay', { replace: false }), [failed], { step: 2, memory });
    expect(chosen(failed, wide)).toEqual([learned, learned, learned]);
    expect(wide.insert).toHaveLength(1);
  });

  test('a group with a success, one that varies, another task and an empty memory are left alone', () => {
    const memory = storedAfter(curation.start(), stepOf(1, 1));
    const others = [stepOf(2, 1, 0), stepOf(2, 0.15, 0), groupOf([0, 0], undefined, { step: 2, task: 8 })];
    for (const group of others) expect(choose(curation, [group], { step: 2, memory }).insert).toEqual([]);
    expect(choose(curation, [stepOf(2, 0, 0)]).insert).toEqual([]);
  });

  test('the ninth success pushes the oldest out; what was inserted is not stored again', () => {
    let memory = curation.start();
    for (let step = 1; step <= 9; step++) memory = storedAfter(memory, stepOf(step, 1));
    const inserted = { ...stepOf(2, 1), step: 10 };
    memory = curation.remember([inserted], now(10, memory));
    const [[, keys]] = memory as [[string, { step: number }[]]];
    expect(keys.map(({ step }) => step)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('two failed groups of a task never get the same success', () => {
    const memory = storedAfter(curation.start(), stepOf(1, 1));
    const twice = [stepOf(2, 0, 0), { ...stepOf(2, 0, 0), group: 1 }];
    expect(choose(curation, twice, { step: 2, memory }).insert).toHaveLength(1);
  });

  test('resumed after any step, the same is inserted', () => {
    const steps = fc.array(fc.array(fc.constantFrom(0, 0, 1), { minLength: 2, maxLength: 3 }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(steps, fc.nat(), (played, cut) => {
        const told = (resumeAt: number) => {
          let memory = curation.start();
          return played.map((rewards, index) => {
            if (index === resumeAt) memory = JSON.parse(JSON.stringify(memory)) as Json;
            const group = stepOf(index + 1, ...rewards);
            const { insert } = choose(open('success-replay'), [group], { step: index + 1, memory });
            memory = storedAfter(memory, group);
            return [insert, memory];
          });
        };
        expect(told(cut % played.length)).toEqual(told(-1));
      }),
      { numRuns: 50 },
    );
  });
});

/** An episode whose turns have these mean −log-probabilities; null: another player's. */
const surprising = (...surprises: readonly (number | null)[]): Group => ({
  step: 1,
  group: 0,
  members: [
    playedEpisode(
      0,
      surprises.map((surprise) => ({
        written: 2,
        call: surprise === null ? { trainable: 'scripted' as const } : { logprobs: [-surprise, -surprise] },
      })),
    ),
  ],
});

describe('weights of turns', () => {
  const weightsOf = (name: string, group: Group, options: object = {}): readonly number[] =>
    chosen(group, choose(open(name, options), [group]))[0]!.weights_K!;

  test('uncertain-turns: of 1 to 10 the quantile is 2.8, and 8 turns are kept; ties are', () => {
    const ten = surprising(...Array.from({ length: 10 }, (_, turn) => turn + 1));
    expect(weightsOf('uncertain-turns', ten)).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(weightsOf('uncertain-turns', surprising(1, 1, 1))).toEqual([1, 1, 1]);
    expect(weightsOf('uncertain-turns', surprising(1, null, 9), { share: 0 })).toEqual([0, 1, 1]);
    expect(weightsOf('uncertain-turns', surprising(null))).toEqual([1]);
  });

  test('uncertain-turns: told entropies count, not how unlikely what came was', () => {
    const turn = (entropy: number, surprise: number) => ({
      written: 1,
      call: { logprobs: [-surprise], entropy },
    });
    const members = [playedEpisode(0, [turn(0.1, 4), turn(0.6, 0.01), turn(0.2, 2)])];
    expect(weightsOf('uncertain-turns', { step: 1, group: 0, members }, { share: 0 })).toEqual([0, 1, 0]);
    expect(weightsOf('perplexity', { step: 1, group: 0, members }, { below: 9, above: 1 })).toEqual([
      0, 1, 1,
    ]);
  });

  test('perplexity: of 1000 normal ones about 683 are within one standard deviation', () => {
    const rng = Rng.of('normal');
    const normal = Array.from({ length: 1000 }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - rng.next()));
      return 20 + radius * Math.cos(2 * Math.PI * rng.next());
    });
    const kept = weightsOf('perplexity', surprising(...normal)).filter((weight) => weight === 1);
    // Three standard deviations of a count of 1000 at .683 are 44.
    expect(Math.abs(kept.length - 683)).toBeLessThan(44);
    expect(weightsOf('perplexity', surprising(2, 2, 2, 2, 5))).toEqual([1, 1, 1, 1, 0]);
    expect(weightsOf('perplexity', surprising(2, 0.5, 2, 2, 2))).toEqual([1, 0, 1, 1, 1]);
    expect(weightsOf('perplexity', surprising(3, 3, null))).toEqual([1, 1, 1]);
    const failed = surprising(2, 2, 2, 2, 5);
    // Every step of a long way costs something: a success may earn less than nothing.
    const solved = {
      ...failed,
      members: failed.members.map((one) => ({ ...one, success: { agent: true }, outcome: { agent: -3 } })),
    };
    const filtered = [failed, solved].map((group) => weightsOf('perplexity', group, { of: 'successes' }));
    expect(filtered).toEqual([undefined, [1, 1, 1, 1, 0]]);
  });

  test('what earlier curations left out is not compared', () => {
    const members = [surprising(1, 2, 3).members[0]!, surprising(50).members[0]!];
    const group = { step: 1, group: 0, members };
    const isIn = (episode: Episode) => episode === members[0];
    const [weights] = chosen(group, choose(open('uncertain-turns', { share: 0 }), [group], { isIn }));
    expect(weights!.weights_K).toEqual([0, 0, 1]);
  });
});

describe('self-imitation (SPEAR)', () => {
  const curation = open('self-imitation', { warmupSteps: 100, age: 5 });
  const memory = {
    kept: [
      [madeKey({ step: 49, member: 0 }), 1, 0.3],
      [madeKey({ step: 49, member: 1 }), 0.3, 0.3],
      [madeKey({ step: 44, member: 2 }), 1, 0.3],
    ],
    means: [0.1, 0.2, 0.4, 0.5, 0.9].map((mean) => [49, mean]),
  } as unknown as Json;

  test('replayed against the median of the means: 1 is .6 above .4, .3 is below, and what is old is gone', () => {
    const fresh = groupOf([1, 0], undefined, { step: 51 });
    const { insert, choice } = choose(curation, [fresh], { step: 51, memory });
    expect(insert).toEqual([{ group: 'new', episode: madeKey({ step: 49, member: 0 }) }]);
    const [replayed] = groupOf([1], undefined, { step: 49 }).members;
    expect(choice!(replayed!, 'agent')).toEqual({
      ...{ inBaseline: false, inLoss: true },
      weight: expect.closeTo(0.5, 12),
      advantage: expect.closeTo(0.6, 12),
    });
    expect(chosen(fresh, { choice: choice! })).toEqual([learned, learned]);
  });

  test('its weight rises from 0', () => {
    expect(choose(curation, [], { step: 1, memory })).toEqual({});
    const at = (step: number) => {
      const recent = JSON.parse(JSON.stringify(memory).replaceAll('49', String(step - 1))) as Json;
      const { insert, choice } = choose(curation, [], { step, memory: recent });
      const { key } = { key: insert![0]!.episode };
      return choice!({ ...groupOf([1]).members[0]!, key }, 'agent').weight;
    };
    expect([at(51), at(101), at(301)].map((weight) => Math.round(weight * 1e9) / 1e9)).toEqual([0.5, 1, 1]);
  });

  test('what was above 0 is kept with the means of its step; what was inserted is not', () => {
    const credit = (advantage: number) => ({
      credit: { agent: { ...learned, trainedIn: 2, advantages_K: [advantage] } },
    });
    const group = groupOf([1, 0], (member) => credit(member === 0 ? 0.5 : -0.5), { step: 2 });
    const inserted = groupOf([1], () => credit(0.9), { step: 1, group: 1 });
    const next = curation.remember([group, { ...inserted, step: 2 }], now(2, curation.start()));
    expect(next).toEqual({ kept: [[group.members[0]!.key, 1, 0.5]], means: [[2, 0.5]] });
  });
});
