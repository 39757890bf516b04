/** The control of every comparison: an arm against itself, over forty seeds. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Rng } from '../../core/rng.ts';
import { mean } from '../../core/statistics.ts';
import { signFlips } from '../../evidence/sign-flips.ts';
import { compareTiny, inProcess } from './compare.test-helper.ts';

const root = mkdtempSync(join(tmpdir(), 'turnwise-control-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SEEDS = 40;
/** Pairs of one small comparison among them. */
const PART = 5;

interface Outcome {
  readonly pairs: readonly {
    readonly metric: string;
    readonly adjusted: number;
    readonly comparison: { readonly p: number; readonly ties: number };
  }[];
  readonly worlds: readonly {
    readonly arms: readonly { readonly seeds: readonly { readonly figures: { readonly area: number } }[] }[];
  }[];
}

const ran: string[] = [];
const settings = ['clone.steps=40', 'evaluation.tasks=10', 'evaluation.finalTasks=20'];

async function twin(arm: string, name: string): Promise<Outcome> {
  const { code, output } = await compareTiny(
    inProcess(ran),
    root,
    ...['--recipes', 'rloo', '--seeds', String(SEEDS), ...settings.flatMap((one) => ['--set', one])],
    ...['--json', '--jobs', '1', '--name', name, '--arm', arm],
  );
  expect(code).toBe(0);
  const outcome = JSON.parse(output.trim().split('\n').at(-1)!) as Outcome;
  expect(outcome.pairs.map(({ metric }) => metric)).toContain('final');
  return outcome;
}

test('an arm against itself is the same run, and of each seed is played once', {
  timeout: 480_000,
}, async () => {
  const { pairs } = await twin('twin=rloo', 'same');
  for (const { comparison, metric } of pairs)
    expect([metric, comparison.ties, comparison.p]).toEqual([metric, SEEDS, 1]);
  // A warm start and one run a seed, for both arms.
  expect(ran).toHaveLength(2 * SEEDS);
});

test('where chance of its own samples from the policy, no difference is decided, and p is as often large as small', {
  timeout: 480_000,
}, async () => {
  const { pairs, worlds } = await twin('twin=rloo,rollout.policyKey=other', 'other');
  expect(ran).toHaveLength(3 * SEEDS);
  for (const { adjusted } of pairs) expect(adjusted).toBeGreaterThan(0.05);
  const [first, second] = worlds[0]!.arms.map(({ seeds }) => seeds.map(({ figures }) => figures.area));
  const differences_S = first!.map((area, seed) => area - second![seed]!);
  expect(differences_S.filter((difference) => difference !== 0).length).toBeGreaterThan(SEEDS / 2);
  const rng = Rng.of('control');
  const p = Array.from({ length: SEEDS / PART }, (_, part) => {
    return signFlips(differences_S.slice(part * PART, (part + 1) * PART), { rng }).p;
  });
  // Of uniform numbers the mean of eight is .5 ± .1.
  expect(mean(p)).toBeGreaterThan(0.25);
  expect(mean(p)).toBeLessThan(0.8);
  expect(p.filter((one) => one < 0.1).length).toBeLessThan(4);
});
