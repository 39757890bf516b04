/**
 * Commit BEFORE beside this tree, on the same machine: what credit methods and updates give, byte for byte.
 *
 *   npm run build && node tools/before-after/run.mjs [BEFORE, by default f3693a9]
 *
 * BEFORE may also be a folder with that commit, built.
 *
 * Prints a line for each credit method and each update, and fails where anything differs without a reason that is known.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Where updates differ from commit f3693a9, and why: value warm-ups move the value head alone; values of turns are a mean over
 * turns; groups without an advantage stay in the denominator (the third step has one); SPEAR keeps good episodes only.
 */
const EXPLAINED = {
  'credit igpo': 'an epsilon of 1e-6 in its divisor',
  ppo: 'value warm-up',
  'turn-ppo': 'value warm-up, mean over turns',
  grpo: 'denominator',
  rloo: 'denominator',
  gigpo: 'denominator',
  'sft-rl': 'denominator',
  'spear-sil': 'denominator, good episodes only',
};

const here = import.meta.dirname;
const top = resolve(here, '../..');
const [commit = 'f3693a9'] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'before-after-'));
const built = existsSync(join(commit, 'dist/src/cli/main.js')) && resolve(commit);
const tree = built || join(work, 'before');
const run = (command, args, cwd = top) =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 30,
  });
const node = (...args) => run(process.execPath, args);

if (!built) buildBefore();
try {
  const differing = [...(await compareCredit()), ...compareUpdates()];
  if (differing.length > 0) {
    console.log(`\ndiffers: ${differing.join(', ')}`);
    process.exitCode = 1;
  } else console.log('\nnothing differs that is not explained');
} finally {
  if (!built) run('git', ['worktree', 'remove', '--force', tree]);
}

function buildBefore() {
  run('git', ['worktree', 'add', '--quiet', '--detach', tree, commit]);
  const sameLock =
    readFileSync(join(top, 'package-lock.json'), 'utf8') ===
    readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (sameLock) cpSync(join(top, 'node_modules'), join(tree, 'node_modules'), { recursive: true });
  else run('npm', ['ci'], tree);
  run('npm', ['run', 'build'], tree);
}

async function compareCredit() {
  const { creditMethods } = await import(pathToFileURL(join(tree, 'dist/src/credit/methods.js')).href);
  const rollouts = join(work, 'rollouts.jsonl');
  node(join(here, 'credit-rollouts.mjs'), rollouts);
  const sides = [tree, top].map((side) => join(side, 'dist/src/cli/main.js'));
  const methods = creditMethods.map(({ name }) => name);
  return methods.filter((method) => {
    const [before, after] = sides.map((main) => {
      const report = JSON.parse(node(main, 'credit', '--rollouts', rollouts, '--method', method, '--json'));
      // Options that are new say that they are off.
      return JSON.stringify({ ...report, config: undefined });
    });
    const why = EXPLAINED[`credit ${method}`];
    const verdict = before === after ? 'equal' : why === undefined ? 'DIFFERS' : `differs, explained: ${why}`;
    console.log(`credit ${method}: ${verdict} (${before.length} characters)`);
    return before !== after && why === undefined;
  });
}

function compareUpdates() {
  const episodes = join(work, 'episodes.json');
  node(join(here, 'stored-episodes.mjs'), episodes);
  for (const [side, root] of [
    ['before', tree],
    ['after', top],
  ]) {
    process.stdout.write(node(join(here, 'updates.mjs'), root, episodes, join(work, 'weights', side)));
  }
  const differing = [];
  for (const recipe of readdirSync(join(work, 'weights', 'before'))) {
    const files = readdirSync(join(work, 'weights', 'before', recipe), { recursive: true }).filter((file) =>
      // The optimizer's file has steps by parameter now.
      /^(?!.*optimizer).*\.safetensors$/.test(file),
    );
    const unequal = files.filter((file) => {
      const other = join(work, 'weights', 'after', recipe, file);
      return (
        !existsSync(other) ||
        !readFileSync(join(work, 'weights', 'before', recipe, file)).equals(readFileSync(other))
      );
    });
    const why = EXPLAINED[recipe];
    const reason = unequal.length > 0 && why !== undefined ? `, explained: ${why}` : '';
    console.log(`update ${recipe}: ${files.length - unequal.length} of ${files.length} files equal${reason}`);
    if (unequal.length > 0 && why === undefined) differing.push(recipe);
  }
  return differing;
}
