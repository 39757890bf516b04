/**
 * Makes what the claim `distillation` starts from, in runs/claim-distillation: a teacher on frozen-lake, episodes that it plays
 * itself, and its likeliest tokens for these. Seeds are none of the claim's.
 *
 *   npm run build && node bench/claims/distillation/prepare.mjs
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const runs = 'runs/claim-distillation';
const turnwise = (...words) =>
  execFileSync(process.execPath, [main, ...words, '--runs', runs], { stdio: 'inherit' });
const train = (name, settings) =>
  turnwise(
    ...['train', 'frozen-lake', '--name', name],
    ...Object.entries({
      ...settings,
      seed: 8001,
      threads: 1,
      'rollout.tasks': 16,
      'evaluation.every': 0,
    }).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  );

if (!existsSync(`${runs}/teacher`)) train('teacher', { steps: 60 });
if (!existsSync(`${runs}/scored.jsonl`)) {
  // A run that begins with the teacher's last weights and hardly moves plays as the teacher does.
  train('plays', { start: 'teacher@last', steps: 4, 'optimizer.learningRate': 1e-9 });
  turnwise('data', 'convert', 'plays', '--out', `${runs}/rows.jsonl`, '--force');
  turnwise('data', 'score', `${runs}/rows.jsonl`, '--teacher', 'teacher', '--out', `${runs}/scored.jsonl`);
}
