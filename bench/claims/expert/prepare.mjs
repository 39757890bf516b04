/**
 * Makes what the claims `eto` and `matchtir` imitate in their rivals: 600 episodes of the scripted expert in each world, in
 * runs/claim-expert. Demonstrations of a run would not do, since a beginner and chance have a share in them. The seed is none of
 * the claims'.
 *
 *   npm run build && node bench/claims/expert/prepare.mjs
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const folder = 'runs/claim-expert';

mkdirSync(folder, { recursive: true });
for (const world of ['wordle', 'js-tasks']) {
  const file = `${folder}/${world}.jsonl`;
  if (existsSync(file)) continue;
  const words = ['data', 'play', world, '--players', 'expert', '--episodes', '600', '--seed', '8002'];
  execFileSync(process.execPath, [main, ...words, '--out', file], { stdio: 'inherit' });
}
