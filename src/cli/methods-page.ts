/** `docs/methods.md`: every recipe as the code describes itself. */

import { z } from 'zod';
import { recipes } from '../train/recipes/recipes.ts';
import { resolveConfig } from '../train/resolve.ts';
import { listNeeds, recipeParts } from './recipe-parts.ts';

export function methodsPage(): string {
  const byName = recipes.map((recipe) => {
    const config = resolveConfig({ recipe, environmentOptions: z.looseObject({}), settings: {} });
    const rows = recipeParts(recipe, config).map(({ part, text }) => row([part, text]));
    return [
      `### \`${recipe.name}\``,
      sentence(recipe.summary),
      `Use it when ${recipe.use}. Source: ${recipe.source}.`,
      code(recipe.formula),
      table(['part', 'by default'], rows),
      `Authors’ defaults: ${recipe.authors}. What was measured: [evidence](evidence.md#method-${recipe.name}).`,
      `Needs ${listNeeds(recipe, config, undefined)
        .map(({ what }) => what)
        .join('; ')}.`,
    ].join('\n\n');
  });
  return `# Methods

This page is written by the code: \`npx turnwise recipes --markdown > docs/methods.md\`. Which one to take is in
[choose a method](choose-a-method.md); \`turnwise recipes NAME --env ENVIRONMENT\` shows a recipe with the settings of an environment.

## Recipes

A recipe is a whole method: what is played, how rewards become advantages, what is minimised, on which schedule. Train with
\`turnwise train ENVIRONMENT --recipe NAME\`.

${byName.join('\n\n')}

## What they are made of

How rewards become advantages: [credit methods](credit-methods.md). What is minimised: [objectives](objectives.md).
`;
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const code = (lines: readonly string[]): string => `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly string[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows].join('\n');
