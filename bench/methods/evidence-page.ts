/** `docs/evidence.md`: what was claimed of every method, what was run, and what came of it. Made from stored results. */

import { sparkline } from '../../src/cli/sparkline.ts';
import { Rng } from '../../src/core/rng.ts';
import { bootstrapMeanInterval, mean } from '../../src/core/statistics.ts';
import type { Experiment, StoredResult, StoredRun } from './experiment.ts';
import { experiments, pending } from './experiments.ts';
import { type Compared, compareArms, overallVerdict } from './verdict.ts';

/** The page as Markdown. */
export function evidencePage(results: ReadonlyMap<string, StoredResult>): string {
  const rows = experiments.flatMap((experiment) => methodRows(experiment, results.get(experiment.name)));
  const waiting = Object.entries(pending).map(([method, what]) =>
    row([named(method), '', '', '', '', '', `pending: ${what}`]),
  );
  const sections = experiments.map((experiment) => section(experiment, results.get(experiment.name)));
  const seen = new Set<string>();
  const anchoredOnce = (line: string): string =>
    line.replace(/<a id="[^"]*"><\/a>/, (mark) => {
      const first = !seen.has(mark);
      seen.add(mark);
      return first ? mark : '';
    });
  return `# Evidence

This page is written by \`npm run bench -- methods\` from the results in \`bench/methods/results/\`; \`--report\` writes it without
running anything. Every claim was written into its file before the first run. A verdict is computed: *reproduced* where the 95%
bootstrap interval of every paired difference over seeds lies on the side of the claim, *refuted* where one lies on the other side,
*not at this scale* where the seeds do not decide. The models have some ten thousand weights and the environments a few states:
a verdict is about the mechanism of a method, not about its benefit for language models.

## Every method

${table(['method', 'claim', 'source', 'experiment and command', 'seeds', 'figures', 'verdict'], [...rows, ...waiting].map(anchoredOnce))}

${sections.join('\n\n')}
`;
}

function methodRows(experiment: Experiment, result: StoredResult | undefined): string[] {
  const { name, methods, claim, source } = experiment;
  const all = result ? compareArms(experiment, result) : [];
  return methods.map((method) => {
    const own = all.filter(({ arm }) => arm === method);
    const compared = own.length > 0 ? own : all;
    return row([
      named(method),
      claim,
      source,
      `[${name}](#${anchor(name)}), \`npm run bench -- methods ${name}\``,
      result ? String(seedsOf(result)) : '',
      compared.map(differenceText).join('; '),
      result ? overallVerdict(compared) : 'pending: the experiment has not been run',
    ]);
  });
}

function section(experiment: Experiment, result: StoredResult | undefined): string {
  const { name, claim, source, setup, arms, remarks } = experiment;
  const parts = [`## ${name}`, `**Claim.** ${claim} (${source})`, setup];
  if (result) {
    const compared = compareArms(experiment, result);
    const figures = Object.keys(result.runs[arms[0]]?.[0]?.figures ?? {});
    const curves = arms.some((arm) => result.runs[arm]?.some(({ curve }) => curve !== undefined));
    parts.push(
      table(
        ['arm', ...figures, ...(curves ? ['mean curve, from 0 or the lowest to the highest of all'] : [])],
        arms.map((arm) => {
          const runs = result.runs[arm] ?? [];
          return row([
            `\`${arm}\``,
            ...figures.map((figure) => meanText(runs, figure)),
            ...(curves ? [curveText(runs, rangeOf(result))] : []),
          ]);
        }),
      ),
      `${compared.map((one) => `${differenceText(one)}: ${one.verdict}`).join('. ')}.`,
      `**Verdict: ${overallVerdict(compared)}** (${seedsOf(result)} seeds).`,
    );
  } else parts.push('**Not run yet.**');
  if (remarks) parts.push(remarks);
  return parts.join('\n\n');
}

function differenceText({
  figure,
  arm,
  against,
  expect,
  factor,
  margin,
  difference,
  interval,
}: Compared): string {
  const { low, high } = interval;
  const wanted =
    expect === 'no-worse'
      ? `no worse than −${margin ?? 0} expected`
      : factor === undefined
        ? `${expect} expected`
        : `${factor} times ${expect} expected`;
  const relation = factor === undefined ? 'minus' : 'divided by';
  return `${figure} of ${arm} ${relation} ${against}: ${number(difference)} [${number(low)}, ${number(high)}], ${wanted}`;
}

function meanText(runs: readonly StoredRun[], figure: string): string {
  const values = runs.map(({ figures }) => figures[figure]!);
  if (values.length === 0) return '';
  const { low, high } = bootstrapMeanInterval(values, Rng.of('evidence', figure));
  return `${number(mean(values))} [${number(low)}, ${number(high)}]`;
}

function curveText(runs: readonly StoredRun[], range: readonly [number, number]): string {
  const curves = runs.flatMap(({ curve }) => (curve ? [curve] : []));
  if (curves.length === 0) return '';
  const length = Math.min(...curves.map((curve) => curve.length));
  const averages = Array.from({ length }, (_, index) => mean(curves.map((curve) => curve[index]!)));
  return `\`${sparkline(averages, 32, range)}\``;
}

function rangeOf({ runs }: StoredResult): readonly [number, number] {
  const all = Object.values(runs).flatMap((list) => list.flatMap(({ curve }) => curve ?? []));
  return [Math.min(0, ...all), Math.max(...all)];
}

function seedsOf({ runs }: StoredResult): number {
  return Math.min(...Object.values(runs).map((list) => list.length));
}

const number = (value: number): string =>
  (Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString()).replace('-', '−');
/** The method, with an anchor that docs/methods.md links to. */
const named = (method: string): string => `<a id="method-${method}"></a>\`${method}\``;
const anchor = (name: string): string => name.toLowerCase();
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly string[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows].join('\n');
