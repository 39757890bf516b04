/**
 * What an open page takes from a training: trainings alone and with a page that follows them, in pairs that take turns in
 * going first. The viewer is a process of its own, as `train --view` starts it.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { ServerCost, TrainingCost } from './view-cost-child.ts';

export interface CostOptions {
  /** Default: 10. None where it is 0. */
  readonly pairs?: number;
  /** Of each training; default: 20. */
  readonly steps?: number;
}

const usualPairs = 10;
const usualSteps = 20;
/** As the viewer beside a run has it. */
const niceness = 5;
const pollMs = 50;

interface Pair {
  readonly alone: TrainingCost;
  readonly watched: TrainingCost;
  readonly server: ServerCost;
}

export async function openPageCost(
  browser: Browser,
  root: string,
  { pairs = usualPairs, steps = usualSteps }: CostOptions,
): Promise<object> {
  const measured: Pair[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const alone = () => trained(root, `alone-${pair}`, steps);
    const watched = () => watchedTraining(browser, root, `watched-${pair}`, steps);
    if (pair % 2 === 0) {
      const first = await alone();
      measured.push({ alone: first, ...(await watched()) });
    } else {
      const first = await watched();
      measured.push({ alone: await alone(), ...first });
    }
  }
  if (measured.length === 0) return { pairs };
  const longer = measured.map((one) => one.watched.seconds / one.alone.seconds - 1);
  const shares = measured.map(({ server, watched }) => server.cpuSeconds / watched.cpuSeconds);
  const rounded = (values: readonly number[]): string => values.map((value) => value.toFixed(4)).join(' ');
  return {
    pairs,
    steps,
    secondsAlone: median(measured.map(({ alone }) => alone.seconds)),
    trainingLonger: median(longer),
    serverShareOfCpu: median(shares),
    eachLonger: rounded(longer),
    eachServerShare: rounded(shares),
  };
}

function child(job: string): ChildProcess {
  const file = fileURLToPath(new URL('./view-cost-child.js', import.meta.url));
  return fork(file, [job], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function answer<T>(worker: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message) => resolve(message as T));
    worker.once('exit', (code) => reject(new Error(`A process of the benchmark ended with ${code}`)));
  });
}

async function trained(root: string, name: string, steps: number): Promise<TrainingCost> {
  const worker = child('train');
  worker.send({ root, name, steps });
  return answer<TrainingCost>(worker);
}

async function watchedTraining(
  browser: Browser,
  root: string,
  name: string,
  steps: number,
): Promise<Omit<Pair, 'alone'>> {
  const server = child('serve');
  if (server.pid !== undefined) setPriority(server.pid, niceness);
  server.send({ root });
  const { address } = await answer<{ readonly address: string }>(server);
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    await page.goto(address);
    const training = trained(root, name, steps);
    while (!existsSync(join(root, name, 'events.jsonl'))) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    const { origin, hash } = new URL(address);
    await page.goto(`${origin}/runs/${name}${hash}`);
    const watched = await training;
    // It was a page that showed something.
    await page.locator(`text=${steps} of ${steps} steps`).waitFor();
    server.send({});
    return { watched, server: await answer<ServerCost>(server) };
  } finally {
    await context.close();
    server.kill();
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
