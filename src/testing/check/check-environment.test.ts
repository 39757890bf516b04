import { expect, test } from 'vitest';
import { environmentNames, findEnvironment } from '../../run/load/environments.ts';
import { checkEnvironment } from './check-environment.ts';
import { defects } from './planted/defects.test-helper.ts';
import { healthy } from './planted/healthy.test-helper.ts';

test('an environment without a fault passes', async () => {
  const { checks, passes } = await checkEnvironment(healthy);
  expect(checks.flatMap(({ findings }) => findings)).toEqual([]);
  expect(passes).toBe(true);
  expect(checks.map(({ check }) => check)).toHaveLength(13);
});

test.each(Object.entries(defects))('it finds: %s', async (_, { check, fault, episodes = 12, plant }) => {
  const planted = { ...healthy, ...plant() };
  const report = await checkEnvironment(planted, { episodes, slowestMs: 5 });
  const found = report.checks.find((one) => one.check === check)!;
  expect(found.findings.map((finding) => finding.fault).join('\n')).toMatch(fault);
  for (const { counterexample, next } of found.findings) {
    expect(Object.keys(counterexample)).not.toEqual([]);
    expect(next).toMatch(/\.$/);
  }
  expect(report.passes).toBe(false);
});

test('a task that chance prevented in one episode is no task that nobody can solve', async () => {
  const slippery = {
    ...healthy,
    step: (...[state, action, rng]: Parameters<typeof healthy.step>) => {
      const step = healthy.step(state, action, rng);
      return rng.chance(0.05) ? { ...step, reward: 0, done: true, success: false } : step;
    },
  };
  const { checks } = await checkEnvironment(slippery, { episodes: 60, slowestMs: 5 });
  const { seen, findings } = checks.find(({ check }) => check === 'solvable')!;
  // Some episodes of the expert failed, so that there was something to look into.
  expect(seen).toMatch(/^expert 0\.[5-9]/);
  expect(findings).toEqual([]);
});

test('a check that is skipped finds nothing', async () => {
  const report = await checkEnvironment(
    { ...healthy, natural: undefined as never },
    { episodes: 9, skip: ['wordings'] },
  );
  expect(report.passes).toBe(true);
});

test.each(environmentNames)('%s passes', { timeout: 240_000 }, async (name) => {
  // Its games are of 60 turns, by the rules of chess.js.
  const episodes = name === 'chess' ? 4 : 15;
  // envs/laws.test.ts holds it to these in each of its options.
  const skip = ['laws', 'truth', 'wordings'];
  const { checks } = await checkEnvironment(await findEnvironment(name), { episodes, slowestMs: 100, skip });
  expect(checks.flatMap(({ findings }) => findings)).toEqual([]);
});
