/** `docs/methods.md`: every recipe as the code describes itself, and what was measured of it where somebody knows. */

import { z } from 'zod';
import type { WorldFactory } from '../env/factory.ts';
import { obstacleIn } from '../run/prepare-run.ts';
import { resolveConfig } from '../train/config/resolve.ts';
import { recipes } from '../train/recipes/recipes.ts';
import { listNeeds, recipeParts } from './recipe-parts.ts';

/** Claims and experiments about a method, or why there is none. */
export interface MeasuredMethod {
  readonly claims: readonly { readonly id: string; readonly verdict: string }[];
  readonly waitsFor?: string;
  readonly experiments: readonly {
    readonly name: string;
    readonly figures: string;
    /** Path of its learning curves, as seen from the page. */
    readonly picture?: string;
  }[];
}

/** The page as Markdown; `environments` are those of which it says what they can be used for. */
export function methodsPage(
  environments: readonly WorldFactory[],
  measured: ReadonlyMap<string, MeasuredMethod> = new Map(),
): string {
  const byName = recipes.map((recipe) => {
    const config = resolveConfig({ recipe, environmentOptions: z.looseObject({}), settings: {} });
    const rows = recipeParts(recipe, config).map(({ part, text }) => row([part, text]));
    return [
      `### \`${recipe.name}\``,
      sentence(recipe.summary),
      `Use it when ${recipe.use}. Source: ${recipe.source}.`,
      code(recipe.formula),
      table(['part', 'by default'], rows),
      `Authors’ defaults: ${recipe.authors}.`,
      `Needs ${listNeeds(recipe, config, undefined)
        .map(({ what }) => what)
        .join('; ')}.`,
      ...measuredText(recipe.name, measured.get(recipe.name)),
    ].join('\n\n');
  });
  return `# Methods

This page is the reference of the built-in recipes: formula, source, defaults, needs and measurements. [Choose a method](choose-a-method.md)
helps with the choice.

\`\`\`sh
npx turnwise train frozen-lake --recipe grpo
npx turnwise recipes grpo --env frozen-lake      # a recipe with the settings of an environment
npx turnwise recipes --markdown                  # this page, without measurements
\`\`\`

The page is generated: \`npm run bench -- methods --report\` writes it in a checkout.

## Recipes

A recipe is a whole method: its episodes, its credit, its loss and its schedule.

${byName.join('\n\n')}

## Which environment serves which recipe

Some recipes need several roles, or [facts](credit-methods.md#fields-of-the-rollout-file) that an environment reports beside the reward. This table shows
which built-in environment serves them with its default options; every environment serves the other recipes. \`turnwise recipes --env ENVIRONMENT\`
answers for yours, with the reason. A recipe with an empty row needs [an environment of yours](write-an-environment.md).

${environmentTable(environments)}

## What they are made of

How rewards become advantages: [credit methods](credit-methods.md). What is minimised: [objectives](objectives.md).
`;
}

/** A row for each recipe that not all of them can serve, with those that do. */
function environmentTable(environments: readonly WorldFactory[]): string {
  const rows = recipes.flatMap((recipe) => {
    const served = environments.filter((factory) => obstacleIn(factory, recipe) === undefined);
    if (served.length === environments.length) return [];
    return [row([`\`${recipe.name}\``, served.map(({ name }) => `\`${name}\``).join(', ')])];
  });
  return table(['recipe', 'environments'], rows);
}

/** A line for each claim, and for each experiment with its figures and its curves; nothing where nothing is known of it. */
function measuredText(name: string, measured: MeasuredMethod | undefined): string[] {
  if (measured === undefined) return [];
  const { claims, waitsFor, experiments } = measured;
  const verdicts = claims.map(({ id, verdict }) => `Claim [\`${id}\`](evidence.md#claims): **${verdict}**.`);
  if (waitsFor !== undefined) return claims.length > 0 ? verdicts : [`Measured: not yet; ${waitsFor}.`];
  return [
    ...verdicts,
    ...experiments.flatMap(({ name: experiment, figures, picture }) => [
      `Measured: ${figures} ([evidence](evidence.md#method-${name}), experiment [${experiment}](evidence.md#${experiment})).`,
      ...(picture === undefined ? [] : [`![Learning curves of ${experiment}](${picture})`]),
    ]),
  ];
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const code = (lines: readonly string[]): string => `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly string[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows].join('\n');
