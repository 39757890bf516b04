/** docs/lmrl-gym.md, from what runs showed. */

import type { Cell, Dataset, LmrlRow } from './lmrl.ts';
import { METHODS, type Method, normalised } from './tasks.ts';

const TITLES: Readonly<Record<Method, string>> = {
  bc: 'BC',
  'filtered-bc': 'filtered BC',
  'mc-returns': 'MC',
  ilql: 'ILQL',
  ppo: 'PPO',
  archer: 'ArCHer (IQL)',
};

export function lmrlPage(rows: readonly LmrlRow[]): string {
  const run = rows.flatMap(({ cells }) => Object.values(cells)).length;
  const all = rows.length * METHODS.length;
  return `# LMRL-Gym's table

\`npm run bench -- lmrl [TASK|METHOD|TASK/METHOD …] [--seconds N] [--again]\` writes this page: ${run} of ${all} cells were run. Each is one seed, a small word model
made from the dataset, on 1000 episodes by scripted players of different quality ([the command](data.md#the-command)). Scores are normalised as in the paper (arXiv 2311.18232):
0 is the least return, 50 the mean of the dataset, 100 the scripted expert. In brackets are the paper's scores of GPT-2 agents on its own data: other models, worlds of other
sizes and another 100, so only the order of methods may be compared. One seed has no interval between seeds. No method was tuned task by task; steps, scale and target rate of MC and ILQL come
from a few trials on Guess My City. Chess, whose games have some fifty turns, learns from four at a time; no method got beyond imitation there.

| task | ${METHODS.map((method) => TITLES[method]).join(' | ')} |
| --- | ${METHODS.map(() => '---').join(' | ')} |
${rows.map((row) => `| ${row.task.title} | ${METHODS.map((method) => shown(row, method)).join(' | ')} |`).join('\n')}

${run < all ? '`–` was not run. ' : ''}All imitate the dataset first, filtered BC its successes alone. PPO then plays; the others see no other episode. ArCHer (arXiv 2402.19446) came
after the paper, and has no score there; its critic begins with what the policy has imitated.

## Datasets

| task | players | mean return by player | least, mean, most | success | 0 and 100 of the scale |
| --- | --- | --- | --- | --- | --- |
${rows.flatMap(({ task, dataset }) => (dataset ? [datasetRow(task.title, dataset, task.least)] : [])).join('\n')}

## Cell by cell

| task | method | return, 95% interval | success | seconds | command |
| --- | --- | --- | --- | --- | --- |
${rows
  .flatMap(({ task, cells }) =>
    METHODS.flatMap((method) => {
      const cell = cells[method];
      return cell ? [`| ${task.title} | ${TITLES[method]} | ${cellText(cell)} |`] : [];
    }),
  )
  .join('\n')}
`;
}

function shown(row: LmrlRow, method: Method): string {
  const { task, dataset, cells } = row;
  const cell = cells[method];
  const theirs = task.paper[method] === undefined ? '' : ` (${task.paper[method].toFixed(1)})`;
  if (cell === undefined || dataset === undefined) return `–${theirs}`;
  if ('failed' in cell) return `failed${theirs}`;
  const scale = { least: task.least, mean: dataset.mean, most: dataset.expert };
  return `${normalised(cell.return, scale).toFixed(1)}${theirs}`;
}

function datasetRow(title: string, data: Dataset, least: number): string {
  const players = Object.entries(data.byPlayer).map(
    ([player, { episodes, mean }]) => `${player} ${mean.toFixed(2)} (${episodes})`,
  );
  return `| ${[
    title,
    `\`${data.players}\``,
    players.join(', '),
    [data.least, data.mean, data.most].map((value) => value.toFixed(2)).join(', '),
    data.success.toFixed(3),
    `${least}, ${data.expert.toFixed(2)}`,
  ].join(' | ')} |`;
}

function cellText(cell: Cell): string {
  if ('failed' in cell)
    return `${cell.failed.replaceAll('\n', ' ')} | – | ${Math.round(cell.seconds)} | \`${cell.command}\``;
  const [low, high] = cell.returnInterval;
  return `${cell.return.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}] | ${cell.success.toFixed(3)} | ${Math.round(cell.seconds)} | \`${cell.command}\``;
}
