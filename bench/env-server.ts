/** 1,000 sessions on one server process: how long a step takes, and what is left when a tenth of the clients vanish. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Rng } from '../src/core/rng.ts';
import { connectOpenEnv } from '../src/env/remote/openenv.ts';
import { connectTurnwise } from '../src/env/remote/turnwise.ts';
import type { Session } from '../src/env/session.ts';
import type { World } from '../src/env/world.ts';

const SESSIONS = 1000;
const VANISHING = 100;
const LEASE_SECONDS = 30;
/** Steps a second, all sessions together: each acts every two seconds. */
const PACE = 500;
const ROUNDS = 5;

interface Latency {
  readonly medianMs: number;
  readonly p99Ms: number;
}

interface ProtocolFigures {
  /** One step at a time, while all sessions are open. */
  readonly oneAtATime: Latency;
  /** Steps that arrive evenly, 500 a second, over all sessions. */
  readonly paced: Latency;
  /** All sessions step at once: each waits for the others. */
  readonly allAtOnce: Latency & { readonly msPerStep: number; readonly stepsPerSecond: number };
}

interface Addresses {
  readonly turnwise: string;
  readonly openenv: string;
  readonly metrics: string;
}

const { signal } = new AbortController();
// Every step under way listens.
setMaxListeners(0, signal);

export async function benchEnvironmentServer(): Promise<object> {
  const { addresses, child } = await startServer();
  try {
    const factory = await connectTurnwise('bench', addresses.turnwise.slice('turnwise:'.length));
    const own = factory.create({ timeoutMs: 60_000 });
    const sessions = await openAll(own);
    const http = await measure(sessions);
    const vanished = await vanish(own, sessions, addresses.metrics);
    await Promise.all(sessions.map((session) => session.close()));
    const sockets = await connectOpenEnv('bench', addresses.openenv.slice('openenv:'.length));
    const remote = sockets.create(sockets.options.parse({ timeoutMs: 60_000 }));
    const live = await openAll(remote);
    const openenv = await measure(live);
    await Promise.all(live.map((session) => session.close()));
    await sleep(500);
    const inServer = serverMedianMs(await text(addresses.metrics));
    return {
      sessions: SESSIONS,
      http,
      openenv,
      medianInTheEnvironmentAtMostMs: inServer,
      vanished,
      openAfterwards: gauge(await text(addresses.metrics), 'sessions_open'),
    };
  } finally {
    child.kill('SIGINT');
  }
}

async function startServer(): Promise<{ addresses: Addresses; child: ChildProcess }> {
  const main = join(import.meta.dirname, '..', 'src', 'cli', 'main.js');
  const limits = [
    ...['--sessions', String(SESSIONS + VANISHING), '--lease', String(LEASE_SECONDS)],
    ...['--set', 'maxTurns=1000'],
  ];
  const child = spawn(process.execPath, [main, 'env', 'serve', 'maze', '--port', '0', '--json', ...limits], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return { addresses: JSON.parse(line.toString()) as Addresses, child };
}

async function openAll(world: World): Promise<Session[]> {
  const task = world.tasks('train').at(0);
  const sessions: Session[] = [];
  for (let first = 0; first < SESSIONS; first += 50) {
    const opening = Array.from({ length: 50 }, (_, index) =>
      world.open(task, Rng.of('bench', first + index)),
    );
    sessions.push(...(await Promise.all(opening)));
  }
  return sessions;
}

/** A step into a wall: the maze goes on. */
async function stepMs(session: Session): Promise<number> {
  const started = performance.now();
  await session.step('up', signal);
  return performance.now() - started;
}

async function measure(sessions: readonly Session[]): Promise<ProtocolFigures> {
  for (const session of sessions.slice(0, 200)) await stepMs(session);
  const alone: number[] = [];
  for (const session of sessions) alone.push(await stepMs(session));

  const pending: Promise<number>[] = [];
  const begun = performance.now();
  for (const [index, session] of sessions.entries()) {
    const due = begun + (1000 * index) / PACE;
    if (performance.now() < due) await sleep(due - performance.now());
    pending.push(stepMs(session));
  }
  const paced = await Promise.all(pending);

  const together: number[] = [];
  const started = performance.now();
  for (let round = 0; round < ROUNDS; round++) together.push(...(await Promise.all(sessions.map(stepMs))));
  const msPerStep = (performance.now() - started) / together.length;
  return {
    oneAtATime: latency(alone),
    paced: latency(paced),
    allAtOnce: {
      ...latency(together),
      msPerStep: round2(msPerStep),
      stepsPerSecond: Math.round(1000 / msPerStep),
    },
  };
}

/** A tenth of the clients say nothing more; the others go on, each step answered, and their places come back. */
async function vanish(world: World, sessions: Session[], metrics: string): Promise<object> {
  sessions.splice(0, VANISHING);
  const begun = performance.now();
  let answered = 0;
  let lost = 0;
  let freedAfterSeconds: number | undefined;
  while (performance.now() - begun < 1000 * (LEASE_SECONDS + 5)) {
    const results = await Promise.allSettled(sessions.map(stepMs));
    answered += results.filter(({ status }) => status === 'fulfilled').length;
    lost += results.filter(({ status }) => status === 'rejected').length;
    const open = gauge(await text(metrics), 'sessions_open');
    if (open === SESSIONS - VANISHING) freedAfterSeconds ??= (performance.now() - begun) / 1000;
    await sleep(500);
  }
  const fresh = await Promise.all(
    Array.from({ length: VANISHING }, (_, index) => world.open(world.tasks('train').at(0), Rng.of(index))),
  );
  await Promise.all(fresh.map((session) => session.close()));
  return {
    clients: VANISHING,
    leaseSeconds: LEASE_SECONDS,
    reclaimed: gauge(await text(metrics), 'sessions_reclaimed_total'),
    freedAfterSeconds: freedAfterSeconds === undefined ? 'never' : round2(freedAfterSeconds),
    stepsOfTheOthersAnswered: answered,
    stepsOfTheOthersLost: lost,
    openedInTheirPlaces: fresh.length,
  };
}

async function text(url: string): Promise<string> {
  return (await fetch(url)).text();
}

function gauge(metrics: string, name: string): number {
  return Number(new RegExp(`^turnwise_env_${name}\\{.*\\} (.*)$`, 'm').exec(metrics)?.[1]);
}

/** Upper bound of the bucket that holds the median step of the environment itself. */
function serverMedianMs(metrics: string): number {
  const rows = [...metrics.matchAll(/le="([^"]+)"\} (\d+)$/gm)];
  const half = Number(rows.at(-1)![2]) / 2;
  return 1000 * Number(rows.find(([, , below]) => Number(below) >= half)![1]);
}

function latency(milliseconds: readonly number[]): Latency {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (share: number): number => round2(sorted[Math.floor(share * (sorted.length - 1))]!);
  return { medianMs: at(0.5), p99Ms: at(0.99) };
}

function round2(figure: number): number {
  return Math.round(100 * figure) / 100;
}
