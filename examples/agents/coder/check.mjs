/** Says what an episode of `coder.mjs` was worth: the share of cases in which the function that it wrote is right. */

import { existsSync, readFileSync } from 'node:fs';

const { cases } = JSON.parse(readFileSync(process.env.TURNWISE_TASK_FILE, 'utf8'));

async function share() {
  if (!existsSync('f.mjs')) return 0;
  try {
    const { f } = await import(`file://${process.cwd()}/f.mjs`);
    return cases.filter(([a, b, wanted]) => f(a, b) === wanted).length / cases.length;
  } catch {
    return 0;
  }
}

const right = await share();
console.log(JSON.stringify({ reward: right, success: right === 1 }));
