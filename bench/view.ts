/**
 * What looking costs: bytes of the page, the time to the first curve of a very long run and from an event to the screen, and
 * what an open page takes from a training.
 */

import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { Episode, Group } from '../src/core/episode.ts';
import { Rng } from '../src/core/rng.ts';
import { RunDirectory } from '../src/store/run-directory.ts';
import { listenView, type ViewServer } from '../src/view/server/listen.ts';
import { openBrowser } from '../tools/browser.ts';
import { type CostOptions, openPageCost } from './view-cost.ts';

const STEPS = 10_000;
const METRICS = 60;
const GROUPS = 2;
const MEMBERS = 5;
const OPENINGS = 5;
const EVENTS = 20;
const version = '0.1.0';

/** @param options how many trainings are compared, and how long they are */
export async function benchView(options: CostOptions = {}): Promise<object> {
  const root = mkdtempSync(join(tmpdir(), 'turnwise-bench-'));
  const browser = await openBrowser();
  try {
    const name = 'long';
    await makeLongRun(root, name);
    const firstCurveMs: number[] = [];
    for (let opening = 0; opening < OPENINGS; opening++) {
      // Another server and another browser context: nothing is remembered.
      const server = await listenView({ root, version }, 0);
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      firstCurveMs.push(await firstCurve(await context.newPage(), server, name));
      await context.close();
      await server.close();
    }
    const server = await listenView({ root, version }, 0);
    const page = await browser.newPage();
    await firstCurve(page, server, name);
    const latencies = await eventLatencies(page, join(root, name, 'events.jsonl'));
    await server.close();
    const sizeOf = (file: string): number => statSync(join(root, name, file)).size;
    return {
      bundleGzipBytes: bundleBytes(),
      run: {
        steps: STEPS,
        episodes: STEPS * GROUPS * MEMBERS,
        eventBytes: sizeOf('events.jsonl'),
        metricBytes: sizeOf('metrics.bin'),
        indexBytes: sizeOf('rollouts/index.bin'),
      },
      firstCurveMs: median(firstCurveMs),
      slowestFirstCurveMs: Math.max(...firstCurveMs),
      eventToScreenMs: median(latencies),
      eventToScreenMs95: latencies.sort((a, b) => a - b)[Math.ceil(0.95 * EVENTS) - 1],
      openPage: await openPageCost(browser, root, options),
    };
  } finally {
    await browser.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** Script and style sheet as a network would send them. */
function bundleBytes(): number {
  const folder = new URL('../src/view/page/', import.meta.url);
  return ['main.js', 'main.css'].reduce(
    (sum, name) => sum + gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length,
    0,
  );
}

async function firstCurve(page: Page, server: ViewServer, name: string): Promise<number> {
  const from = performance.now();
  await page.goto(server.address(`/runs/${name}`));
  await page.locator('.success canvas').waitFor();
  await page.locator('.small-chart canvas').nth(8).waitFor();
  return performance.now() - from;
}

async function eventLatencies(page: Page, path: string): Promise<number[]> {
  const latencies: number[] = [];
  // The first event ends what may be an unfinished line.
  for (let event = 0; event <= EVENTS; event++) {
    const shown = page.evaluate(whenShown(`${event + 1} warning`)) as Promise<number>;
    await new Promise((resolve) => setTimeout(resolve, 300 + 37 * event));
    const from = Date.now();
    const time = new Date().toISOString();
    appendFileSync(path, `${JSON.stringify({ type: 'warning', code: 'bench', message: 'now', time })}\n`);
    const at = await shown;
    if (event > 0) latencies.push(at - from);
  }
  return latencies;
}

/** A script for the page: the time at which its figures say that. */
function whenShown(text: string): string {
  return `new Promise((resolve) => {
    const figures = document.querySelector('.figures');
    const look = () => figures.textContent.includes('${text}') && resolve(Date.now());
    new MutationObserver(look).observe(figures, { subtree: true, childList: true, characterData: true });
    look();
  })`;
}

/** A run of many steps, each with its metrics, its episodes and its place in the index. */
export async function makeLongRun(root: string, name: string): Promise<void> {
  const rng = Rng.of('bench', 'view');
  const run = RunDirectory.create({
    root,
    name,
    version,
    world: { name: 'frozen-lake', source: 'frozen-lake' },
    recipe: 'rloo',
    config: { seed: 1, steps: STEPS },
  });
  const began = Date.now() - STEPS * 2000;
  const lines: object[] = [
    {
      type: 'start',
      run: name,
      environment: 'frozen-lake',
      recipe: 'rloo',
      seed: 1,
      parameters: 600_000,
      vocabulary: 38,
      identity: 'bench',
      version,
      generation: 1,
      time: new Date(began).toISOString(),
    },
  ];
  for (let step = 1; step <= STEPS; step++) {
    const time = new Date(began + step * 2000).toISOString();
    const episodes = step * GROUPS * MEMBERS;
    const spent = { episodes, turns: 6 * episodes, tokens: 90 * episodes, seconds: 2 * step };
    lines.push({ type: 'step', step, steps: STEPS, metrics: metricsAt(step, rng), spent, time });
    if (step % 100 === 0)
      lines.push({ type: 'evaluation', step, label: 'during', ...evaluated(step), spent, time });
  }
  writeFileSync(join(run.path, 'events.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const writer = run.storeRollouts({
    world: { source: 'bench', options: {}, version: null },
    tokenizer: null,
  });
  for (let step = 1; step <= STEPS; step++) {
    await writer.write(
      step,
      Array.from({ length: GROUPS }, (_, group) => groupOf(step, group)),
    );
  }
  await run.close();
  run.reindex();
}

const drawn = [
  'reward/success',
  'reward/mean',
  'policy/kl',
  'policy/entropy',
  'policy/clip_fraction',
  'optim/gradient_norm',
  'groups/constant_share',
  'turns/mean',
  'turns/invalid_share',
  'time/step_s',
  'time/rollout_s',
];

function metricsAt(step: number, rng: Rng): Record<string, number> {
  const names = [
    ...drawn,
    ...Array.from({ length: METRICS - drawn.length }, (_, index) => `bench/metric_${index}`),
  ];
  return Object.fromEntries(names.map((name) => [name, 1 - 1 / (1 + step / 2000) + 0.1 * rng.next()]));
}

function evaluated(step: number): object {
  const success = 1 - 1 / (1 + step / 1000);
  const result = {
    episodes: 200,
    success,
    successInterval: [success - 0.03, success + 0.03],
    return: success,
    returnInterval: [success - 0.03, success + 0.03],
    turns: 6,
    stops: { done: 200 },
  };
  return { sampled: result, greedy: result };
}

function groupOf(step: number, group: number): Group {
  return {
    step,
    group,
    members: Array.from({ length: MEMBERS }, (_, member) => episodeOf(step, group, member)),
  };
}

function episodeOf(step: number, group: number, member: number): Episode {
  return {
    key: { step, environment: 'frozen-lake', split: 'train', task: group, group, member },
    task: group,
    calls: [
      {
        id: 0,
        conversation: 'agent',
        role: 'agent',
        by: { kind: 'policy', name: 'learner', version: step },
        purpose: 'act',
        sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 1 },
        context: Int32Array.of(1, 2, 3),
        ids: Int32Array.of(4),
        logprobs: Float32Array.of(-0.5),
        messages: [{ role: 'user', content: 'left:free right:hole' }],
        text: 'left',
        finish: 'stop',
        trainable: true,
        at: 0,
        waitMs: 1,
        policyMs: 2,
      },
    ],
    transitions: [
      {
        call: 0,
        role: 'agent',
        anchor: 'a',
        action: 'left',
        valid: true,
        rewards: { agent: member % 2 },
        at: 3,
        environmentMs: 1,
      },
    ],
    tools: {},
    seats: { agent: { player: 'learner', version: step } },
    outcome: { agent: member % 2 },
    success: { agent: member % 2 === 1 },
    stop: 'done',
    credit: {
      agent: {
        inBaseline: true,
        inLoss: true,
        weight: 1,
        trainedIn: step,
        advantages_K: [(member % 2) - 0.4],
      },
    },
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
