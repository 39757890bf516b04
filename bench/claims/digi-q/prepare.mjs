/**
 * Makes what the claim `digi-q` learns from: 1,200 recorded games of wordle by players of different quality, in
 * runs/claim-digi-q. The seed is none of the claim's.
 *
 *   npm run build && node bench/claims/digi-q/prepare.mjs
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const folder = 'runs/claim-digi-q';

if (!existsSync(`${folder}/recorded.jsonl`)) {
  mkdirSync(folder, { recursive: true });
  const words = ['data', 'play', 'wordle', '--episodes', '1200', '--seed', '8001'];
  execFileSync(process.execPath, [main, ...words, '--out', `${folder}/recorded.jsonl`], { stdio: 'inherit' });
}
