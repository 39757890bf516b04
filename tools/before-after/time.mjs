/**
 * The time that the demonstration takes in two built trees: by turns, so that whatever else the machine does meets both.
 *
 *   git worktree add /tmp/before f3693a9 && (cd /tmp/before && npm ci && npm run build)
 *   npm run build && node tools/before-after/time.mjs /tmp/before . [PAIRS=5] [KEY=VALUE …]
 *
 * Each pair runs `turnwise train frozen-lake` once in each tree, the second tree first in every other pair; settings such as
 * `steps=2` go to both. Prints every run, then the medians of wall seconds, CPU seconds (of the process and its threads) and
 * peak memory, and the second tree's as a share of the first's. Quote figures of an idle machine only.
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [before, after, ...rest] = process.argv.slice(2);
const settings = rest.filter((word) => word.includes('='));
const pairs = Number(rest.find((word) => !word.includes('=')) ?? 5);
if (!before || !after || !Number.isInteger(pairs) || pairs < 1) {
  console.error('usage: node tools/before-after/time.mjs BEFORE AFTER [PAIRS] [KEY=VALUE …]');
  process.exit(2);
}
const trees = [before, after].map((tree) => {
  const main = resolve(tree, 'dist/src/cli/main.js');
  if (!existsSync(main))
    throw new Error(`${main} is not there: run "npm ci && npm run build" in ${tree} first`);
  return { tree: resolve(tree), main };
});

/** Told by the run itself when it ends, so that no tool of the system is needed. */
const METER = `data:text/javascript,${encodeURIComponent(`
import { writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(process.env.TIME_OUT, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, peak: maxRSS * 1024 }));
});`)}`;

const folder = mkdtempSync(join(tmpdir(), 'before-after-time-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const measured = trees.map(() => []);
for (let pair = 0; pair < pairs; pair++) {
  for (const side of pair % 2 === 0 ? [0, 1] : [1, 0]) {
    const run = await timed(trees[side], `${pair}-${side}`);
    measured[side].push(run);
    console.log(`pair ${pair + 1} ${side === 0 ? 'before' : 'after '} ${shown(run)}`);
  }
}

const medians = measured.map((runs) =>
  Object.fromEntries(['wall', 'cpu', 'peak'].map((name) => [name, median(runs.map((run) => run[name]))])),
);
console.log('');
for (const [side, label] of ['before', 'after '].entries()) {
  console.log(`median ${label} ${shown(medians[side])}  ${describe(trees[side].tree)}`);
}
const ratio = (name) => (medians[1][name] / medians[0][name]).toFixed(3);
console.log(`ratio  wall ${ratio('wall')}  cpu ${ratio('cpu')}  peak ${ratio('peak')}  of ${pairs} pairs`);

async function timed({ main }, name) {
  const out = join(folder, `${name}.json`);
  const set = settings.flatMap((setting) => ['--set', setting]);
  const words = ['--import', METER, main, 'train', 'frozen-lake', '--name', name, '--runs', folder, '--json'];
  const began = performance.now();
  const child = spawn(process.execPath, [...words, ...set], {
    env: { ...process.env, TIME_OUT: out },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  const code = await new Promise((done, failed) => child.once('error', failed).once('close', done));
  if (code !== 0) throw new Error(`${main} ended with status ${code}:\n${errors}`);
  const wall = (performance.now() - began) / 1000;
  if (!readdirSync(folder).includes(name)) throw new Error(`${main} stored no run: nothing was timed`);
  rmSync(join(folder, name), { recursive: true, force: true });
  return { wall, ...JSON.parse(readFileSync(out, 'utf8')) };
}

function shown({ wall, cpu, peak }) {
  return `wall ${wall.toFixed(2).padStart(7)} s  cpu ${cpu.toFixed(2).padStart(7)} s  peak ${(peak / 2 ** 20).toFixed(0).padStart(5)} MiB`;
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The commit of a tree. */
function describe(tree) {
  try {
    const git = (...args) => execFileSync('git', args, { cwd: tree, encoding: 'utf8' }).trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '-uno') ? ' and changes' : ''}`;
  } catch {
    return tree;
  }
}
