/** `bench/claims/ID.json`: what is claimed, written down before its result, and against what it is held. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { type Arm, armOf } from '../arm.ts';
import { ledgerColumns } from '../ledger.ts';

const text = z.string().min(1);
const positive = z.number().positive();
const seedList = z.array(z.int().min(0)).min(1);
const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.json()),
  z.record(z.string(), z.json()),
]);
const settings = z.record(z.string(), value).default({});
/** What evaluations measure beside success and return, and the spread of a metric over the steps of a run. */
const measured = z.union([
  z.literal('turns'),
  z.templateLiteral(['env/', text]),
  z.templateLiteral(['spread/', text]),
]);
const metric = z.union([z.enum(['final', 'area', 'return', 'cost']), measured]);

export type MeasuredName = z.output<typeof measured>;
export type ClaimMetric = z.output<typeof metric>;

const arm = z.strictObject({
  recipe: text,
  settings: settings.describe('Settings by dotted key'),
  role: z
    .enum(['claimant', 'rival', 'placebo', 'reference', 'ceiling'])
    .describe(
      'The claimant must lead rivals and placebos; of a reference it must be no worse. A ceiling knows what no learner could; it is shown beside the others, and the verdict leaves it out',
    ),
  tune: z
    .union([z.boolean(), z.array(positive).min(2)])
    .default(true)
    .describe('Learning rates that it is tuned over; true takes five around its own'),
  ledger: z
    .array(z.enum(ledgerColumns))
    .default([])
    .describe('Facts in its settings, besides those that its recipe reads'),
});

export const claimSchema = z.strictObject({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  family: text.describe('The page on which it stands: claims that a reader meets together'),
  about: text.describe('One sentence'),
  source: text.describe('Paper and figure'),
  metric,
  split: z.literal('test').default('test'),
  policy: z.literal('sampled').default('sampled'),
  evaluationEpisodes: z.int().min(1).default(500),
  direction: z.enum(['higher', 'lower']).default('higher'),
  minimal: positive.describe(
    'The least difference that is claimed, in the unit of the metric; of costs, in halvings: 1 is half the cost',
  ),
  arms: z.record(z.string().regex(/^[A-Za-z0-9][\w.+-]*$/), arm),
  settings: settings.describe('Settings of all runs'),
  worlds: z
    .array(
      z.strictObject({
        name: text,
        tasks: z.string().optional().describe('Hash of its tasks, as `compare --plan` prints it'),
      }),
    )
    .min(1),
  seeds: z.strictObject({ tuning: seedList, verdict: seedList }),
  budget: z.strictObject({
    axis: z.enum(['episodes', 'turns', 'tokens', 'seconds']),
    amount: positive,
  }),
  gate: z
    .array(
      z.strictObject({
        metric: text.describe('Of steps, averaged over the runs of the arm'),
        arm: text,
        atLeast: z.number().optional(),
        atMost: z.number().optional(),
      }),
    )
    .default([])
    .describe('Conditions without which nothing is tested'),
  stop: text.describe('Looks and their levels; what counts as a failed run'),
  analysis: z.strictObject({
    procedure: z.literal('sign-flips-and-t'),
    version: z.literal(1),
    atCeiling: z.enum(['area']).optional().describe('The metric that decides where success is at its top'),
    noWorse: z
      .array(z.strictObject({ rival: text, metric, margin: positive }))
      .default([])
      .describe('Parts in which it must not be worse'),
  }),
  deviations: z.array(text).default([]).describe('In which this implementation differs from the source'),
  refutes: text.describe('In words'),
  supersedes: text.optional().describe('The earlier claim, and why'),
  withdrawn: text.optional().describe('Why; it stays in its family'),
});

export type Claim = z.output<typeof claimSchema>;

export interface StoredClaim {
  readonly path: string;
  readonly claim: Claim;
}

/** @throws TurnwiseError `claim-unusable` */
export function readClaim(path: string): StoredClaim {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw unusable(path, cause instanceof Error ? cause.message : String(cause));
  }
  try {
    const claim = parseStrict(claimSchema, content, 'This claim');
    requireSense(path, claim);
    return { path, claim };
  } catch (error) {
    if (TurnwiseError.isInstance(error) && error.code !== 'claim-unusable')
      throw unusable(path, error.message);
    throw error;
  }
}

/** The folder beside claims that holds their results. */
export const RESULTS = 'results';

/** A file, or all claims of a folder in alphabetical order, those of its subfolders included; results are none. */
export function readClaims(path: string): readonly StoredClaim[] {
  if (!existsSync(path)) throw unusable(path, 'no such file or folder');
  if (!statSync(path).isDirectory()) return [readClaim(path)];
  const files = readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && basename(dirname(name)) !== RESULTS)
    .sort();
  return files.map((name) => readClaim(join(path, name)));
}

function requireSense(path: string, { arms, gate, analysis, direction, metric: measured }: Claim): void {
  const roles = Object.values(arms).map(({ role }) => role);
  if (roles.filter((role) => role === 'claimant').length !== 1) {
    throw unusable(path, 'one arm must have the role "claimant"');
  }
  if (!roles.includes('rival')) throw unusable(path, 'at least one arm must have the role "rival"');
  const named = [...gate.map((one) => one.arm), ...analysis.noWorse.map(({ rival }) => rival)];
  const unknown = named.find((name) => !Object.hasOwn(arms, name));
  if (unknown !== undefined) throw unusable(path, `it names an arm "${unknown}" that it does not have`);
  const untested = Object.keys(arms).find(
    (name) => arms[name]!.role === 'reference' && !analysis.noWorse.some(({ rival }) => rival === name),
  );
  if (untested !== undefined)
    throw unusable(path, `the reference "${untested}" has no margin in analysis.noWorse`);
  if (measured === 'cost' && direction !== 'lower') throw unusable(path, 'a cost is better when it is lower');
}

function unusable(path: string, seen: string): TurnwiseError {
  return new TurnwiseError('claim-unusable', {
    what: `The claim ${path} cannot be used`,
    seen,
    next: 'docs/evidence.md has the format; bench/claims has examples',
    fields: { path },
  });
}

/** `key=value` of settings in a claim. */
export function assignmentsOf(of: Claim['settings']): string[] {
  return Object.entries(of).map(
    ([key, one]) => `${key}=${typeof one === 'string' ? one : JSON.stringify(one)}`,
  );
}

/** @throws TurnwiseError `recipe-unknown`, `file-unknown`, `file-unusable` */
export function claimArms({ arms }: Claim): Promise<readonly Arm[]> {
  return Promise.all(
    Object.entries(arms).map(([name, { recipe, settings: own }]) => armOf(name, recipe, assignmentsOf(own))),
  );
}

export function claimantOf({ arms }: Claim): string {
  return Object.entries(arms).find(([, { role }]) => role === 'claimant')![0];
}
