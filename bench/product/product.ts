/** Many random configurations, one after another; how each went is a line of `bench/product/walked.jsonl`. */

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drawn, walk } from './walk.ts';

const LIST = 'bench/product/walked.jsonl';

/** @param parts how many (default 1,000), from which number on (default 0), and a seed (default 1) */
export async function benchProduct([
  count = '1000',
  from = '0',
  seed = '1',
]: readonly string[]): Promise<object> {
  const runs = mkdtempSync(join(tmpdir(), 'turnwise-product-'));
  const [first, last] = [Number(from), Number(from) + Number(count)];
  if (first === 0) writeFileSync(LIST, '');
  const figures = { ran: 0, refused: 0, failed: 0, seconds: 0 };
  try {
    for (let index = first; index < last; index++) {
      const configuration = drawn(seed, index);
      const began = performance.now();
      const outcome = await walk(configuration, runs, `walk-${index}`).catch((error: unknown) => ({
        ran: false as const,
        failed: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }));
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      figures.seconds += seconds;
      if (outcome.ran) figures.ran++;
      else if ('failed' in outcome) figures.failed++;
      else figures.refused++;
      if (outcome.ran) rmSync(outcome.folder, { recursive: true, force: true });
      const result = outcome.ran
        ? { episodes: outcome.episodes }
        : 'failed' in outcome
          ? { failed: outcome.failed }
          : { refused: outcome.code, why: outcome.why };
      appendFileSync(LIST, `${JSON.stringify({ index, ...configuration, ...result, seconds })}\n`);
      process.stderr.write(`${index + 1 - first} of ${count}: ${JSON.stringify(figures)}\n`);
    }
  } finally {
    rmSync(runs, { recursive: true, force: true });
  }
  return figures;
}
