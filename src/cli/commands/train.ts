/** `turnwise train`: from nothing to a trained agent. */

import { z } from 'zod';
import { COMMAND } from '../../env/command/command-world.ts';
import { environmentHelp, environmentNames, findEnvironment } from '../../run/load/environments.ts';
import { nameInAssignments } from '../../run/settings/run-definitions.ts';
import { nameRecipe } from '../../run/settings/run-recipe.ts';
import { defaultRecipe, readSettings, settingsSchema } from '../../run/settings/run-settings.ts';
import { namedSinks, sinkForms } from '../../run/sinks/named-sinks.ts';
import { startRun } from '../../run/training-run.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { recipes } from '../../train/recipes/recipes.ts';
import { type Command, defineCommand } from '../command.ts';
import { commandAgentOptions, namedWorld } from '../command-agent-options.ts';
import { meterOf, spendOptions } from '../spend-options.ts';
import { viewBeside } from '../terminal/view-beside.ts';
import { watchRun } from '../terminal/watch-run.ts';

const options = z.strictObject({
  recipe: z
    .string()
    .optional()
    .describe(
      `${recipes.map(({ name }) => name).join(', ')}; or a file such as ./mine.ts; default: rloo, and self-play with several roles`,
    ),
  model: z
    .string()
    .optional()
    .describe(
      'Start from this checkpoint folder, GGUF file, owner/name on the hub, or ollama:NAME; default: a small model',
    ),
  engine: z
    .enum(['embedded', 'tinker'])
    .optional()
    .describe('The holder of the weights: this process, or a server of the Tinker API; default: embedded'),
  baseUrl: z.string().optional().describe('Address of that server; default: that in TINKER_BASE_URL'),
  baseModel: z.string().optional().describe('The server’s name of the model to train'),
  loraRank: z.int().min(0).optional().describe('Rank of the adapter that is trained'),
  ...commandAgentOptions,
  tasks: z.string().optional().describe('With --command: the file of tasks, such as tasks.jsonl'),
  name: z.string().optional().describe('Name of the run; default: ENVIRONMENT-RECIPE-NUMBER'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  set: z.array(z.string()).default([]).describe('Change a setting; may be repeated'),
  sink: z.array(z.string()).default([]).describe(`Send metrics elsewhere too: ${sinkForms}; may be repeated`),
  view: z.boolean().default(false).describe('Show the run in the browser while it trains; see turnwise view'),
  ...spendOptions,
  json: z.boolean().default(false).describe('Print events as JSON lines'),
});

export const trainCommand: Command<typeof options> = defineCommand({
  name: 'train',
  summary: 'Train an agent in an environment and watch it learn',
  arguments: [{ name: 'environment', description: environmentHelp, required: false }],
  options,
  settings: async (given) => {
    const name = given.includes('--command')
      ? COMMAND
      : given.find((word) => environmentNames.includes(word));
    const factory = name === undefined ? undefined : await findEnvironment(name);
    const recipe = await recipeAmong(given);
    const { set, catalogue } = await nameInAssignments(given);
    return settingsSchema(factory?.options, recipe, set, catalogue, factory?.settings);
  },
  examples: [
    'turnwise train frozen-lake',
    'turnwise train maze --recipe grpo --name first --set seed=2 --set steps=40',
    'turnwise train frozen-lake --set environment.slip=0.3',
    'turnwise train guess-number --model ./checkpoint --set steps=20',
    'turnwise train maze --engine tinker --base-url http://127.0.0.1:8765 --base-model small',
    "turnwise train --command 'node my-agent.js' --tasks tasks.jsonl --check 'node check.js' --model ./checkpoint",
    'turnwise train frozen-lake --help    (also lists the settings of the environment)',
  ],
  async run(invocation) {
    const { recipe: wanted, name } = invocation.options;
    const world = namedWorld(trainCommand, invocation.arguments.environment, invocation.options);
    const { set, catalogue } = await nameInAssignments([
      ...world.assignments.map((assignment) => `environment.${assignment}`),
      ...flagSettings(invocation.options, process.env),
      ...invocation.options.set,
    ]);
    const factory = await findEnvironment(world.name);
    const { recipe, source } = await nameRecipe(wanted ?? defaultRecipe(factory));
    const settings = readSettings(factory, recipe, set, catalogue);
    const sinks = await namedSinks(invocation.options.sink);
    const beside = invocation.options.view ? await viewBeside(invocation.options.runs) : undefined;
    if (beside) invocation.console.writeError(`Watch it at ${beside.address}\n`);
    const spend = meterOf(invocation.options);
    try {
      await watchRun(invocation, (control) =>
        startRun({
          ...control,
          spend,
          factory,
          recipe: source,
          settings,
          sinks,
          ...(name !== undefined && { name }),
        }),
      );
    } finally {
      beside?.close();
    }
  },
});

/** The recipe that the words of a command line name. */
async function recipeAmong(given: readonly string[]): Promise<Recipe | undefined> {
  const wanted = given[given.indexOf('--recipe') + 1];
  if (given.includes('--recipe') && wanted !== undefined) return (await nameRecipe(wanted)).recipe;
  return recipes.find((candidate) => given.includes(candidate.name));
}

/** What the flags of a model and an engine set. */
function flagSettings(
  { model, engine, baseUrl, baseModel, loraRank }: z.output<typeof options>,
  environment: NodeJS.ProcessEnv,
): string[] {
  const url = baseUrl ?? (engine === 'tinker' ? environment.TINKER_BASE_URL : undefined);
  const settings = {
    'model.pretrained': model,
    engine,
    'tinker.baseUrl': url,
    'tinker.baseModel': baseModel,
    'lora.rank': loraRank,
  };
  return Object.entries(settings).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]));
}
