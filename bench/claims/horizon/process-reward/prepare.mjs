/**
 * Makes what the claim `process-reward` starts from, in runs/claim-process-reward: a reward model that learned from pairs of early
 * episodes in houses of text-nav, and of how these begin. Seeds are none of the claim's.
 *
 *   npm run build && node bench/claims/horizon/process-reward/prepare.mjs
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../../dist/src/cli/main.js', import.meta.url));
const runs = 'runs/claim-process-reward';
const turnwise = (...words) =>
  execFileSync(process.execPath, [main, ...words, '--runs', runs], { stdio: 'inherit' });

const settings = {
  ...{ seed: 8102, steps: 8, threads: 1, 'rollout.tasks': 16, 'evaluation.every': 0, 'clone.steps': 400 },
  ...{ 'model.width': 64, 'model.layers': 2, 'model.hidden': 172 },
  ...{ 'environment.observed': 'partially', 'environment.heldOutStarts': 3, rolloutLog: 1 },
};
if (!existsSync(`${runs}/source`))
  turnwise(
    ...['train', 'text-nav', '--name', 'source'],
    ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  );
if (!existsSync(`${runs}/judge`)) {
  turnwise('data', 'convert', 'source', '--beginnings', '--out', `${runs}/pairs.jsonl`, '--force');
  turnwise(
    ...['reward-model', `${runs}/pairs.jsonl`, '--model', 'source', '--out', `${runs}/judge`],
    ...['--epochs', '3', '--threads', '1'],
  );
}
