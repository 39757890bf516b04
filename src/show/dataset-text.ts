/** Rows of a dataset as text. */

import { visible } from '../core/visible.ts';
import { isLearned, isPreference, type Row, type RowMessage } from '../data/row.ts';
import type { DataStatistics } from '../data/statistics.ts';
import type { Paint } from './console.ts';
import { formatScore } from './format.ts';

/** A row: who said what, and which answers are learned. */
export function rowText(row: Row, number: number, paint: Paint): string {
  const { source } = row;
  const facts = [
    [source.kind, source.environment, source.by ?? source.name].filter(Boolean).join(' '),
    ...(isPreference(row)
      ? ['pair']
      : [
          ...(row.reward === undefined ? [] : [`reward ${formatScore(row.reward)}`]),
          ...(row.success === undefined ? [] : [row.success ? 'success' : 'no success']),
        ]),
    ...(row.tools ? [`tools ${row.tools.map(({ name }) => name).join(', ')}`] : []),
  ];
  const title = paint('bold', `row ${number}`) + paint('dim', `  ${visible(facts.join(' · '))}`);
  const lines = (messages: readonly RowMessage[]): string[] => messages.map((one) => messageLine(one, paint));
  if (!isPreference(row)) return [title, ...lines(row.messages)].join('\n');
  return [
    title,
    ...lines(row.messages),
    paint('green', '  chosen'),
    ...lines(row.chosen),
    paint('red', '  rejected'),
    ...lines(row.rejected),
  ].join('\n');
}

function messageLine(message: RowMessage, paint: Paint): string {
  const { role, content, toolCalls = [] } = message;
  const calls = toolCalls.map(({ name, arguments: given }) => `${name}(${JSON.stringify(given)})`);
  const text = visible([content, ...calls].filter((part) => part !== '').join(' ')).replaceAll('\n', ' ');
  const shown = text.length > 160 ? `${text.slice(0, 160)}…` : text;
  const mark = role === 'assistant' && !isLearned(message) ? paint('dim', ' (shown, not learned)') : '';
  return `  ${role.padEnd(10)}${shown}${mark}`;
}

export function statisticsText(figures: DataStatistics): string {
  const { rows, pairs, episodes, tasks, messages, answers, shown, toolCalls, withTokens, rewarded } = figures;
  const lines: [string, string][] = [
    ['rows', `${rows}${pairs > 0 ? `, of them ${pairs} pairs` : ''}`],
    ['episodes', `${episodes} of ${tasks} different tasks`],
    ['messages', String(messages)],
    ['answers', `${answers}${shown > 0 ? `, of them ${shown} shown and not learned` : ''}`],
    ['tool calls', String(toolCalls)],
    ['rewards', rewarded === 0 ? 'none' : `${rewarded} rows, mean ${formatScore(figures.reward)}`],
    ['success', rewarded === 0 ? 'not said' : formatScore(figures.success)],
    ['tokens', `${withTokens} rows with recorded ids`],
    ['longest', `${figures.longest} characters`],
    ...Object.entries(figures.sources).map(([name, count]): [string, string] => [
      'source',
      `${visible(name)}: ${count} rows`,
    ]),
  ];
  return lines.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join('');
}
