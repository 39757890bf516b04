/** The result of a claim: one JSON of at most 4 kB with the figures of every verdict run, so that its verdict can be computed again. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { realDisk } from '../../store/disk.ts';
import { ledgerColumns } from '../ledger.ts';
import { type Claim, type ClaimMetric, type MeasuredName, RESULTS, type StoredClaim } from './claim.ts';

const figures = z.array(z.number().nullable());

const run = z.strictObject({
  arm: z.string(),
  rate: z.number().optional(),
  /** By verdict seed; null where the run is missing. */
  final: figures,
  /** How many episodes `final` is a share of. */
  episodes: z.number().optional(),
  /** Of what decides nothing there is the mean alone. */
  area: figures,
  return: figures.optional(),
  cost: figures.optional(),
  /** By metric of evaluations or steps. */
  measured: z.record(z.string(), figures).optional(),
  /** Means over seeds; `spent` in episodes, turns, tokens and seconds. */
  start: z.number(),
  spent: z.tuple([z.number(), z.number(), z.number(), z.number()]),
  collapsed: z.int().default(0),
  diverged: z.int().default(0),
  /** Every evaluation, and every metric of every step, equals that of the claimant. */
  equal: z.literal(true).optional(),
});

const resultSchema = z.strictObject({
  format: z.literal('turnwise-claim-result'),
  formatVersion: z.literal(1),
  claim: z.string(),
  claimBlob: z.string(),
  commit: z.string(),
  dirty: z.literal(false),
  version: z.string(),
  lock: z.string().optional(),
  node: z.string(),
  runtime: z.string(),
  processor: z.string(),
  cores: z.int(),
  date: z.string(),
  seeds: z.strictObject({ tuning: z.array(z.int()), verdict: z.array(z.int()) }),
  hours: z.strictObject({ tuning: z.number(), verdict: z.number() }),
  ledger: z.record(z.string(), z.array(z.enum(ledgerColumns))),
  /** Measured, in the order of the claim's gate; null where no step has the metric. */
  gate: figures,
  worlds: z.record(
    z.string(),
    z.strictObject({
      /** What the evaluations play: tasks that are held out, or practised too. */
      testTasks: z.string(),
      tasks: z.string(),
      /** Rate and mean area on tuning seeds, best first; where there is no room for all, the worst are left out. */
      tuned: z.record(z.string(), z.array(z.tuple([z.number(), z.number()]))),
      runs: z.array(run),
    }),
  ),
  /** One hash over the event logs of all verdict runs. */
  files: z.string(),
});

export type ClaimResult = z.output<typeof resultSchema>;
export type WrittenResult = z.input<typeof resultSchema>;
export type ResultRun = z.output<typeof run>;
/** As it is written: figures that are 0 may be left out. */
export type WrittenRun = z.input<typeof run>;

const mostBytes = 4096;

/** Rates of an arm that are told in any case. */
export const fewestRates = 3;

/** Where the result of these seeds and this version belongs: it is never written over. */
export function resultPath(
  { path, claim }: StoredClaim,
  of: { readonly claimBlob: string; readonly verdict: readonly number[]; readonly version: string },
): string {
  const { claimBlob, verdict, version } = of;
  const hash = createHash('sha256')
    .update(JSON.stringify([claimBlob, verdict, version]))
    .digest('hex');
  return join(dirname(path), RESULTS, `${claim.id}-${hash.slice(0, 10)}.json`);
}

/** @throws TurnwiseError `claim-result` where it is too large, or already there */
export function writeResult(path: string, result: WrittenResult): void {
  const text = written(result);
  requireRoom(result.claim, text.length);
  if (existsSync(path)) {
    throw new TurnwiseError('claim-result', {
      what: `The claim "${result.claim}" has a result of these seeds and this version already`,
      seen: path,
      next: 'Give other --seeds to replicate it; a result is never written over',
      fields: { claim: result.claim },
    });
  }
  realDisk.makeFolder(dirname(path));
  realDisk.replaceFile(path, text);
}

function written(result: WrittenResult): string {
  const text = `${JSON.stringify(result)}\n`;
  const longest = Math.max(
    ...Object.values(result.worlds).flatMap(({ tuned }) => Object.values(tuned).map(({ length }) => length)),
  );
  if (text.length <= mostBytes || longest <= fewestRates) return text;
  const worlds = Object.entries(result.worlds).map(([name, world]) => [
    name,
    { ...world, tuned: Object.fromEntries(Object.entries(world.tuned).map(best(longest - 1))) },
  ]);
  return written({ ...result, worlds: Object.fromEntries(worlds) as WrittenResult['worlds'] });
}

const best =
  (count: number) =>
  <T>([arm, rates]: [string, readonly T[]]): [string, readonly T[]] => [arm, rates.slice(0, count)];

/** @throws TurnwiseError `claim-result` where a result of so many bytes is too large */
export function requireRoom(claim: string, bytes: number): void {
  if (bytes <= mostBytes) return;
  throw new TurnwiseError('claim-result', {
    what: `The result of the claim "${claim}" is larger than a result may be`,
    seen: `${bytes} bytes`,
    allowed: `at most ${mostBytes}`,
    next: 'Make several claims of it, with fewer arms or worlds each',
    fields: { claim },
  });
}

/** @throws TurnwiseError `claim-result` */
export function readResult(path: string): ClaimResult {
  const parsed = resultSchema.safeParse(JSON.parse(readFileSync(path, 'utf8')));
  if (parsed.success) return parsed.data;
  throw new TurnwiseError('claim-result', {
    what: 'The result of a claim cannot be read',
    seen: `${path}: ${z.prettifyError(parsed.error)}`,
    next: 'Restore the file from git',
    fields: { path },
  });
}

export interface StoredResult {
  readonly path: string;
  readonly result: ClaimResult;
}

/** Of a claim, latest first: replications have seeds of their own. */
export function resultsOf({ path, claim }: StoredClaim): readonly StoredResult[] {
  const folder = join(dirname(path), RESULTS);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.replace(/-[0-9a-f]{10}\.json$/, '') === claim.id)
    .map((name) => ({ path: join(folder, name), result: readResult(join(folder, name)) }))
    .sort((a, b) => b.result.date.localeCompare(a.result.date));
}

/** What the claim is decided by, and how runs ended: figures of each seed. */
export function metricsOf({ metric, analysis }: Claim): ReadonlySet<ClaimMetric> {
  const { atCeiling, noWorse } = analysis;
  return new Set(['final', metric, ...(atCeiling ? [atCeiling] : []), ...noWorse.map((part) => part.metric)]);
}

const isMeasured = (metric: ClaimMetric): metric is MeasuredName =>
  metric === 'turns' || metric.includes('/');

export const measuredIn = (claim: Claim): readonly MeasuredName[] => [...metricsOf(claim)].filter(isMeasured);

/** By verdict seed; nothing where the result does not have the metric. */
export function figuresBySeed(run: ResultRun, metric: ClaimMetric): readonly (number | null)[] {
  return (isMeasured(metric) ? run.measured?.[metric] : run[metric]) ?? [];
}
