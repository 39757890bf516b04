/** Figures beside the page, for other tools: one line for every run, and one for every point of every curve. */

import { costAxes } from './budget.ts';
import { costToReach } from './run-record.ts';
import { type ArmResult, costLevel, type WorldResult } from './world-results.ts';

type Cell = string | number | boolean | undefined;

export function runsCsv(worlds: readonly WorldResult[]): string {
  const head = [
    ...['world', 'arm', 'rate', 'seed', 'run', 'state', 'start', 'final', 'episodes', 'area', 'return'],
    ...[`${worlds[0]?.reading.axis ?? 'turns'}_to_${100 * costLevel}%`, 'reached', 'collapsed'],
    ...costAxes.map((axis) => `spent_${axis}`),
  ];
  const rows = eachSeed(worlds).map(({ world, reading, arm, rate, seed }): Cell[] => {
    const { figures, run } = seed;
    const place = [world, arm, rate, seed.seed, seed.name];
    const state = seed.diverged ? 'diverged' : figures ? 'finished' : seed.problem ? 'failed' : 'missing';
    if (!figures || !run) return [...place, state];
    const cost = reading.quantity === 'success' ? costToReach(run, reading, costLevel) : undefined;
    return [
      ...place,
      state,
      ...[figures.warm, figures.final, figures.episodes, figures.area, figures.return],
      ...[cost?.spent, cost?.reached, figures.collapsed],
      ...costAxes.map((axis) => figures.spent[axis]),
    ];
  });
  return csv([head, ...rows]);
}

export function curvesCsv(worlds: readonly WorldResult[]): string {
  const head = [
    'world',
    'arm',
    'rate',
    'seed',
    'step',
    ...costAxes,
    'success',
    'return',
    'episodes',
    'exploitability',
  ];
  const rows = eachSeed(worlds).flatMap(({ world, arm, rate, seed }) =>
    (seed.run?.points ?? []).map((point): Cell[] => [
      ...[world, arm, rate, seed.seed, point.step],
      ...costAxes.map((axis) => point.spent[axis]),
      ...[point.success, point.return, point.episodes, point.exploitability],
    ]),
  );
  return csv([head, ...rows]);
}

function eachSeed(worlds: readonly WorldResult[]) {
  return worlds.flatMap(({ world, reading, arms }) =>
    arms.flatMap(({ arm, rate, seeds }: ArmResult) =>
      seeds.map((seed) => ({ world, reading, arm, rate, seed })),
    ),
  );
}

function csv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((cells) => `${cells.map(field).join(',')}\n`).join('');
}

function field(cell: Cell): string {
  const text = cell === undefined ? '' : String(cell);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
