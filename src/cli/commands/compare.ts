/** `turnwise compare`: arms in environments over seeds, from the same warm starts; with claims, to a verdict. */

import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { armsOf, namedIn } from '../../compare/arm.ts';
import { budgetText, parseBudget } from '../../compare/budget.ts';
import { type Children, turnwiseChildren } from '../../compare/child-run.ts';
import { curvesCsv, runsCsv } from '../../compare/csv.ts';
import { planOf } from '../../compare/forecast.ts';
import { jobsOf } from '../../compare/jobs.ts';
import { provenance } from '../../compare/provenance.ts';
import { compareArms } from '../../compare/results.ts';
import { parseSeeds } from '../../compare/seed-list.ts';
import { prepareStudy, type Study, storeName } from '../../compare/study.ts';
import { claimComparison, contentOf } from '../../compare/study-file.ts';
import type { JobStatus } from '../../compare/sweep.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { exactJson } from '../../core/json/exact-json.ts';
import { commandLine } from '../../core/shell.ts';
import { environmentNames, findEnvironment } from '../../run/load/environments.ts';
import { nameInAssignments } from '../../run/settings/run-definitions.ts';
import { settingsSchema } from '../../run/settings/run-settings.ts';
import { realDisk } from '../../store/disk.ts';
import { recipes as allRecipes } from '../../train/recipes/recipes.ts';
import { comparisonFile } from '../../view/comparison.ts';
import { type Command, defineCommand, type Invocation } from '../command.ts';
import { comparisonText } from '../compare/comparison-text.ts';
import { planText } from '../compare/plan-text.ts';
import { type ReportRequest, reportPage } from '../compare/report-page.ts';
import { planClaims, reportClaims, runClaims } from '../compare/run-claims.ts';
import { shownSweep } from '../compare/shown-sweep.ts';
import { storedComparison } from '../compare/stored-comparison.ts';

const options = z.strictObject({
  env: z
    .string()
    .default('')
    .describe(`Environments, separated by commas: ${environmentNames.join(', ')}`),
  recipes: z
    .string()
    .default('')
    .describe(`Recipes, separated by commas, or files: ${allRecipes.map(({ name }) => name).join(', ')}`),
  arm: z
    .array(z.string())
    .default([])
    .describe('A recipe, built in or from a file, with settings: NAME=RECIPE,KEY=VALUE; may be repeated'),
  seeds: z
    .string()
    .optional()
    .describe(
      'A number, a range or a list: 5, 201..212 or 3,7,11; all arms of a seed share one warm start; default: 5, or the claim’s',
    ),
  budget: z
    .string()
    .optional()
    .describe(
      'The budget of each run: steps=N, episodes=N, turns=N, tokens=N, seconds=N or minutes=N; default: the steps of the environment',
    ),
  set: z.array(z.string()).default([]).describe('Change a setting of all runs; may be repeated'),
  name: z.string().optional().describe('Name of the comparison; default: ENVIRONMENT-ARM-vs-ARM'),
  runs: z.string().default('runs').describe('Folder that holds the comparison'),
  jobs: z.int().min(1).optional().describe('Processes at once, one thread each; default: one per core'),
  claim: z
    .string()
    .optional()
    .describe('A claim, or a folder of claims: tune, run and judge them (docs/evidence.md)'),
  report: z.boolean().default(false).describe('With --claim: run nothing, and judge the stored results'),
  plan: z.boolean().default(false).describe('Print runs, cached runs and hours, and run nothing'),
  json: z.boolean().default(false).describe('Print progress and the result as JSON lines'),
});

type Options = z.output<typeof options>;

export const compareCommand: Command<typeof options> = compareWith(turnwiseChildren);

/** @param start makes the processes; tests run in this one */
export function compareWith(start: () => Children): Command<typeof options> {
  return defineCommand({
    name: 'compare',
    summary: 'Compare recipes over seeds, from shared warm starts, with a report',
    arguments: [],
    options,
    settings: async (given) => {
      const name = given.find((word) => environmentNames.includes(word));
      const factory = name === undefined ? undefined : await findEnvironment(name);
      const { set, catalogue } = await nameInAssignments(given);
      return settingsSchema(factory?.options, undefined, set, catalogue, factory?.settings);
    },
    examples: [
      'turnwise compare --env frozen-lake --recipes rloo,grpo,ppo --seeds 5',
      'turnwise compare --env maze --recipes rloo,grpo --seeds 3 --budget steps=20',
      'turnwise compare --claim bench/claims --report',
      'turnwise compare --env wordle,maze --recipes grpo --arm wide=grpo,rollout.group=16 --budget episodes=5k --plan',
    ],
    run: (invocation) =>
      invocation.options.claim === undefined
        ? explore(invocation, start)
        : judged(invocation, invocation.options.claim, start),
  });
}

/** All pairs of arms by every metric, without a verdict. */
async function explore(
  { options: given, console, interrupts }: Invocation<Options>,
  start: () => Children,
): Promise<void> {
  const seeds = parseSeeds(given.seeds ?? '5');
  const study = prepareStudy({
    worlds: await worldsOf(given.env),
    ...(await namedIn(given.set, await armsOf(listOf(given.recipes), given.arm))),
    budget: given.budget === undefined ? undefined : parseBudget(given.budget),
    name: given.name,
    root: given.runs,
  });
  const jobs = jobsOf(study, { seeds });
  const parallel = given.jobs ?? availableParallelism();
  if (given.plan) {
    const plan = planOf(study, jobs, parallel);
    console.write(given.json ? `${JSON.stringify({ type: 'plan', ...plan })}\n` : planText(plan, console));
    return;
  }
  const command = ownCommand(given);
  const release = claimComparison(study.folder, study.name, contentOf(study, seeds));
  try {
    const sweep = shownSweep({
      store: study.store,
      parallel,
      children: start(),
      console,
      interrupts,
      json: given.json,
    });
    const statuses = await sweep.run(jobs);
    sweep.close();
    if (sweep.stopped()) throw interrupted(study, again(command, given));
    const failed = statuses.filter(({ state }) => state === 'failed');
    const comparison = compareArms(study, jobs, failed);
    const report = finish({ comparison, study, jobs, seeds, command }, given.json, console);
    if (failed.length > 0) throw incomplete(failed, report, again(command, given));
  } finally {
    release();
  }
}

/** Claims that were written down before: tuned, run and judged. */
async function judged(
  { options: given, console, interrupts }: Invocation<Options>,
  path: string,
  start: () => Children,
): Promise<void> {
  refuseBesideClaim(given);
  const request = {
    ...{ path, root: given.runs, json: given.json, console },
    seeds: given.seeds === undefined ? undefined : parseSeeds(given.seeds),
    parallel: given.jobs ?? availableParallelism(),
  };
  if (given.plan) return planClaims(request);
  if (!given.report) {
    const store = join(given.runs, storeName);
    const { parallel, json } = request;
    const sweep = shownSweep({ ...{ store, parallel, console, interrupts, json }, children: start() });
    try {
      await runClaims(request, sweep);
    } finally {
      sweep.close();
    }
    if (sweep.stopped()) throw interrupted({ name: path }, again(claimCommand(given), given));
  }
  await reportClaims(request);
}

/** A claim says itself what it compares. */
function refuseBesideClaim({ env, recipes, arm, budget, set, name }: Options): void {
  const given = { env, recipes, arm: arm.join(' '), budget, set: set.join(' '), name };
  const [other] = Object.entries(given).find(([, value]) => value !== undefined && value !== '') ?? [];
  if (other === undefined) return;
  throw new TurnwiseError('option-value', {
    what: `--${other} cannot be given beside --claim, which names the arms itself`,
    allowed: '--seeds for a replication, --runs, --jobs, --plan, --report and --json',
    fields: { option: `--${other}` },
  });
}

function claimCommand({ claim, seeds, runs }: Options): string {
  return commandLine([
    ...['turnwise', 'compare', '--claim', claim!],
    ...(seeds === undefined ? [] : ['--seeds', seeds]),
    ...(runs === 'runs' ? [] : ['--runs', runs]),
  ]);
}

/** Write the report and show the result; returns the path of the report. */
function finish(
  request: Omit<ReportRequest, 'from'>,
  json: boolean,
  console: Invocation<Options>['console'],
): string {
  const { comparison, study } = request;
  const from = provenance();
  const write = (file: string, content: string): string => {
    const path = join(study.folder, file);
    realDisk.replaceFile(path, content);
    return relative('', path);
  };
  const report = write('report.html', reportPage({ ...request, from }));
  write(comparisonFile, exactJson(storedComparison(comparison)));
  const csv = {
    runs: write('runs.csv', runsCsv(comparison.worlds)),
    curves: write('curves.csv', curvesCsv(comparison.worlds)),
  };
  if (json) console.write(`${JSON.stringify({ type: 'comparison', ...comparison, from, report, csv })}\n`);
  else console.write(`\n${comparisonText(comparison, report, console)}`);
  return report;
}

const listOf = (text: string): string[] =>
  text.trim() === '' ? [] : text.split(',').map((name) => name.trim());

async function worldsOf(list: string) {
  const names = listOf(list);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (names.length > 0 && twice === undefined) return Promise.all(names.map(findEnvironment));
  throw new TurnwiseError('option-value', {
    what: 'The value of --env is not allowed',
    seen: twice === undefined ? 'nothing' : `${twice} twice`,
    allowed: `different environments, separated by commas: ${environmentNames.join(', ')}, files or addresses`,
    fields: { option: '--env' },
  });
}

/** The command line that continues, or repeats, this comparison. */
function ownCommand({ env, recipes, arm, seeds, budget, set, name, runs }: Options): string {
  return commandLine([
    'turnwise',
    'compare',
    ...['--env', env],
    ...(recipes === '' ? [] : ['--recipes', recipes]),
    ...arm.flatMap((one) => ['--arm', one]),
    ...(seeds === undefined ? [] : ['--seeds', seeds]),
    ...(budget === undefined ? [] : ['--budget', budgetText(parseBudget(budget))]),
    ...set.flatMap((assignment) => ['--set', assignment]),
    ...(name === undefined ? [] : ['--name', name]),
    ...(runs === 'runs' ? [] : ['--runs', runs]),
  ]);
}

/** How to go on on this machine. */
function again(command: string, { jobs }: Options): string {
  return jobs === undefined ? command : `${command} --jobs ${jobs}`;
}

function interrupted({ name }: Pick<Study, 'name'>, command: string): TurnwiseError {
  return new TurnwiseError('interrupted', {
    what: `The comparison "${name}" was stopped`,
    next: `Go on with the same command: ${command}`,
    fields: { comparison: name },
  });
}

function incomplete(failed: readonly JobStatus[], report: string, command: string): TurnwiseError {
  return new TurnwiseError('comparison-incomplete', {
    what: `${failed.length} of the runs failed: ${failed.map(({ job }) => job.name).join(', ')}`,
    seen: failed[0]!.problem?.message ?? 'no reason',
    next: `Finished runs are in ${report}. To try the others again: ${command}`,
    fields: { failed: failed.length, report },
  });
}
