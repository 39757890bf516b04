import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Rng } from '../../src/core/rng.ts';
import { environmentLaws } from '../../src/testing/environment-laws.ts';
import { parseExpression, tokensOf } from '../arithmetic/expression.ts';
import { apply, arithmetic, equals, evaluate, OPERATORS, type Rational } from '../arithmetic/rational.ts';
import { scores } from '../scores.test-helper.ts';
import { countdown, judge, solution, world } from './index.ts';

const defaults = world.options.parse({});
const rng = Rng.of(0);

/** Whether the target can be reached, by taking two numbers at a time: another search than the solver's. */
function reaches(values: readonly Rational[], target: number): boolean {
  if (values.length === 1) return equals(values[0]!, target);
  return values.some((a, i) =>
    values.some((b, j) => {
      if (i === j) return false;
      const rest = values.filter((_, k) => k !== i && k !== j);
      return OPERATORS.some((operator) => {
        const value = apply(operator, a, b);
        return value !== undefined && reaches([...rest, value], target);
      });
    }),
  );
}

describe('oracle', () => {
  const file = join(import.meta.dirname, '../../../shared/data/longproc/countdown_0.5k.json');
  it.skipIf(!existsSync(file))(
    'all 200 stored problems of LongProc: their solutions hold, and ours do',
    () => {
      interface Problem {
        readonly nums: readonly number[];
        readonly target: number;
        readonly solution: readonly string[];
      }
      const problems = JSON.parse(readFileSync(file, 'utf8')) as readonly Problem[];
      expect(problems).toHaveLength(200);
      for (const { nums: numbers, target, solution: steps } of problems) {
        let pool = [...numbers];
        for (const step of steps) {
          const [sum, result] = step.split('=') as [string, string];
          const expression = parseExpression(tokensOf(sum)!, arithmetic)!;
          expect(equals(evaluate(expression)!, Number(result))).toBe(true);
          for (const used of sum.split(/[-+*/]/).map(Number)) {
            expect(pool).toContain(used);
            pool = pool.filter((_, place) => place !== pool.indexOf(used));
          }
          pool.push(Number(result));
        }
        expect(pool).toEqual([target]);
        const { fits, value } = judge({ numbers, target }, solution({ numbers, target }, OPERATORS))!;
        expect(fits && equals(value!, target)).toBe(true);
      }
    },
  );

  it('exhaustive search and a search by pairs agree on what can be reached', () => {
    let solvable = 0;
    for (let seed = 0; seed < 60; seed++) {
      const draw = Rng.of('deal', seed);
      const numbers = Array.from({ length: 4 }, () => 1 + draw.int(9));
      const target = 30 + draw.int(90);
      const found = solution({ numbers, target }, OPERATORS) !== '';
      expect(found).toBe(
        reaches(
          numbers.map((n) => [n, 1]),
          target,
        ),
      );
      solvable += found ? 1 : 0;
    }
    expect(solvable).toBeGreaterThan(10);
    expect(solvable).toBeLessThan(50);
  });

  it('scripted players do as the README says', async () => {
    expect(await scores(world.create(defaults), 500)).toMatchInlineSnapshot(`
      [
        "expert 1.000 1.000 1.00",
        "beginner 0.326 0.393 1.00",
        "random 0.186 0.267 1.00",
      ]
    `);
  });
});

describe('rules', () => {
  const state = { numbers: [3, 7, 12], target: 16, tries: 0, told: '' };
  const told = (action: string, tries = 1) => countdown({ ...defaults, tries }).step(state, action, rng);

  it('pays 1 for the target, 0.1 for the right numbers, and nothing else', () => {
    expect(told('12 + 7 - 3')).toMatchObject({ reward: 1, done: true, success: true });
    expect(told('(12+7)-3')).toMatchObject({ reward: 1, success: true });
    expect(told('12 + 7 + 3')).toMatchObject({ reward: 0.1, done: true, success: false, valid: true });
    expect(told('12 / (7 - 7) + 3')).toMatchObject({ reward: 0, valid: true });
    expect(told('16 * 1')).toMatchObject({ reward: 0, valid: true });
    expect(told('12 + 7 - 3 - 3 + 3')).toMatchObject({ reward: 0, success: false });
  });

  it.each(['', '16', '12 + + 3', '12 + 7 - 3 =', 'process.exit()', '12 + (7 - 3', '1e9 + 1', '- 3 + 7 + 12'])(
    '%j is no expression',
    (action) => expect(told(action)).toMatchObject({ reward: 0, valid: false, done: true }),
  );

  it('is exact: a third is no decimal', () => {
    const { fits, value } = judge({ numbers: [8, 8, 3, 3], target: 24 }, '8 / (3 - 8 / 3)')!;
    expect(fits && equals(value!, 24)).toBe(true);
  });

  it('with several tries, tells what the last one was worth', () => {
    const answers = [told('12 - 7 + 3', 2), told('twelve', 2)].map(({ observation, reward, done }) => [
      observation,
      reward,
      done,
    ]);
    expect(answers).toMatchInlineSnapshot(`
      [
        [
          "numbers 3 7 12 target 16 not 8",
          0,
          false,
        ],
        [
          "invalid numbers 3 7 12 target 16",
          0,
          false,
        ],
      ]
    `);
  });
});

it('every task has its numbers in order, a solution, and one split', () => {
  for (const operators of ['sums', 'all'] as const) {
    const { tasks, truth } = countdown({ ...defaults, count: 4, operators });
    const seen = new Map<string, string>();
    for (const split of ['train', 'validation', 'test'] as const) {
      for (let index = 0; index < 40; index++) {
        const task = tasks(split).at(index);
        expect(judge(task, truth!(task) as string)?.fits).toBe(true);
        const key = JSON.stringify(task);
        expect(seen.get(key) ?? split).toBe(split);
        seen.set(key, split);
      }
    }
  }
});

it('keeps the laws with other numbers', () =>
  environmentLaws(world, {
    options: [
      { count: 4, tries: 3 },
      { count: 2, largest: 100 },
    ],
    episodes: 20,
  }));
