/**
 * Makes what the claim `reward-model` starts from, in runs/claim-reward-model: pairs of early episodes of a run on frozen-lake,
 * which the policy that is paid by the model leaves, and a reward model that learned from them. Seeds are none of the claim's.
 *
 *   npm run build && node bench/claims/reward-model/prepare.mjs
 */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));
const runs = 'runs/claim-reward-model';
const turnwise = (...words) =>
  execFileSync(process.execPath, [main, ...words, '--runs', runs], { stdio: 'inherit' });

const settings = { seed: 8101, steps: 10, threads: 1, 'rollout.tasks': 16, 'evaluation.every': 0 };
if (!existsSync(`${runs}/source`))
  turnwise(
    ...['train', 'frozen-lake', '--name', 'source'],
    ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
  );
if (!existsSync(`${runs}/judge`)) {
  turnwise('data', 'convert', 'source', '--pairs', '--out', `${runs}/pairs.jsonl`, '--force');
  turnwise(
    ...['reward-model', `${runs}/pairs.jsonl`, '--model', 'source', '--out', `${runs}/judge`],
    ...['--epochs', '4', '--threads', '1'],
  );
}
