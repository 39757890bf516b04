/** docs/lmrl-gym.md, in the shape of the paper's table, from what runs showed. */

import type { LmrlResult } from './lmrl.ts';
import { ARMS, type Arm, DATA, METHODS, normalised, TASKS } from './tasks.ts';

export function lmrlPage(results: readonly LmrlResult[]): string {
  const rows = Object.entries(TASKS).map(([name, { title, published }]) => {
    const result = results.find(({ task }) => task === name);
    const theirs = (arm: Arm): string => {
      const raw = published?.returns[arm];
      if (published === undefined || raw === undefined) return '';
      return ` (${normalised(raw, published.least, published.average, published.most).toFixed(1)})`;
    };
    const ours = (arm: Arm): string => {
      const scores = result?.scores[arm];
      if (result === undefined || scores === undefined || scores.length === 0) return 'not run';
      const each = scores.map((score) => normalised(score, result.least, result.average, result.most));
      return `${mean(each).toFixed(1)}${each.length > 1 ? ` ± ${deviation(each).toFixed(1)}` : ''}`;
    };
    const data = result
      ? `${short(result.least)}, ${short(result.average)}, ${short(result.most)}`
      : 'not run';
    return `| ${[title, data, ...ARMS.map((arm) => ours(arm) + theirs(arm))].join(' | ')} |`;
  });
  return `# LMRL-Gym's table

\`npm run bench -- lmrl [TASK …] [--seeds N]\` writes this page: the tasks of LMRL-Gym (arXiv 2311.18232) that Turnwise ships, by its methods, in the shape of the
paper's table. 0 is the worst return, 50 the mean return of the recorded episodes, 100 the mean return of the expert.

- **Recorded episodes**: ${DATA.demonstrations} of mixed players, ${100 * DATA.beginnerShare}% of them the beginner's and the rest the expert's, with ${100 * DATA.randomRate}% random actions in either. All methods begin
  with behaviour cloning of these; \`bc\`, \`filtered-bc\`, \`mc-returns\` and \`ilql\` see nothing else, \`ppo\` and \`archer\` go on by playing.
- **Scores**: the return of ${EPISODES_TEXT} on test tasks, sampled at temperature 1: the mean of the seeds and its standard deviation.
- **In brackets** what the paper's repository gives as raw returns of agents of GPT-2's size, normalised by its own constants. They say little beside ours: models of
  about 0.1M parameters, word tokens, other data, answers from tables in the place of models, and tasks of other sizes.

| task | worst, recorded, expert | ${ARMS.map((arm) => `\`${arm}\``).join(' | ')} |
| --- | --- | ${ARMS.map(() => '---').join(' | ')} |
${rows.join('\n')}

The settings of each column, beside those of the environment:

${ARMS.map((arm) => `- \`${arm}\`: \`--recipe ${METHODS[arm].recipe} ${METHODS[arm].settings.map((setting) => `--set ${setting}`).join(' ')}\``).join('\n')}
`;
}

const EPISODES_TEXT = '500 episodes';
const short = (value: number): string => String(Number(value.toFixed(2))).replace('-', '−');
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of a sample. */
function deviation(values: readonly number[]): number {
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}
