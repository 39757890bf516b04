/** What a comparison will cost, for the terminal. */

import type { StudyPlan } from '../../compare/forecast.ts';
import { type Console, painter } from '../../show/console.ts';
import { formatSeconds } from '../../show/format.ts';
import { table } from '../../show/table.ts';

export function planText(
  { rows, runs, cached, parallel, hours }: StudyPlan,
  screen: Pick<Console, 'colour'>,
): string {
  const paint = painter(screen.colour);
  const lines = table(
    [
      { title: 'world' },
      { title: 'arm' },
      { title: 'runs', align: 'right' },
      { title: 'cached', align: 'right' },
      { title: 'each', align: 'right' },
    ],
    rows.map(({ world, arm, secondsEach, ...row }) => [
      world,
      paint('cyan', arm),
      String(row.runs),
      String(row.cached),
      secondsEach === null ? '?' : formatSeconds(secondsEach),
    ]),
    paint,
  );
  const left = runs - cached;
  const time =
    left === 0
      ? 'nothing is left to run'
      : hours === null
        ? 'no run has finished yet to judge the time by'
        : `about ${formatSeconds(hours * 3600)} with ${parallel} at once`;
  return `${[...lines, '', `${runs} runs, ${cached} cached, ${left} to run: ${time}.`].join('\n')}\n`;
}
