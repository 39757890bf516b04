/** docs/environment-figures.md: all environments of the product in one table, from what benches stored and what docs/environments.md says. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LearningResult, readResults } from './learning.ts';
import { type EnvironmentFigures, readSpeed, type SpeedResult } from './speed.ts';

const page = 'docs/environment-figures.md';

/** Writes the page, and returns where. */
export function writeFigures(root: string): string {
  writeFileSync(join(root, page), storedFigures(root));
  return page;
}

/** The page from what is stored in a clone of the repository. */
export function storedFigures(root: string): string {
  const list = readFileSync(join(root, 'docs/environments.md'), 'utf8');
  return figuresPage(readSpeed(root), readResults(join(root, 'bench/worlds/results')), oraclesOf(list));
}

/** The oracle of each environment: the last cell of its row in docs/environments.md. */
function oraclesOf(list: string): ReadonlyMap<string, string> {
  const rows = list.matchAll(/^\| (`[^|]+`) \|[^|]*\| ([^|]+) \|$/gm);
  return new Map(
    [...rows].flatMap(([, names, oracle]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => [name!, oracle!.trim()] as const),
    ),
  );
}

export function figuresPage(
  { machine, environments }: SpeedResult,
  learned: readonly LearningResult[],
  oracles: ReadonlyMap<string, string>,
): string {
  return `# All environments in figures

\`npm run bench -- steps [NAME …]\` writes this page: every built-in environment with its default options, and what was learned in it where
[a learning run](learned-worlds.md) is stored.

- **Players**: success, then mean return, of the random player, the beginner and the expert over the first 100 test tasks. With several roles each plays against itself,
  and the figures are those of the first role.
- **Learned**: mean success of the seeds after imitation and after training. A star: with the settings that [the learning run](learned-worlds.md) names, such as an opponent.
- **Steps a second** of processor time on one core, through a session as a run plays it, with what the agent reads next; opening an episode is not counted. *Of nothing*
  is that over the steps of a reducer that does nothing. The last column names Python originals with their steps a second, and how many times as fast this package is.
  All episodes are random ones, played again from their seeds. Both sides take turns, three times ${SECONDS_TEXT}; ratios are medians of the pairs.

Seen on ${machine}, beside other work. \`PYTHON\` names the Python that has the originals (\`pip install gymnasium minigrid textarena textworld open-spiel pettingzoo
scienceworld\`). open-spiel's games are C++; scienceworld runs in a Java machine, whose time is counted; the originals of text-nav and household are a generated game of
TextWorld, on which theirs stand, and those of missions and science-lab have many more rules than ours. A step of chess is two moves here, White's and the reply, and one in pettingzoo.

| environment | roles | test tasks | oracle | random; beginner; expert | learned | steps a second | of nothing | original |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
${environments.map((one) => row(one, learned, oracles)).join('\n')}

${missed(environments)}
`;
}

const SECONDS_TEXT = '0.1 s each';

function row(
  { environment, roles, testTasks, scripted, stepsPerSecond, ofNothing, originals }: EnvironmentFigures,
  learned: readonly LearningResult[],
  oracles: ReadonlyMap<string, string>,
): string {
  const players = (['random', 'beginner', 'expert'] as const).map((player) => {
    const means = scripted[player];
    return means === undefined ? '–' : `${short(means.success)}, ${short(means.outcome)}`;
  });
  // As it is shipped, where that is stored; else with an opponent, say.
  const own = learned.filter((result) => result.environment === environment && result.seeds.length > 0);
  const { seeds = [], given = [] } = own.sort((a, b) => a.given.length - b.given.length)[0] ?? {};
  const mean = (when: 'before' | 'after'): string =>
    short(seeds.reduce((sum, seed) => sum + seed[when].success, 0) / seeds.length);
  return `| ${[
    `[\`${environment}\`](../envs/${environment}/README.md)`,
    roles.length === 1 ? '1' : String(roles.length),
    testTasks === null ? 'endless' : String(testTasks),
    oracles.get(environment) ?? '–',
    players.join('; '),
    seeds.length === 0
      ? 'not stored'
      : `${mean('before')} → ${mean('after')}, ${seeds.length === 1 ? '1 seed' : `${seeds.length} seeds`}${given.length === 0 ? '' : ' *'}`,
    thousands(stepsPerSecond),
    String(ofNothing),
    originals.map(told).join('; ') || '–',
  ].join(' | ')} |`;
}

const told = ({ name, version, stepsPerSecond, ratio }: EnvironmentFigures['originals'][number]): string =>
  `${name} (${version}) ${thousands(stepsPerSecond)}: ${ratio} ×`;

/** What falls short of the goals, said in words. */
function missed(environments: readonly EnvironmentFigures[]): string {
  const goal = (name: string): number => (name.startsWith('gymnasium') ? 5 : 10);
  const python = environments.flatMap(({ environment, originals }) =>
    originals
      .filter(({ name, ratio }) => !name.startsWith('open-spiel') && ratio < goal(name))
      .map(({ name, ratio }) => `\`${environment}\` (${ratio} × ${name})`),
  );
  const slow = environments
    .filter(({ originals, ofNothing }) => originals.length === 0 && ofNothing < 0.2)
    .map(({ environment, ofNothing }) => `\`${environment}\` (${ofNothing})`);
  return `The goals are ten times the steps of Python originals, five times those of gymnasium's toy worlds, none for open-spiel, and a fifth of the steps of nothing for
all others. ${python.length === 0 ? 'All originals are met' : `Below the first two: ${python.join(', ')}`}. ${slow.length === 0 ? 'None is below the last' : `Below the last: ${slow.join(', ')}. A fifth of the steps of nothing leaves 1.3 microseconds for a step`}.`;
}

const short = (value: number): string =>
  value
    .toFixed(2)
    .replace(/^-/, '−')
    .replace(/^−0\.00$/, '0.00');
const thousands = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
