/** docs/learned-worlds.md, from what runs showed. */

import type { LearningResult, Score, SeedResult } from './learning.ts';

export function learningPage(results: readonly LearningResult[]): string {
  const several = results.filter(({ seeds, failed }) => seeds.length + failed.length >= 3);
  const learned = several.filter(({ seeds, failed }) => failed.length === 0 && seeds.every(isApart));
  const heldOut = learned.filter(({ testTasks }) => testTasks === 'held-out');
  const environments = (of: readonly LearningResult[]): number =>
    new Set(of.map(({ environment }) => environment)).size;
  return `# Environments and what is learned in them

\`npm run bench -- worlds [NAME …] [--seeds N]\` writes this page: each environment as it is shipped, by its own recipe and settings and those that its row names
(\`worlds NAME:setting=value,…\`), one thread a run. Success is
that of the run's own evaluation on test tasks, of 500 episodes in most, sampled at temperature 1, with Wilson intervals of 95%. Training sees these tasks in environments with a star, which have too few to keep some
apart, and in no other. A seed has **learned** where the interval at the end lies above the one after imitation. Scripted players play the first 200 test tasks,
every seat by the same one.

In ${environments(learned)} of ${environments(several)} environments with three seeds every seed learned, in ${environments(heldOut)} of them on tasks that training never saw.

| environment | roles | random, beginner, expert | after imitation → at the end, seed by seed | learned | steps, seconds |
| --- | --- | --- | --- | --- | --- |
${results.map(row).join('\n')}

${details(results)}`;
}

/** Whether success at the end is above success after imitation, by intervals that do not touch. */
export function isApart({ before, after }: SeedResult): boolean {
  return after.successInterval[0] > before.successInterval[1];
}

function row(result: LearningResult): string {
  const { roles, testTasks, scripted, seeds } = result;
  const players = (['random', 'beginner', 'expert'] as const).map((player) => {
    const means = scripted[player];
    return means === undefined ? '–' : short(means.success);
  });
  const shown = seeds.map(({ before, after }) => `${short(before.success)} → ${short(after.success)}`);
  const seconds = seeds.map((seed) => seed.seconds);
  return `| ${[
    `${nameOf(result)}${testTasks === 'held-out' ? '' : ' *'}`,
    roles.length === 1 ? '1' : roles.join(', '),
    players.join(', '),
    shown.length === 0 ? 'none ended' : shown.join('; '),
    `${seeds.filter(isApart).length} of ${seeds.length + result.failed.length}`,
    seeds.length === 0 ? '–' : `${seeds[0]!.steps}, ${range(seconds)}`,
  ].join(' | ')} |`;
}

/** Intervals, returns and what went wrong, for those who want to check. */
function details(results: readonly LearningResult[]): string {
  const lines = results.flatMap((result) => [
    ...result.seeds.map(
      ({ seed, before, after }) =>
        `| ${nameOf(result)} | ${seed} | ${result.recipe} | ${scoreText(before)} | ${scoreText(after)} | ${result.commit} |`,
    ),
    ...result.failed.map(
      ({ seed, reason }) => `| ${nameOf(result)} | ${seed} | | | ${reason} | ${result.commit} |`,
    ),
  ]);
  return `## Seed by seed

| environment | seed | recipe | after imitation: success, return | at the end | commit |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}

/** The environment, and the settings that are not those it ships with. */
const nameOf = ({ environment, given }: LearningResult): string =>
  [`\`${environment}\``, ...given.map((setting) => `\`${setting}\``)].join(' ');

const short = (value: number): string => value.toFixed(2);

function scoreText({ success, successInterval: [low, high], return: mean }: Score): string {
  return `${success.toFixed(3)} [${low.toFixed(3)}, ${high.toFixed(3)}], ${mean.toFixed(3)}`;
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((value) => Math.round(value));
  return least === most ? `${least}` : `${least} to ${most}`;
}
