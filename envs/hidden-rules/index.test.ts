import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { factsOf } from '../../src/credit/contract/facts.ts';
import { playEpisode } from '../../src/env/play.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { scores } from '../scores.test-helper.ts';
import { hiddenRules, QUERIES, world } from './index.ts';
import { RULES, readRule, sameRule } from './rule.ts';

const defaults = world.options.parse({});
const environment = hiddenRules(defaults);
const rng = Rng.of(0);
const start = (rule: string) => environment.start({ rule }, rng).state;

describe('oracle', () => {
  it('the rule itself pays 1, its negation and "always" pay 0', () => {
    for (const { text } of RULES) {
      const paid = [`rule ${text}`, `rule not ( ${text} )`, 'rule x = x'].map(
        (action) => environment.step(start(text), action, rng).reward,
      );
      expect(paid).toEqual([1, 0, 0]);
    }
  });

  it('a learner that keeps the rules which agree with all answers finds each, in few questions', async () => {
    const game = world.create(defaults);
    let turns = 0;
    let most = 0;
    for (const [seed, { text }] of RULES.entries()) {
      const played = await playEpisode(game, { rule: text }, seed, 'expert');
      expect(played.success).toBe(true);
      turns += played.turns.length - 1;
      most = Math.max(most, played.turns.length - 1);
    }
    // Yes and no: no learner needs fewer questions on average than there are bits.
    expect(turns / RULES.length).toBeGreaterThanOrEqual(Math.log2(RULES.length) - 0.1);
    expect(
      `${RULES.length} rules, ${(turns / RULES.length).toFixed(2)} questions, at most ${most}`,
    ).toMatchInlineSnapshot(`"106 rules, 6.81 questions, at most 8"`);
  });

  it('the questions tell any two rules apart', () => {
    const answers = RULES.map(({ rule }) => QUERIES.map((triple) => (rule(triple) ? 1 : 0)).join(''));
    expect(new Set(answers).size).toBe(RULES.length);
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 200)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 7.72",
        "beginner 0.380 0.380 8.93",
        "random 0.015 0.015 2.10",
      ]
    `);
  });
});

describe('expressions', () => {
  it.each([
    ['x < y and y < z', [1, 2, 3], true],
    ['x < y and y < z', [1, 3, 2], false],
    ['x % 2 = 1', [-3, 0, 0], true],
    ['x % y = 0', [4, 0, 0], false],
    ['not x = y or z > 0', [1, 1, 1], true],
    ['x + 2 * y = 7', [3, 2, 0], true],
    ['(x + 2) * y = 10', [3, 2, 0], true],
    ['- x > 0', [-1, 0, 0], true],
    ['x >= y and x != z', [2, 2, 2], false],
  ] as const)('%s of %j is %s', (text, triple, truth) => expect(readRule(text)!(triple)).toBe(truth));

  it.each([
    '',
    'x',
    'x + y',
    'x < y < z',
    'x and y',
    'not x',
    'x = (y',
    'a > 0',
    'x > 0;',
    'constructor',
    'x.y > 0',
    '1 = 1 = 1',
    `${'('.repeat(300)}x`,
  ])('%j is no rule', (text) => expect(readRule(text)).toBeUndefined());

  it('are the same rule where they mean the same', () => {
    expect(sameRule(readRule('x < y')!, readRule('not y <= x')!)).toBe(true);
    expect(sameRule(readRule('x < y')!, readRule('x <= y')!)).toBe(false);
    expect(sameRule(readRule('x > 100')!, readRule('x > 150')!)).toBe(false);
  });
});

describe('rules', () => {
  it('answers a question with yes or no, and a rule ends the episode', () => {
    const yes = environment.step(start('x < y'), '1 2 3', rng);
    const no = environment.step(yes.state, '2, 1, 100', rng);
    const illegible = environment.step(no.state, 'rule x <', rng);
    const wrong = environment.step(illegible.state, 'rule x > y', rng);
    expect(
      [yes, no, illegible, wrong].map(({ observation, valid, done }) => [observation, valid, done]),
    ).toEqual([
      ['yes', true, false],
      ['no', true, false],
      ['invalid no', false, false],
      ['wrong', true, true],
    ]);
    expect(environment.step(no.state, 'rule y > x', rng)).toMatchObject({
      reward: 1,
      success: true,
      observation: 'right',
    });
  });

  it('the turn after the last question is for the rule', () => {
    const last = { ...start('x < y'), turn: 12 };
    expect(environment.step(last, '1 2 3', rng)).toMatchObject({ done: true, success: false, reward: 0 });
    expect(environment.step(last, 'rule x < y', rng)).toMatchObject({ done: true, success: true });
  });
});

it('what answers tell sums to all there is to know', async () => {
  const played = await playEpisode(world.create(defaults), { rule: 'x + y = z' }, 1, 'expert');
  const shares = played.turns.map(({ info }) => factsOf(info, 'A turn').turn.dense![0]!);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 10);
});

it('no rule is in two splits', () => {
  const sets = (['train', 'validation', 'test'] as const).map((split) => environment.tasks(split));
  expect(sets.reduce((sum, { size }) => sum + size, 0)).toBe(RULES.length);
  const all = sets.flatMap(({ size, at }) => Array.from({ length: size }, (_, index) => at(index).rule));
  expect(new Set(all).size).toBe(RULES.length);
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, { options: [{ queries: 0 }, { queries: 3 }], episodes: 20 }));
