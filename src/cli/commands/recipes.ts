/** `turnwise recipes`: the methods by name, and what one of them is made of. */

import { z } from 'zod';
import type { WorldFactory } from '../../env/factory.ts';
import {
  createWorld,
  environmentNames,
  findEnvironment,
  loadEnvironments,
} from '../../run/load/environments.ts';
import { sourceOf, typedSource } from '../../run/load/world-source.ts';
import { configOf, obstacleIn } from '../../run/prepare-run.ts';
import { type Console, painter, wrap } from '../../show/console.ts';
import { resolveConfig } from '../../train/config/resolve.ts';
import { readBy } from '../../train/config/run-schema.ts';
import type { Recipe } from '../../train/recipes/recipe.ts';
import { findRecipe, recipes } from '../../train/recipes/recipes.ts';
import { type Command, defineCommand } from '../command.ts';
import { methodsPage } from '../methods-page.ts';
import { listNeeds, recipeParts } from '../recipe-parts.ts';

const options = z.strictObject({
  env: z
    .string()
    .optional()
    .describe(`Also say whether it can be used here: ${environmentNames.join(', ')}`),
  json: z.boolean().default(false).describe('Print JSON'),
  markdown: z.boolean().default(false).describe('Print the reference page of all methods'),
});

export const recipesCommand: Command<typeof options> = defineCommand({
  name: 'recipes',
  summary: 'List the methods, or show the parts, needs and source of one',
  arguments: [{ name: 'recipe', description: 'Show this one', required: false }],
  options,
  examples: ['turnwise recipes', 'turnwise recipes ppo', 'turnwise recipes self-play --env kuhn-poker'],
  async run({ arguments: { recipe: name }, options: { env, json, markdown }, console }) {
    if (markdown) return console.write(methodsPage(await loadEnvironments()));
    const factory = env === undefined ? undefined : await findEnvironment(env);
    const chosen = name === undefined ? recipes : [findRecipe(name)];
    const described = chosen.map((recipe) => describe(recipe, factory));
    if (json) console.write(`${JSON.stringify(name === undefined ? described : described[0])}\n`);
    else if (name === undefined) console.write(listText(described, console));
    else console.write(showText(described[0]!, factory, console));
  },
});

type Described = ReturnType<typeof describe>;

function describe(recipe: Recipe, factory: WorldFactory | undefined) {
  const config = factory
    ? configOf(factory, recipe, {})
    : resolveConfig({ recipe, environmentOptions: z.looseObject({}), settings: {} });
  const world = factory && createWorld(factory, []);
  const { name, summary, source, formula, use, authors, critic, settings } = recipe;
  const missing = factory && obstacleIn(factory, recipe);
  return {
    name,
    summary,
    source,
    use,
    formula,
    parts: recipeParts(recipe, config),
    authors,
    critic,
    settings: readBy(recipe, settings),
    needs: listNeeds(recipe, config, world),
    ...(world && { usable: missing === undefined, ...(missing && { missing }) }),
  };
}

function listText(described: readonly Described[], { columns, colour }: Console): string {
  const paint = painter(colour);
  const width = Math.max(...described.map(({ name }) => name.length)) + 4;
  const lines = described.flatMap(({ name, summary, source, missing }) => [
    ...wrap(summary, columns - width).map(
      (line, index) => `  ${paint('cyan', (index === 0 ? name : '').padEnd(width - 2))}${line}`,
    ),
    ...wrap(source, columns - width).map((line) => `${' '.repeat(width)}${paint('dim', line)}`),
    ...(missing === undefined
      ? []
      : wrap(`not here: it needs ${missing}`, columns - width).map(
          (line) => `${' '.repeat(width)}${paint('yellow', line)}`,
        )),
  ]);
  return `${lines.join('\n')}\n\n${paint('dim', 'More about one:')} turnwise recipes ${described[0]!.name}\n`;
}

function showText(described: Described, factory: WorldFactory | undefined, screen: Console): string {
  const paint = painter(screen.colour);
  const { name, summary, source, use, formula, parts, authors, needs } = described;
  const labelled = (label: string, text: string): string[] =>
    wrap(text, screen.columns - 15).map(
      (line, index) => `  ${paint('dim', (index === 0 ? label : '').padEnd(13))}${line}`,
    );
  const section = (title: string, lines: readonly string[]): string[] => ['', paint('bold', title), ...lines];
  const changed = changedSettings(described.settings);
  const place = factory === undefined ? 'frozen-lake' : typedSource(sourceOf(factory));
  const lines = [
    paint('bold', name),
    ...wrap(summary, screen.columns),
    '',
    ...labelled('source', source),
    ...labelled('use it when', use),
    ...section(
      'Formula',
      formula.flatMap((line) =>
        wrap(line, screen.columns - 4).map((part, index) => `  ${index === 0 ? '' : '  '}${part}`),
      ),
    ),
    ...section(
      factory ? `Parts, in ${factory.name}` : 'Parts',
      parts.flatMap(({ part, text }) => labelled(part, text)),
    ),
    ...section(
      'Authors’ defaults',
      wrap(authors, screen.columns - 2).map((line) => `  ${line}`),
    ),
    ...section(
      'It sets',
      changed.length === 0 ? ['  nothing beyond the defaults'] : changed.map((line) => `  ${line}`),
    ),
    ...section(
      'It needs',
      needs.flatMap(({ what, met }) =>
        wrap(what, screen.columns - 4).map(
          (line, index) =>
            `  ${index > 0 ? ' ' : met === undefined ? '·' : met ? paint('green', '✓') : paint('red', '✗')} ${line}`,
        ),
      ),
    ),
    ...section('Next', [
      `  turnwise train ${place} --recipe ${name}`,
      `  turnwise compare --env ${place} --recipes ${name === 'rloo' ? 'rloo,grpo' : `rloo,${name}`}`,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** `key=value` for every setting that the recipe has an opinion on. */
function changedSettings(settings: object, prefix = ''): string[] {
  return Object.entries(settings).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null
      ? changedSettings(value, `${prefix}${key}.`)
      : [`${prefix}${key}=${String(value)}`],
  );
}
