/** What docs/evidence.md says of claims: how a verdict is reached, and where each stands. */

import type { JudgedClaim } from '../../src/compare/claim-verdict.ts';
import { seedsText } from '../../src/compare/seed-list.ts';

export function claimTable(judged: readonly JudgedClaim[]): string {
  const rows = judged.map(({ claim, judgement, stored, adjusted }) => {
    const worlds = claim.worlds.map(({ name }) => name).join(', ');
    const seeds = seedsText(stored?.result.seeds.verdict ?? claim.seeds.verdict);
    const budget = `${claim.budget.amount} ${claim.budget.axis}`;
    const p = stored ? adjusted.toPrecision(2) : '–';
    return [
      `\`${claim.id}\``,
      claim.about,
      claim.source,
      `${worlds}; ${budget}; seeds ${seeds}`,
      p,
      `**${judgement.verdict}**: ${judgement.why}`,
    ];
  });
  const head = ['claim', '', 'source', 'where', 'p after Holm', 'verdict'];
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  );
  return lines.join('\n');
}

export const howVerdictsAreReached = `This page explains how a claim about a method ends in a verdict, and lists the claims and older experiments with their results.

\`\`\`sh
npx turnwise compare --claim bench/claims --report      # judges the stored results
npm run bench -- methods cispo                          # repeats an older experiment
\`\`\`

## How a verdict is reached

\`turnwise compare --claim\` runs a claim that was written and committed before its result ([claims](compare.md#claims)).

**Runs.** An arm is a recipe with settings, trained through the loop in a shipped environment. Arms of one seed share the warm start, the
order of tasks, the chance of every environment and the evaluation tasks. Random streams have the name of their purpose, so an arm that plays
more episodes does not shift its pair. A budget counts episodes (discarded ones included), turns (branches and twins included), tokens
(sampled, read, scored, trained on) or seconds; the learning rate decays over the spent share of it. The report shows all four for all arms.

**Tuning.** Every arm is tuned over the same number of learning rates, five around its default, by mean area on validation tasks with
separate seeds. If the end of a grid wins, the grids of all arms grow by two. The claimant runs at its best rate, every rival at each rate
within one standard error of its best, and the claim must hold against all of them.

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

**Break-even.** Beside every lead stands the collapse rate that would cancel it. Ten seeds without a collapse leave a rate of 26% possible,
twelve 22%.

**Order.** Git shows that the claim came first: its bytes are in the tree that ran, and its last commit is an ancestor of the commit that added
the result. Dates would show nothing. A shallow clone cannot check this, and reports it.`;
