/**
 * Commit BEFORE beside this tree, on the same machine: what credit methods and updates give, byte for byte.
 *
 *   npm run build && node tools/before-after/run.mjs [BEFORE, by default f3693a9]
 *
 * Prints a line for each credit method and each update, and fails where anything differs.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;
const top = resolve(here, '../..');
const [commit = 'f3693a9'] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'before-after-'));
const tree = join(work, 'before');
const run = (command, args, cwd = top) =>
  execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 30,
  });
const node = (...args) => run(process.execPath, args);

run('git', ['worktree', 'add', '--quiet', '--detach', tree, commit]);
try {
  const sameLock =
    readFileSync(join(top, 'package-lock.json'), 'utf8') ===
    readFileSync(join(tree, 'package-lock.json'), 'utf8');
  if (sameLock) cpSync(join(top, 'node_modules'), join(tree, 'node_modules'), { recursive: true });
  else run('npm', ['ci'], tree);
  run('npm', ['run', 'build'], tree);

  const differing = [...compareCredit(), ...compareUpdates()];
  if (differing.length > 0) {
    console.log(`\ndiffers: ${differing.join(', ')}`);
    process.exitCode = 1;
  } else console.log('\nnothing differs');
} finally {
  run('git', ['worktree', 'remove', '--force', tree]);
}

function compareCredit() {
  const rollouts = join(work, 'rollouts.jsonl');
  node(join(here, 'credit-rollouts.mjs'), rollouts);
  const sides = [tree, top].map((side) => join(side, 'dist/src/cli/main.js'));
  const methods = readdirSync(join(tree, 'src/credit'))
    .filter((file) => file.endsWith('.ts') && !file.includes('.test'))
    .flatMap(
      (file) =>
        readFileSync(join(tree, 'src/credit', file), 'utf8').match(
          /creditMethod\(\s*\{\s*name: '([^']+)'/g,
        ) ?? [],
    )
    .map((text) => text.split("'")[1]);
  return methods.filter((method) => {
    const [before, after] = sides.map((main) =>
      node(main, 'credit', '--rollouts', rollouts, '--method', method, '--json'),
    );
    console.log(`credit ${method}: ${before === after ? 'equal' : 'DIFFERS'} (${before.length} characters)`);
    return before !== after;
  });
}

function compareUpdates() {
  const episodes = join(work, 'episodes.json');
  node(join(here, 'stored-episodes.mjs'), episodes);
  for (const [side, root] of [
    ['before', tree],
    ['after', top],
  ]) {
    process.stdout.write(node(join(here, 'updates.mjs'), side, root, episodes, join(work, side)));
  }
  const differing = [];
  for (const recipe of readdirSync(join(work, 'before'))) {
    const files = readdirSync(join(work, 'before', recipe), { recursive: true }).filter((file) =>
      file.endsWith('.safetensors'),
    );
    const unequal = files.filter((file) => {
      const other = join(work, 'after', recipe, file);
      return (
        !existsSync(other) || !readFileSync(join(work, 'before', recipe, file)).equals(readFileSync(other))
      );
    });
    console.log(`update ${recipe}: ${files.length - unequal.length} of ${files.length} files equal`);
    if (unequal.length > 0) differing.push(recipe);
  }
  return differing;
}
