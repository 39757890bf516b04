/** A call of a sandbox by itself, and beside 20 others that loop until their limit of 200 ms; and whether a call costs more after many. */

import { createSandbox, type Sandbox } from '../src/env/sandbox/sandbox.ts';
import { median } from './engine/sampling.ts';

const limits = { timeLimitMs: 1000, memoryLimitBytes: 16 * 2 ** 20, outputLimit: 10_000 };
const LOOPS = 20;
const LOOP_MS = 200;
const CALLS = 21;
const HISTORY = 400;
/** Calls after which the interpreter is as fast as it gets. */
const WARM = 200;

export async function benchSandbox(): Promise<object> {
  const innocent = createSandbox(limits);
  await evaluate(innocent, 'let n = 0');
  for (let call = 0; call < WARM; call++) await evaluate(innocent, 'n++');
  const alone = await medianMs(innocent);
  let over = 0;
  const loops = Array.from({ length: LOOPS }, async () => {
    await evaluate(createSandbox({ ...limits, timeLimitMs: LOOP_MS }), 'for (;;);');
    over++;
  });
  const beside: number[] = [];
  while (beside.length < CALLS && over < LOOPS) beside.push(await callMs(innocent));
  await Promise.all(loops);
  const besideMs = median(beside);
  for (let call = 0; call < HISTORY; call++) await evaluate(innocent, 'n++');
  const later = await medianMs(innocent);
  return {
    aloneMs: round(alone),
    besideLoopsMs: round(besideMs),
    besideLoopsCalls: beside.length,
    ratio: round(besideMs / alone),
    [`after${HISTORY}CallsMs`]: round(later),
    ratioAfterCalls: round(later / alone),
  };
}

async function medianMs(sandbox: Sandbox): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) times.push(await callMs(sandbox));
  return median(times);
}

async function callMs(sandbox: Sandbox): Promise<number> {
  const started = performance.now();
  await evaluate(sandbox, 'n++');
  return performance.now() - started;
}

async function evaluate(sandbox: Sandbox, code: string): Promise<void> {
  await sandbox.evaluate(code, new AbortController().signal);
}

const round = (figure: number): number => Math.round(100 * figure) / 100;
