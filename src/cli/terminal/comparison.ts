/** Two runs side by side: results, cost, curves, and the settings in which they differ. */

import { differences } from '../../core/json/differences.ts';
import { type Console, painter } from '../../show/console.ts';
import { formatCount, formatInterval, formatSeconds } from '../../show/format.ts';
import { plot } from '../../show/plot.ts';
import { type RunHistory, totalOf } from '../../show/run-history.ts';
import { table } from '../../show/table.ts';
import type { RunFile } from '../../store/run-file.ts';

export interface Side {
  readonly name: string;
  readonly history: RunHistory;
  readonly config: RunFile;
}

/** Lines of the comparison. */
export function comparison(
  sides: readonly [Side, Side],
  screen: Pick<Console, 'columns' | 'colour'>,
): string[] {
  const paint = painter(screen.colour);
  const row = (label: string, cell: (history: RunHistory) => string): string[] => [
    label,
    ...sides.map(({ history }) => cell(history)),
  ];
  const rows = [
    row('success before', ({ before }) => {
      return before ? formatInterval(before.sampled.success, before.sampled.successInterval) : '–';
    }),
    row('success after', ({ before, evaluations }) => {
      const last = evaluations.at(-1);
      return last && last !== before
        ? formatInterval(last.sampled.success, last.sampled.successInterval)
        : '–';
    }),
    row('return after', ({ before, evaluations }) => {
      const last = evaluations.at(-1);
      return last && last !== before ? formatInterval(last.sampled.return, last.sampled.returnInterval) : '–';
    }),
    row('steps', ({ steps, finish }) => `${steps.at(-1)?.step ?? 0}${finish ? '' : ' (unfinished)'}`),
    row('tokens trained', (history) => formatCount(totalOf(history, 'tokens/trained'))),
    row('tokens sampled', (history) => formatCount(totalOf(history, 'tokens/sampled'))),
    row('time', ({ finish, seconds }) => formatSeconds(finish?.summary.seconds.total ?? seconds)),
  ];
  const chart = plot(
    sides.map(({ name, history }, index) => ({
      label: name,
      marker: index === 0 ? '●' : '◆',
      line: true,
      colour: index === 0 ? ('green' as const) : ('magenta' as const),
      points: history.evaluations.map(({ step, sampled }) => [step, sampled.success] as const),
    })),
    { columns: Math.min(screen.columns, 80) - 4, rows: 11, yRange: [0, 1], xLabel: 'step' },
    paint,
  );
  const changed = differences(sides[0].config, sides[1].config);
  return [
    ...table([{ title: '' }, ...sides.map(({ name }) => ({ title: name }))], rows, paint),
    ...(chart.length > 0 ? ['', paint('bold', 'Success, sampled at temperature 1')] : []),
    ...chart.map((line) => `  ${line}`),
    '',
    paint('bold', 'Settings that differ'),
    ...(changed.length === 0
      ? ['  none']
      : table(
          [{ title: 'setting' }, ...sides.map(({ name }) => ({ title: name }))],
          changed.map(({ key, values }) => [
            key,
            ...values.map((value) => (value === undefined ? '–' : JSON.stringify(value))),
          ]),
          paint,
        )),
    ...verdict(sides),
  ];
}

/** Says only what the intervals allow. */
function verdict(sides: readonly [Side, Side]): string[] {
  const [first, second] = sides.map(({ history }) => history.evaluations.at(-1)?.sampled);
  if (!first || !second || sides[0].history.start?.environment !== sides[1].history.start?.environment)
    return [];
  const better =
    first.successInterval[0] > second.successInterval[1]
      ? sides[0].name
      : second.successInterval[0] > first.successInterval[1]
        ? sides[1].name
        : undefined;
  const note = 'One seed each says little about the method.';
  return [
    '',
    better
      ? `${better} ends with higher success. ${note}`
      : 'Their 95% intervals of success overlap: no clear difference.',
  ];
}
