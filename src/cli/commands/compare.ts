/** `turnwise compare`: several recipes in one environment, from the same warm starts, with intervals over seeds. */

import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { commandLine } from '../../core/shell.ts';
import { environmentNames, findEnvironment } from '../../run/load/environments.ts';
import { nameInAssignments } from '../../run/settings/run-definitions.ts';
import { settingsSchema } from '../../run/settings/run-settings.ts';
import { realDisk } from '../../store/disk.ts';
import { recipes as allRecipes, findRecipe } from '../../train/recipes/recipes.ts';
import { type Command, defineCommand } from '../command.ts';
import { parseBudget } from '../compare/budget-text.ts';
import { type Children, turnwiseChildren } from '../compare/child-run.ts';
import { claimComparison } from '../compare/comparison-file.ts';
import { comparisonText } from '../compare/comparison-text.ts';
import { contentOf, type Plan, planComparison } from '../compare/plan.ts';
import { reportPage } from '../compare/report-page.ts';
import { compareRuns } from '../compare/results.ts';
import { type JobStatus, runSweep } from '../compare/sweep.ts';
import { sweepDisplay } from '../compare/sweep-display.ts';
import { TERMINATION_GRACE_MS } from '../interrupts.ts';

const options = z.strictObject({
  env: z.string().describe(`Environment: ${environmentNames.join(', ')}`),
  recipes: z
    .string()
    .describe(`Recipes, separated by commas: ${allRecipes.map(({ name }) => name).join(', ')}`),
  seeds: z.int().min(1).default(5).describe('Seeds, each with one warm start that all recipes share'),
  budget: z
    .string()
    .optional()
    .describe(
      'What each run may spend: steps=N, tokens=N or minutes=N; default: the steps of the environment',
    ),
  set: z.array(z.string()).default([]).describe('Change a setting of all runs; may be repeated'),
  name: z.string().optional().describe('Name of the comparison; default: ENVIRONMENT-RECIPE-vs-RECIPE'),
  runs: z.string().default('runs').describe('Folder that holds the comparison'),
  jobs: z.int().min(1).optional().describe('Processes at once, one thread each; default: one per core'),
  json: z.boolean().default(false).describe('Print progress and the result as JSON lines'),
});

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
      const environment = name === undefined ? undefined : (await findEnvironment(name)).options;
      const { set, catalogue } = await nameInAssignments(given);
      return settingsSchema(environment, undefined, set, catalogue);
    },
    examples: [
      'turnwise compare --env frozen-lake --recipes rloo,grpo,ppo --seeds 5',
      'turnwise compare --env maze --recipes rloo,grpo --seeds 3 --budget steps=20',
      'turnwise compare --env wordle --recipes grpo,ppo --budget tokens=500k --set rollout.group=4',
    ],
    async run({ options: given, console, interrupts }) {
      const factory = await findEnvironment(given.env);
      const plan = planComparison({
        factory,
        recipes: recipesOf(given.recipes),
        seeds: given.seeds,
        budget: given.budget === undefined ? undefined : parseBudget(given.budget),
        ...(await nameInAssignments(given.set)),
        name: given.name,
        root: given.runs,
      });
      const release = claimComparison(plan.folder, plan.name, contentOf(plan));
      const children = start();
      const kill = (): void => children.kill();
      interrupts.signal.addEventListener('abort', kill, { once: true });
      const display = sweepDisplay(console, { json: given.json, now: () => performance.now() });
      const stopRequested = interrupts.soften(() => {
        display.say('Stopping every run after its step. Ctrl-C again drops the steps.');
        children.stop();
      }, TERMINATION_GRACE_MS);
      try {
        const statuses = await runSweep({
          plan,
          parallel: given.jobs ?? availableParallelism(),
          children,
          onChange: (changed, all) => display.show(changed, all),
          stopRequested: () => stopRequested() || interrupts.signal.aborted,
        });
        display.close();
        if (stopRequested() || interrupts.signal.aborted) throw interrupted(plan, ownCommand(given));
        const report = finish(plan, statuses, ownCommand(given), given.json, console);
        const failed = statuses.filter(({ state }) => state === 'failed');
        if (failed.length > 0) throw incomplete(failed, report, ownCommand(given));
      } finally {
        kill();
        release();
      }
    },
  });
}

/** Write the report and show the result; returns the path of the report. */
function finish(
  plan: Plan,
  statuses: readonly JobStatus[],
  command: string,
  json: boolean,
  console: Parameters<Command['run']>[0]['console'],
): string {
  const comparison = compareRuns(plan, statuses);
  const path = join(plan.folder, 'report.html');
  realDisk.replaceFile(path, reportPage(comparison, plan, command));
  const report = relative('', path);
  if (json) console.write(`${JSON.stringify({ type: 'comparison', ...comparison, report })}\n`);
  else console.write(`\n${comparisonText(comparison, report, console)}`);
  return report;
}

/** @throws TurnwiseError `recipe-unknown`, `option-value` */
function recipesOf(list: string): ReturnType<typeof findRecipe>[] {
  const names = list.split(',').map((name) => name.trim());
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (list.trim() === '' || twice !== undefined) {
    throw new TurnwiseError('option-value', {
      what: 'The value of --recipes is not allowed',
      seen: twice === undefined ? 'nothing' : `${twice} twice`,
      allowed: 'different recipes, separated by commas',
      fields: { option: '--recipes' },
    });
  }
  return names.map(findRecipe);
}

/** The command line that continues, or repeats, this comparison. */
function ownCommand({ env, recipes, seeds, budget, set, name, runs }: z.output<typeof options>): string {
  return commandLine([
    'turnwise',
    'compare',
    ...['--env', env, '--recipes', recipes, '--seeds', String(seeds)],
    ...(budget === undefined ? [] : ['--budget', budget]),
    ...set.flatMap((assignment) => ['--set', assignment]),
    ...(name === undefined ? [] : ['--name', name]),
    ...(runs === 'runs' ? [] : ['--runs', runs]),
  ]);
}

function interrupted({ name }: Plan, command: string): TurnwiseError {
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
    next: `What finished is in ${report}. To try the others again: ${command}`,
    fields: { failed: failed.length, report },
  });
}
