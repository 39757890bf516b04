/** The reference of methods, shapings and file fields as Markdown, made from what the code says about itself. */

import { z } from 'zod';
import type { CreditMethod, Description } from '../contract/method.ts';
import { creditMethods } from '../methods.ts';
import type { RewardShaping } from '../shaping/shaping.ts';
import { rewardShapings } from '../shaping/shapings.ts';
import { rolloutFields, turnFields } from './fields.ts';

/** The whole of docs/credit-methods.md. */
export function creditDocument(): string {
  const anchors = headingAnchors(creditMethods);
  return `${[
    '# Credit methods and reward shapings',
    'This page is the reference of the credit methods and reward shapings, generated from `src/credit/`. [Credit](credit.md) explains rewards, shapings and fields.',
    '## Methods at a glance',
    table(
      ['method', 'advantages of', 'what it does', 'needs'],
      creditMethods.map((method, index) => [
        `[\`${method.name}\`](#${anchors[index]!})`,
        method.level === 'turn' ? 'turns' : 'tokens',
        method.summary,
        method.needs.map(code).join(', '),
      ]),
    ),
    '## Shapings at a glance',
    table(
      ['shaping', 'what it does', 'needs'],
      rewardShapings.map((shaping) => [
        `[\`${shaping.name}\`](#shaping-${shaping.name})`,
        shaping.summary,
        shaping.needs.map(code).join(', '),
      ]),
    ),
    '## Fields of the rollout file',
    table(['field', 'meaning'], fieldRows()),
    '## Methods',
    ...creditMethods.flatMap((method) => section(method.name, method, method.options)),
    '## Reward shapings',
    ...rewardShapings.flatMap((shaping) => section(`shaping ${shaping.name}`, shaping, shaping.options)),
  ].join('\n\n')}\n`;
}

function fieldRows(): string[][] {
  const rows = (fields: Readonly<Record<string, { description?: string | undefined }>>, prefix: string) =>
    Object.entries(fields).map(([name, { description = '' }]) => [code(prefix + name), description]);
  return [...rows(rolloutFields, ''), ...rows(turnFields, 'turns[].')];
}

function section(heading: string, entry: CreditMethod | RewardShaping, options: z.ZodType): string[] {
  const { aliases = [], title, formula, source, deviations, needs, uses = [], example } = entry;
  const fields = [
    needs.length > 0 ? `Needs ${needs.map(code).join(', ')}.` : '',
    uses.length > 0 ? `Reads ${uses.map(code).join(', ')} if present.` : '',
  ].filter(Boolean);
  const rows = optionRows(options);
  return [
    `### ${heading}`,
    `**${title}**${aliases.length > 0 ? ` (also ${aliases.map(code).join(', ')})` : ''}: ${entry.summary}.`,
    `\`\`\`text\n${formula}\n\`\`\``,
    `Source: ${source}`,
    deviations.map((deviation, index) => `${index + 1}. ${deviation}`).join('\n'),
    ...(fields.length > 0 ? [fields.join(' ')] : []),
    ...(rows.length > 0 ? [table(['option', 'default', 'values', 'meaning'], rows)] : []),
    `\`\`\`sh\nturnwise credit ${example ?? exampleOf(entry)} --rollouts examples/rollouts.jsonl\n\`\`\``,
  ];
}

function exampleOf(entry: CreditMethod | RewardShaping): string {
  return 'level' in entry ? `--method ${entry.name}` : `--method grpo --shape ${entry.name}`;
}

interface Property {
  readonly default?: unknown;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly type?: string;
  readonly anyOf?: readonly Property[];
  readonly const?: unknown;
}

function optionRows(options: z.ZodType): string[][] {
  const { properties = {} } = z.toJSONSchema(options, { io: 'input' }) as {
    properties?: Record<string, Property>;
  };
  return Object.entries(properties).map(([name, property]) => [
    code(name),
    code(JSON.stringify(property.default).replaceAll('"', '')),
    valuesOf(property),
    property.description ?? '',
  ]);
}

function valuesOf({ enum: choices, anyOf, type, const: only }: Property): string {
  if (choices) return choices.map((choice) => code(String(choice))).join(', ');
  if (only !== undefined) return code(String(only));
  if (anyOf) return anyOf.map(valuesOf).join(' or ');
  return (
    { boolean: '`true`, `false`', string: 'text', array: 'a list', integer: 'a whole number' }[type ?? ''] ??
    'a number'
  );
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

const code = (text: string): string => `\`${text}\``;

/** What headings become in links: without plus signs, and with a number where that was there before. */
function headingAnchors(entries: readonly Description[]): string[] {
  const seen = new Map<string, number>();
  return entries.map(({ name }) => {
    const plain = name.replaceAll('+', '');
    const times = seen.get(plain) ?? 0;
    seen.set(plain, times + 1);
    return times === 0 ? plain : `${plain}-${times}`;
  });
}
