/** `docs/evidence.md`: what was claimed of every method, what was run, and what came of it. Made from stored results. */

import type { JudgedClaim } from '../../src/compare/claims/claim-verdict.ts';
import { mean } from '../../src/core/statistics.ts';
import { claimTables, howVerdictsAreReached } from './claims-text.ts';
import { compareArms } from './comparison.ts';
import { picturePath } from './curve-picture.ts';
import type { Experiment, StoredResult, StoredRun } from './experiment.ts';
import { experiments, pending } from './experiments.ts';
import { comparedFor, differenceText, numberText, type Results } from './measured.ts';

/** The page as Markdown. */
export function evidencePage(results: Results, judged: readonly JudgedClaim[]): string {
  const rows = experiments.flatMap((experiment) => methodRows(experiment, results.get(experiment.name)));
  const waiting = Object.entries(pending).map(([method, what]) =>
    row([named(method), '', '', '', `pending: ${what}`]),
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

${howVerdictsAreReached}

## Claims

\`turnwise compare --claim bench/claims --report\` computes these tables from committed figures, and \`npm run bench -- methods --report\` copies them
here. Without \`--report\` the command runs the claims that have no result yet.

${claimTables(judged)}

## Older experiments

These experiments show a mechanism. None gives a verdict on a recipe:

- They play environments made for the purpose with models of some ten thousand weights, not the shipped ones.
- Rivals are not tuned, and some lack the method’s knowledge.
- Five to ten seeds decide nothing, so that only their mean stands here, with the number of seeds that were as expected.
- Of the first 40, 18 had what was expected committed together with the result, not before it.

\`npm run bench -- methods NAME\` repeats an experiment, and with \`--seeds 201..205\` prints it for other seeds. What credit does on a table of
logits is a test, without a figure here:
\`bench/methods/tables.test.ts\`.

${table(['method', 'claim', 'source', 'experiment and command', 'figures'], [...rows, ...waiting].map(anchoredOnce))}

${sections.join('\n\n')}
`;
}

function methodRows(experiment: Experiment, result: StoredResult | undefined): string[] {
  const { name, methods, claim, source } = experiment;
  return methods.map((method) => {
    const compared = comparedFor(method, experiment, result);
    return row([
      named(method),
      claim,
      source,
      `[${name}](#${anchor(name)}), \`npm run bench -- methods ${name}\``,
      result ? compared.map(differenceText).join('; ') : 'pending: the experiment has not been run',
    ]);
  });
}

function section(experiment: Experiment, result: StoredResult | undefined): string {
  const { name, claim, source, setup, arms, remarks } = experiment;
  const parts = [`### ${name}`, `**Claim.** ${claim} (${source})`, setup];
  if (result) {
    const compared = compareArms(experiment, result);
    const picture = picturePath(experiment, result);
    const figures = Object.keys(result.runs[arms[0]]?.[0]?.figures ?? {});
    parts.push(
      table(
        ['arm: mean over seeds, lowest and highest', ...figures],
        arms.map((arm) =>
          row([`\`${arm}\``, ...figures.map((figure) => meanText(result.runs[arm] ?? [], figure))]),
        ),
      ),
      ...(picture === undefined ? [] : [`![Learning curves of ${name}](${picture})`]),
      `${compared.map(differenceText).join('. ')}.`,
    );
  } else parts.push('**Not run yet.**');
  if (remarks) parts.push(remarks);
  return parts.join('\n\n');
}

function meanText(runs: readonly StoredRun[], figure: string): string {
  const values = runs.map(({ figures }) => figures[figure]!);
  if (values.length === 0) return '';
  return `${numberText(mean(values))} (${numberText(Math.min(...values))} to ${numberText(Math.max(...values))})`;
}

/** The method, with an anchor that docs/methods.md links to. */
const named = (method: string): string => `<a id="method-${method}"></a>\`${method}\``;
const anchor = (name: string): string => name.toLowerCase();
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (titles: readonly string[], rows: readonly string[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows].join('\n');
