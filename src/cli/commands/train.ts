/** `turnwise train`: from nothing to a trained agent. */

import { z } from 'zod';
import { findCreditMethod } from '../../credit/methods.ts';
import type { WorldFactory } from '../../env/factory.ts';
import { type TrainSettings, trainConfigSchema } from '../../train/config.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { findRecipe, recipes } from '../../train/recipes/recipes.ts';
import { type Command, defineCommand } from '../command.ts';
import { environmentHelp, environmentNames, findEnvironment } from '../environments.ts';
import { applySettings } from '../settings.ts';
import { startRun } from '../training-run.ts';
import { watchRun } from '../watch-run.ts';

const options = z.strictObject({
  recipe: z
    .string()
    .optional()
    .describe(
      `${recipes.map(({ name }) => name).join(', ')}; default: rloo, and self-play where there are several roles`,
    ),
  name: z.string().optional().describe('Name of the run; default: ENVIRONMENT-RECIPE-NUMBER'),
  runs: z.string().default('runs').describe('Folder that holds the runs'),
  set: z.array(z.string()).default([]).describe('Change a setting; may be repeated'),
  json: z.boolean().default(false).describe('Print events as JSON lines'),
});

export const trainCommand: Command<typeof options> = defineCommand({
  name: 'train',
  summary: 'Train an agent in an environment and watch it learn',
  arguments: [{ name: 'environment', description: environmentHelp, required: true }],
  options,
  settings: async (given) => {
    const name = given.find((word) => environmentNames.includes(word));
    const environment = name === undefined ? undefined : (await findEnvironment(name)).options;
    const recipe = recipes.find((candidate) => given.includes(candidate.name));
    return settingsSchema(environment, recipe, given);
  },
  examples: [
    'turnwise train frozen-lake',
    'turnwise train maze --recipe grpo --name first --set seed=2 --set steps=40',
    'turnwise train frozen-lake --set environment.slip=0.3',
    'turnwise train frozen-lake --help    (also lists the settings of the environment)',
  ],
  async run(invocation) {
    const { recipe: wanted, name, set } = invocation.options;
    const factory = await findEnvironment(invocation.arguments.environment!);
    const recipe = findRecipe(wanted ?? defaultRecipe(factory));
    const schema = settingsSchema(factory.options, recipe, set);
    const settings = applySettings(schema, {}, set, `training ${factory.name}`);
    await watchRun(invocation, (control) =>
      startRun({
        ...control,
        factory,
        recipe: recipe.name,
        settings: settings as TrainSettings,
        ...(name !== undefined && { name }),
      }),
    );
  },
});

/** The settings of a run, with those of its environment and of its credit method, so that each key is checked by name. */
function settingsSchema(
  environment: z.ZodType | undefined,
  recipe: Recipe | undefined,
  set: readonly string[],
): z.ZodType {
  const chosen = set.findLast((assignment) => assignment.startsWith('credit.method='))?.split('=')[1];
  const method = chosen ?? recipe?.settings.credit?.method;
  const options = method === undefined ? undefined : findCreditMethod(method).options;
  const credit = trainConfigSchema.shape.credit.unwrap();
  return trainConfigSchema.extend({
    ...(environment && { environment }),
    ...(options instanceof z.ZodObject && { credit: z.strictObject({ ...credit.shape, ...options.shape }) }),
  });
}

function defaultRecipe(factory: WorldFactory): string {
  return factory.create(factory.options.parse({})).roles.length > 1 ? 'self-play' : 'rloo';
}
