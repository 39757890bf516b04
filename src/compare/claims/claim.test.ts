import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { findEnvironment } from '../../run/load/environments.ts';
import { ledgerOf } from '../ledger.ts';
import { type Claim, readClaim, readClaims } from './claim.ts';
import { checkPrecedence, requireCommitted } from './claim-git.ts';
import {
  type ClaimResult,
  type ResultRun,
  readResult,
  resultPath,
  resultsOf,
  writeResult,
} from './claim-result.ts';
import { prepareClaim } from './claim-run.ts';
import { judgeClaims } from './claim-verdict.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-claims-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const verdict = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
const example = {
  ...{ id: 'lead', family: 'tests', about: 'A leads.', source: 'nobody', metric: 'final', minimal: 0.05 },
  arms: {
    a: { recipe: 'grpo', role: 'claimant' },
    b: { recipe: 'rloo', role: 'rival' },
  },
  worlds: [{ name: 'maze' }],
  seeds: { tuning: [9001, 9002, 9003], verdict },
  budget: { axis: 'episodes', amount: 5120 },
  ...{ stop: 'One look.', analysis: { procedure: 'sign-flips-and-t', version: 1 }, refutes: 'No lead.' },
};

const noise = [0, 0.02, -0.02, 0.01, -0.01, 0.03, -0.03, 0.02, -0.02, 0.01, -0.01, 0];
const resultRun = (arm: string, level: number, more: Partial<ResultRun> = {}): ResultRun => ({
  ...{ arm, rate: 0.001, episodes: 500, start: 0.2, collapsed: 0, diverged: 0 },
  final: noise.map((extra) => level + extra * (arm === 'a' ? 1 : -1)),
  area: noise.map((extra) => level / 2 + extra),
  spent: [5120, 20_000, 400_000, 30],
  ...more,
});

interface Written {
  readonly claim?: object;
  readonly runs?: readonly ResultRun[];
  readonly result?: Partial<ClaimResult>;
}

/** A repository with a claim, and its result where there are runs. */
function repository({ claim = {}, runs, result = {} }: Written): string {
  const folder = mkdtempSync(join(root, 'repository-'));
  const git = (...words: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  git('init', '-q');
  const path = join(folder, 'lead.json');
  writeFileSync(path, JSON.stringify({ ...example, ...claim }));
  git('add', '.');
  git('commit', '-qm', 'A claim');
  if (runs === undefined) return path;
  const at = requireCommitted(path, folder);
  const content: ClaimResult = {
    ...{ format: 'turnwise-claim-result', formatVersion: 1, claim: 'lead', ...at, dirty: false },
    ...{ version: '0.1.0', node: 'v22', runtime: 'onnxruntime 1', processor: 'p', cores: 2 },
    ...{
      date: '2026-01-01T00:00:00Z',
      seeds: { tuning: [9001], verdict },
      hours: { tuning: 0.1, verdict: 0.2 },
    },
    ...{ ledger: { a: [], b: [] }, gate: [], files: 'hash' },
    worlds: { maze: { testTasks: 'practised', tasks: 'hash', tuned: {}, runs: [...runs] } },
    ...result,
  };
  writeResult(resultPath(readClaim(path), { ...at, verdict, version: '0.1.0' }), content);
  git('add', '.');
  git('commit', '-qm', 'Its result');
  return path;
}

const judged = (written: Written) => {
  const path = repository(written);
  return judgeClaims(path, join(path, '..'))[0]!;
};
const verdictOf = (written: Written): string => judged(written).judgement.verdict;
const clear = [resultRun('a', 0.8), resultRun('b', 0.6)];

describe('a claim on disk', () => {
  test.each(readClaims('bench/claims').map((stored) => [stored.claim.id, stored] as const))(
    '%s can be prepared, and every column that it reads is read by a rival',
    async (id, stored) => {
      const { claim, path } = stored;
      expect(basename(path)).toBe(`${id}.json`);
      const worlds = await Promise.all(
        claim.worlds.map(({ name }) => findEnvironment(name).catch(() => undefined)),
      );
      if (worlds.includes(undefined)) return;
      const { study } = await prepareClaim(stored, root);
      const ledger = (role: string) =>
        study.worlds[0]!.cells.filter(({ arm }) => claim.arms[arm.name]!.role === role).flatMap(
          ({ arm, run }) => ledgerOf(run, claim.arms[arm.name]!.ledger),
        );
      expect(ledger('rival')).toEqual(expect.arrayContaining(ledger('claimant')));
      expect(claim.seeds.verdict.length).toBeGreaterThanOrEqual(12);
      expect(claim.seeds.verdict.filter((seed) => claim.seeds.tuning.includes(seed))).toEqual([]);
    },
  );

  test('is refused where it makes no sense, by a sentence', () => {
    const said = (change: object): string => {
      const path = join(root, 'wrong.json');
      writeFileSync(path, JSON.stringify({ ...example, ...change }));
      try {
        readClaim(path);
        return 'accepted';
      } catch (error) {
        return (error as Error).message.replaceAll(root, 'ROOT');
      }
    };
    expect(said({})).toBe('accepted');
    expect(said({ arms: { a: { recipe: 'grpo', role: 'claimant' } } })).toContain(
      'at least one arm must have the role "rival"',
    );
    const c = { recipe: 'ppo', role: 'reference' };
    expect(said({ arms: { ...example.arms, c } })).toContain(
      'the reference "c" has no margin in analysis.noWorse',
    );
    expect(said({ minmal: 1 })).toContain('minmal');
    expect(said({ metric: 'cost' })).toContain('a cost is better when it is lower');
    expect(said({ gate: [{ metric: 'x', arm: 'c' }] })).toContain('an arm "c" that it does not have');
  });

  test('must be committed before it runs', () => {
    const path = repository({});
    const folder = join(path, '..');
    expect(requireCommitted(path, folder).claimBlob).toMatch(/^[0-9a-f]{40}$/);
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`);
    expect(() => requireCommitted(path, folder)).toThrow('the file differs from the last commit');
    const outside = mkdtempSync(join(tmpdir(), 'turnwise-outside-'));
    writeFileSync(join(outside, 'lead.json'), '{}');
    expect(() => requireCommitted(join(outside, 'lead.json'), outside)).toThrow('no git repository');
    rmSync(outside, { recursive: true });
  });
});

describe('a verdict', () => {
  test('without a result is pending', () => {
    expect(judged({}).judgement).toEqual({
      verdict: 'pending',
      why: expect.stringMatching(
        /^not run yet; planned: \d+ runs or more, [\d.]+ hours on two cores at a minute each$/,
      ),
    });
    expect(judged({ claim: { worlds: [{ name: 'errand' }] } }).judgement.why).toBe(
      'there is no environment errand yet',
    );
  });

  test('is computed from the figures', () => {
    const { judgement, p, parts } = judged({ runs: clear });
    expect(judgement).toEqual({ verdict: 'reproduced', why: 'every part holds' });
    expect(p).toBeLessThan(0.001);
    // A lead of 0.2 over a height of 0.6.
    expect(parts[0]!.breakEven).toBeCloseTo(1 / 3, 9);
    expect(parts[0]!.collapseBound).toBeCloseTo(0.221, 3);
    expect(verdictOf({ runs: [resultRun('a', 0.6), resultRun('b', 0.8)] })).toBe('refuted');
    expect(
      verdictOf({ runs: [resultRun('a', 0.6), resultRun('b', 0.8)], claim: { deviations: ['no critic'] } }),
    ).toBe('of our implementation only');
    expect(verdictOf({ runs: [resultRun('a', 0.64), resultRun('b', 0.6)] })).toBe('undecided');
  });

  test('needs the lead at every rate that the rival may have', () => {
    const second = resultRun('b', 0.79, { rate: 0.002 });
    expect(judged({ runs: [...clear, second] }).parts.map(({ against }) => against)).toEqual([
      'b at 0.001',
      'b at 0.002',
    ]);
    expect(verdictOf({ runs: [...clear, second] })).not.toBe('reproduced');
  });

  test('that could not have been another says so', () => {
    expect(judged({ runs: [clear[0]!, { ...clear[0]!, arm: 'b', equal: true }] }).judgement).toEqual({
      verdict: 'cannot fail here',
      why: 'a equals b bit for bit: it changes nothing here',
    });
    expect(verdictOf({ runs: clear, result: { ledger: { a: ['truth'], b: [] } } })).toBe('cannot fail here');
    expect(verdictOf({ runs: clear, result: { ledger: { a: ['truth'], b: ['truth'] } } })).toBe('reproduced');
    const gate = [{ metric: 'groups/constant_share', arm: 'b', atLeast: 0.3 }];
    expect(verdictOf({ runs: clear, claim: { gate }, result: { gate: [0.2] } })).toBe('cannot fail here');
    expect(verdictOf({ runs: clear, claim: { gate }, result: { gate: [0.4] } })).toBe('reproduced');
  });

  test('at a ceiling is undecided, unless the claim has a second metric', () => {
    const high = [
      resultRun('a', 1, { final: verdict.map(() => 1) }),
      resultRun('b', 0.98, { area: noise.map((n) => 0.2 - n) }),
    ];
    expect(judged({ runs: high }).judgement.why).toContain('success is at its ceiling');
    const analysis = { ...example.analysis, atCeiling: 'area' };
    expect(verdictOf({ runs: high, claim: { analysis } })).toBe('reproduced');
  });

  test('with many runs missing is undecided', () => {
    const final = noise.map((extra, seed) => (seed < 4 ? null : 0.8 + extra));
    const { why } = judged({ runs: [resultRun('a', 0.8, { final }), clear[1]!] }).judgement;
    expect(why).toContain('4 of 24 runs are missing');
  });

  test('"no worse" is a part of its own', () => {
    const noWorse = (margin: number) => ({
      analysis: { ...example.analysis, noWorse: [{ rival: 'b', metric: 'area', margin }] },
    });
    const runs = [clear[0]!, resultRun('b', 0.6, { area: noise.map((extra) => 0.41 + 0.9 * extra) })];
    expect(verdictOf({ runs, claim: noWorse(0.02) })).toBe('reproduced');
    expect(judged({ runs, claim: noWorse(0.005) }).judgement.why).toContain(
      'worse than b at 0.001 by more than 0.005',
    );
  });

  test('of a reference asks that it is no worse, and no lead', () => {
    const arms = { ...example.arms, c: { recipe: 'ppo', role: 'reference' } };
    const analysis = { ...example.analysis, noWorse: [{ rival: 'c', metric: 'area', margin: 0.02 }] };
    const runs = (level: number) => [
      ...clear,
      resultRun('c', 0.8, { area: noise.map((extra) => level + 0.9 * extra) }),
    ];
    const { parts } = judged({ claim: { arms, analysis }, runs: runs(0.41) });
    expect(parts.map(({ against, kind }) => [against, kind])).toEqual([
      ['b at 0.001', 'better'],
      ['c at 0.001', 'no worse'],
    ]);
    expect(verdictOf({ claim: { arms, analysis }, runs: runs(0.41) })).toBe('reproduced');
    expect(verdictOf({ claim: { arms, analysis }, runs: runs(0.45) })).not.toBe('reproduced');
  });

  test('on costs compares ratios, in halvings', () => {
    const costs = (level: number, spread: number) => noise.map((extra) => level * 2 ** (spread * extra));
    const claim = { metric: 'cost', direction: 'lower', minimal: 2 };
    const of = (own: number) =>
      judged({
        claim,
        runs: [resultRun('a', 0.8, { cost: costs(own, 1) }), resultRun('b', 0.6, { cost: costs(800, 3) })],
      });
    expect(of(100).parts[0]!.comparison.mean).toBeCloseTo(3, 2);
    expect(of(100).judgement).toEqual({ verdict: 'reproduced', why: 'every part holds' });
    // Half the cost is not a quarter, twice the cost is no saving at all.
    expect(of(400).judgement.why).toContain('2 above b at 0.001 is excluded');
    expect(of(1600).judgement.why).toContain('reversed against b at 0.001');
  });

  test('on what the environment measures is decided by that', () => {
    const claim = { metric: 'env/errors', direction: 'lower', minimal: 0.1 };
    const measured = (level: number, spread: number) => ({
      'env/errors': noise.map((extra) => level + spread * extra),
    });
    const of = (own: number) =>
      judged({
        claim,
        runs: [
          resultRun('a', 0.6, { measured: measured(own, 1) }),
          resultRun('b', 0.8, { measured: measured(0.6, -1) }),
        ],
      });
    expect(of(0.3).parts[0]!.comparison.mean).toBeCloseTo(0.3, 9);
    expect(of(0.3).judgement.verdict).toBe('reproduced');
    expect(of(0.7).judgement.why).toContain('reversed against b at 0.001');
    // No evaluation of these runs has it.
    expect(judged({ claim, runs: clear }).judgement).toEqual({
      verdict: 'undecided',
      why: '24 of 24 runs are missing; no seed has the claimant beside b at 0.001; it compares with nothing',
    });
  });

  test('is void where seeds were tuned on, tasks are others, or the claim was changed', () => {
    expect(judged({ runs: clear, result: { seeds: { tuning: [3], verdict } } }).judgement.why).toBe(
      'seeds 3 were tuned on',
    );
    expect(verdictOf({ runs: clear, claim: { worlds: [{ name: 'maze', tasks: 'other' }] } })).toBe('void');
    const path = repository({ runs: clear });
    writeFileSync(path, JSON.stringify({ ...example, minimal: 0.01 }));
    expect(judgeClaims(path, join(path, '..'))[0]!.judgement).toMatchObject({
      verdict: 'void',
      why: 'the claim was changed after its result',
    });
  });

  test('is void where claim and result came in one commit', () => {
    const folder = mkdtempSync(join(root, 'squashed-'));
    const git = (...words: string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    git('init', '-q');
    writeFileSync(join(folder, 'claim.json'), '{}');
    mkdirSync(join(folder, 'results'));
    writeFileSync(join(folder, 'results', 'r.json'), '{}');
    git('add', '.');
    git('commit', '-qm', 'Both');
    const at = { claimBlob: git('hash-object', 'claim.json'), commit: git('rev-parse', 'HEAD') };
    const paths = [join(folder, 'claim.json'), join(folder, 'results', 'r.json')] as const;
    expect(checkPrecedence(...paths, at, folder).void).toEqual(['the claim is not older than its result']);
    const clone = mkdtempSync(join(root, 'shallow-'));
    execFileSync('git', ['clone', '-q', '--depth', '1', `file://${folder}`, clone]);
    expect(
      checkPrecedence(join(clone, 'claim.json'), join(clone, 'results', 'r.json'), at, clone).unchecked,
    ).toContain('shallow');
  });

  test('counts the whole family, claims that are pending or withdrawn included', () => {
    const path = repository({ runs: clear });
    const others = ['second', 'third'].map((id) => ({ ...example, id }) as unknown as Claim);
    for (const other of others) writeFileSync(join(path, '..', `${other.id}.json`), JSON.stringify(other));
    const [alone, together] = [judged({ runs: clear }), judgeClaims(path, join(path, '..'))[0]!];
    expect([alone.family, together.family]).toEqual([1, 3]);
    expect(together.adjusted).toBeCloseTo(3 * alone.p, 12);
  });
});

test('a result is at most 4 kB, and never written over', () => {
  const path = repository({ runs: clear });
  const file = resultPath(readClaim(path), {
    ...requireCommitted(path, join(path, '..')),
    verdict,
    version: '0.1.0',
  });
  const result = readResult(file);
  expect(readFileSync(file).length).toBeLessThan(4096);
  expect(() => writeResult(file, result)).toThrow('has a result of these seeds and this version already');
  const many = {
    ...result,
    worlds: { maze: { ...result.worlds.maze!, runs: Array.from({ length: 12 }, () => clear[0]!) } },
  };
  expect(() => writeResult(`${file}.new`, many)).toThrow('is larger than a result may be');
});

test('where there is no room the worst rates of tuning are left out, and never the best three', () => {
  const path = repository({ runs: clear });
  const [stored] = resultsOf(readClaim(path));
  const { result } = stored!;
  const rates = Array.from({ length: 60 }, (_, place): [number, number] => [0.001 + place, 0.5]);
  const maze = { ...result.worlds.maze!, tuned: { one: rates, two: rates.slice(0, 4), three: [] } };
  const file = `${stored!.path}.wide`;
  writeResult(file, { ...result, worlds: { maze } });
  expect(readFileSync(file).length).toBeLessThanOrEqual(4096);
  const { one, two, three } = readResult(file).worlds.maze!.tuned;
  expect(one).toEqual(rates.slice(0, one!.length));
  expect([one!.length > 3, two, three]).toEqual([true, rates.slice(0, 4), []]);
  const full = { ...maze, runs: Array.from({ length: 12 }, () => clear[0]!) };
  expect(() => writeResult(`${file}.full`, { ...result, worlds: { maze: full } })).toThrow('is larger');
});
