/** `docs/methods.md`: every recipe and credit method as the code describes itself. */

import { z } from 'zod';
import { creditMethods } from '../credit/methods.ts';
import { recipes } from '../train/recipes/recipes.ts';
import { resolveConfig } from '../train/resolve.ts';
import { listNeeds, recipeParts } from './recipe-parts.ts';
import { schemaFields } from './schema-fields.ts';

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
      `Authors’ defaults: ${recipe.authors}.`,
      `Needs ${listNeeds(recipe, config, undefined)
        .map(({ what }) => what)
        .join('; ')}.`,
    ].join('\n\n');
  });
  const credits = creditMethods.map((method) => {
    const options = schemaFields(method.options).map((field) =>
      row([
        `\`${field.key}\``,
        field.default === undefined ? '–' : `\`${JSON.stringify(field.default)}\``,
        `${field.description.replace(/\.$/, '')} (${field.type.replaceAll('|', ', ')})`,
      ]),
    );
    return [
      `### \`${method.name}\``,
      sentence(method.summary),
      `Source: ${method.source}. Advantages per ${method.level}.${needsText(method.needs)}`,
      ...(options.length > 0 ? [table(['option', 'default', 'what it does'], options)] : []),
    ].join('\n\n');
  });
  return `# Methods

This page is written by the code: \`npx turnwise recipes --markdown > docs/methods.md\`. Which one to take is in
[choose a method](choose-a-method.md); \`turnwise recipes NAME --env ENVIRONMENT\` shows a recipe with the settings of an environment.

## Recipes

A recipe is a whole method: what is played, how rewards become advantages, what is minimised, on which schedule. Train with
\`turnwise train ENVIRONMENT --recipe NAME\`.

${byName.join('\n\n')}

## Credit methods

How rewards become advantages. A recipe names one, \`--set credit.method=NAME\` changes it, and \`turnwise credit --method NAME\` runs it on
stored episodes.

${credits.join('\n\n')}
`;
}

function needsText(needs: { readonly values?: boolean; readonly anchors?: boolean }): string {
  const named = [...(needs.values ? ['a value head'] : []), ...(needs.anchors ? ['keys of states'] : [])];
  return named.length === 0 ? '' : ` Needs ${named.join(' and ')}.`;
}

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;
const code = (lines: readonly string[]): string => `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly string[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows].join('\n');
