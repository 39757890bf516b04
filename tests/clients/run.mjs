/** `npm run test:clients`: installs the clients that this Node gets, by the lock of its major, and runs the matrix with them. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const major = process.versions.node.split('.')[0];
const lock = here(`locks/node${major}.json`);
if (!existsSync(lock)) {
  console.error(`There is no lock for Node ${major}. Run it with Node 20 or 22.`);
  process.exit(1);
}

/** Of the lock that is installed. */
const mark = here('node_modules/.lock');
if (!existsSync(mark) || readFileSync(mark, 'utf8') !== readFileSync(lock, 'utf8')) {
  copyFileSync(lock, here('package-lock.json'));
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], here('.'));
  writeFileSync(mark, readFileSync(lock));
}
run('npx', ['vitest', 'run', '--config', here('vitest.config.ts')], here('../..'));

function run(command, given, cwd) {
  const { status } = spawnSync(command, given, { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
