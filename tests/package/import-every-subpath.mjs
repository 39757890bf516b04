// Run in an empty project into which the packed package was installed: every subpath must load, and a small run must work.
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('node_modules/turnwise/package.json', 'utf8'));
for (const subpath of Object.keys(manifest.exports)) {
  if (subpath.endsWith('.json')) continue;
  const loaded = await import(subpath.replace('.', 'turnwise'));
  const names = Object.keys(loaded);
  if (names.length === 0) throw new Error(`${subpath} exports nothing`);
  console.log(`${subpath}: ${names.length} exports`);
}

const { train } = await import('turnwise');
const summary = await train({
  world: 'frozen-lake',
  settings: { steps: 2, clone: { demonstrations: 50, steps: 3 }, evaluation: { every: 0, finalTasks: 20 } },
});
console.log(`a run of ${summary.steps} steps, ${summary.episodes} episodes`);
