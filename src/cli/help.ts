/** Help texts, generated from the commands and their schemas. */

import type { z } from 'zod';
import { type Field, openFields, schemaFields } from '../run/settings/schema-fields.ts';
import { type Console, displayWidth, type Paint, padEnd, painter, wrap } from '../show/console.ts';
import type { Command } from './command.ts';
import { flagOf } from './options.ts';

interface Entry {
  readonly name: string;
  readonly text: string;
  /** Shown dim after the text. */
  readonly note?: string;
}

type Screen = Pick<Console, 'columns' | 'colour'>;

/** The list of all commands. */
export function overviewHelp(commands: readonly Command[], version: string, screen: Screen): string {
  const paint = painter(screen.colour);
  return [
    `${paint('bold', 'turnwise')} ${version}  multi-turn reinforcement learning for LLM agents`,
    '',
    usage(paint, 'turnwise COMMAND [options]'),
    '',
    heading(paint, 'Commands'),
    ...entries(
      commands.map(({ name, summary }) => ({ name, text: summary })),
      screen,
    ),
    '',
    heading(paint, 'Start here'),
    '  turnwise train frozen-lake',
    '',
    paint('dim', 'turnwise COMMAND --help says more about one command.'),
    '',
  ].join('\n');
}

/** @param given the arguments beside `--help`, which may narrow down what `--set` can change */
export async function commandHelp(
  command: Command,
  given: readonly string[],
  screen: Screen,
): Promise<string> {
  const paint = painter(screen.colour);
  const places = command.arguments.map(({ name, required }) =>
    required ? ` ${name.toUpperCase()}` : ` [${name.toUpperCase()}]`,
  );
  const options = schemaFields(command.options);
  const settings = await command.settings?.(given);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', heading(paint, title), ...lines];
  return [
    command.summary,
    '',
    usage(paint, `turnwise ${command.name}${places.join('')} [options]`),
    ...section(
      'Arguments',
      entries(
        command.arguments.map(({ name, description }) => ({ name: name.toUpperCase(), text: description })),
        screen,
      ),
    ),
    ...section('Options', entries([...options.map(optionEntry), helpEntry], screen)),
    ...(settings ? section('Settings (--set key=value)', settingLines(settings, screen)) : []),
    ...section(
      'Examples',
      command.examples.map((example) => `  ${example}`),
    ),
    '',
  ].join('\n');
}

const helpEntry: Entry = { name: '--help', text: 'Show this help' };

function heading(paint: Paint, title: string): string {
  return paint('bold', title);
}

function usage(paint: Paint, line: string): string {
  return `${paint('bold', 'Usage')}  ${line}`;
}

function optionEntry(field: Field): Entry {
  const value = field.kind === 'boolean' ? '' : ` ${placeholder(field)}`;
  return { name: `${flagOf(field.key)}${value}`, text: field.description, ...note(field) };
}

function placeholder(field: Field): string {
  if (field.choices && field.type.length <= 24) return field.type;
  if (field.key === 'set') return 'KEY=VALUE';
  return field.kind === 'list' || field.kind === 'string' ? 'TEXT' : 'N';
}

function note(field: Field): { note?: string } {
  const value = field.default;
  if (value === undefined || value === false || value === '' || (Array.isArray(value) && value.length === 0))
    return {};
  return { note: `[${typeof value === 'string' ? value : JSON.stringify(value)}]` };
}

/** The fields of a configuration as `key=default  what it does (allowed)`, a blank line between its parts. */
export function settingLines(schema: z.ZodType, screen: Screen): string[] {
  const list: Entry[] = schemaFields(schema).map((field) => {
    return { name: written(field), text: field.description, note: `(${field.type.replaceAll('|', ' | ')})` };
  });
  for (const [name, text] of openFields(schema)) {
    const part = partOf(name);
    const end = list.findLastIndex((entry) => partOf(entry.name) === part);
    list.splice(end < 0 ? list.length : end + 1, 0, { name, text });
  }
  return entries(list, screen, (entry, previous) => partOf(entry.name) !== partOf(previous.name));
}

/** `key=default`; what stands below the path of a file as JSON, since dots divide keys. */
function written(field: Field): string {
  const { key, path } = field;
  const file = path.findIndex((name) => /[./\\]/.test(name));
  if (file >= 0) {
    const inside = path
      .slice(file)
      .reduceRight<unknown>((inner, name) => ({ [name]: inner }), field.default ?? null);
    return `${path.slice(0, file).join('.')}=${JSON.stringify(inside)}`;
  }
  const shown = note(field).note?.slice(1, -1);
  return shown === undefined ? key : `${key}=${shown}`;
}

/** `optimizer` of `optimizer.beta1=0.9`; nothing for keys at the top. */
function partOf(name: string): string {
  const dot = name.split('=')[0]!.indexOf('.');
  return dot < 0 ? '' : name.slice(0, dot);
}

/** Two columns: names, and texts wrapped to what is left of the width; a long name gets a line of its own. */
function entries(
  list: readonly Entry[],
  { columns, colour }: Screen,
  gapBefore: (entry: Entry, previous: Entry) => boolean = () => false,
): string[] {
  const paint = painter(colour);
  const longest = Math.max(0, ...list.map(({ name }) => displayWidth(name)));
  const nameWidth = Math.min(longest, Math.max(20, Math.floor(columns * 0.4)));
  const indent = ' '.repeat(nameWidth + 4);
  return list.flatMap((entry, position) => {
    const { name, text, note: extra } = entry;
    const gap = position > 0 && gapBefore(entry, list[position - 1]!) ? [''] : [];
    const noteText = extra === undefined ? '' : text === '' ? extra : ` ${extra}`;
    const lines = wrap(text + noteText, columns - indent.length);
    const dimmed = extra === undefined ? lines : dimTail(lines, extra.length, paint);
    const own = displayWidth(name) > nameWidth;
    const first = own ? [`  ${paint('cyan', name)}`] : [];
    return [
      ...gap,
      ...first,
      ...dimmed.map((line, index) =>
        index === 0 && !own ? `  ${paint('cyan', padEnd(name, nameWidth))}  ${line}` : `${indent}${line}`,
      ),
    ];
  });
}

/** Dims the last `count` characters of wrapped lines; a space lost at a break counts as one. */
function dimTail(lines: readonly string[], count: number, paint: Paint): string[] {
  let left = count;
  const result: string[] = [];
  for (const line of [...lines].reverse()) {
    const cut = Math.max(0, line.length - left);
    result.unshift(left > 0 ? line.slice(0, cut) + paint('dim', line.slice(cut)) : line);
    left -= line.length + 1;
  }
  return result;
}
