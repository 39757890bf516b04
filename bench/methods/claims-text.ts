/** What docs/evidence.md says of claims: how a verdict is reached, and where each stands. */

import { type JudgedClaim, plannedHours } from '../../src/compare/claims/claim-verdict.ts';
import { seedsText } from '../../src/compare/seed-list.ts';

/** Those with a result first: they are what a reader looks for. */
export function claimTables(judged: readonly JudgedClaim[]): string {
  const waiting = judged.filter(({ stored }) => stored === undefined);
  const known = judged.filter(({ stored }) => stored !== undefined);
  const hours = known.reduce((sum, { stored }) => {
    const { tuning, verdict } = stored!.result.hours;
    return sum + tuning + verdict;
  }, 0);
  const planned = waiting.reduce((sum, { claim }) => sum + plannedHours(claim), 0);
  return `Of ${judged.length} claims ${countsOf(judged)}. Runs took ${hours.toFixed(0)} hours of one core, tuning included; what is pending is planned to take
${planned.toFixed(0)} hours of two cores, at a minute for each run.

${table(
  ['claim', '', 'source', 'where', 'p after Holm', 'verdict'],
  known.map((one) => [...rowOf(one), one.adjusted.toPrecision(2), verdictOf(one)]),
)}

### Pending claims

${table(
  ['claim', '', 'source', 'where', 'state'],
  waiting.map((one) => [...rowOf(one), verdictOf(one)]),
)}`;
}

/** Such as "3 are refuted, 40 are pending", the most frequent last. */
function countsOf(judged: readonly JudgedClaim[]): string {
  const counts = new Map<string, number>();
  for (const { judgement } of judged) counts.set(judgement.verdict, (counts.get(judgement.verdict) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => a - b)
    .map(([verdict, count]) => `${count} ${count === 1 ? 'is' : 'are'} ${verdict}`)
    .join(', ');
}

function rowOf({ claim, stored }: JudgedClaim): string[] {
  const worlds = claim.worlds.map(({ name }) => name).join(', ');
  const seeds = seedsText(stored?.result.seeds.verdict ?? claim.seeds.verdict);
  const where = `${worlds}; ${claim.budget.amount} ${claim.budget.axis}; seeds ${seeds}`;
  return [`\`${claim.id}\``, claim.about, claim.source, where];
}

const verdictOf = ({ judgement: { verdict, why, seedsNeeded } }: JudgedClaim): string =>
  `**${verdict}**: ${why}${seedsNeeded === undefined ? '' : `; about ${seedsNeeded} seeds would decide`}`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

export const howVerdictsAreReached = `This page explains how a claim about a method ends in a verdict, and lists the claims and older experiments with their results.

\`\`\`sh
npx turnwise compare --claim bench/claims --report      # judges the stored results
npm run bench -- methods cispo                          # repeats an older experiment
\`\`\`

## How a verdict is reached

\`turnwise compare --claim\` runs a claim that was written and committed before its result ([claims](compare.md#claims)).

**Runs.** An arm is a recipe with settings, trained through the loop in an environment that is shipped or lies beside the claim. Arms of one seed share the warm start, the
order of tasks, the chance of every environment and the evaluation tasks. Random streams have the name of their purpose, so an arm that plays
more episodes does not shift its pair. A budget counts episodes (discarded ones included), turns (branches and twins included), tokens
(sampled, read, scored, trained on) or seconds; the learning rate decays over the spent share of it. The report shows all four for all arms.

**Tuning.** Every arm is tuned over the same number of learning rates, five around its default, by mean area on validation tasks with
separate seeds. If the end of a grid wins, the grids of all arms grow by two. The claimant runs at its best rate, every rival at each rate
that lies behind its best by no more than the standard error of that difference, paired by seed (results older than that of \`scaling-inter\`: by no
more than the standard error of its best); the claim must hold against all of them.

**Test.** The difference is the mean over seeds, paired: exact sign flips up to twenty seeds, 200,000 random ones beyond. A paired t
interval, its variance at least the variance of the evaluation, stands guard: a verdict needs both. Over several environments the mean decides;
interquartile mean, profile and probability of improvement only describe. A claim holds if all its parts hold, so its p is the largest of
theirs. Holm's method corrects over the family of claims, pending and withdrawn ones included. Fewer than ten seeds decide nothing, nor do
fewer than six pairs that differ.

| verdict | when |
| --- | --- |
| void | the claim changed, is not older than its result, ran in a changed tree, or was tuned on its seeds |
| cannot fail here | an arm equals the claimant bit for bit; a condition of the claim's gate is not met; no rival has the claimant's knowledge |
| reproduced | every part lies above zero by both intervals, and at or above the claimed size; a placebo is beaten |
| refuted | both intervals of a part lie below the claimed size |
| of our implementation only | the same, and the implementation differs from the source by name |
| undecided | anything else, with the number of seeds that would decide |
| pending | not run yet, or its environment does not exist yet |

**Break-even.** In the report, beside every lead at the end stands the collapse rate that would cancel it. Ten seeds without a collapse leave a rate of 26% possible,
twelve 22%.

**Order.** Git shows that the claim came first: its bytes are in the tree that ran, and its last commit is an ancestor of the commit that added
the result. Dates would show nothing. A shallow clone cannot check this, and reports it.`;
