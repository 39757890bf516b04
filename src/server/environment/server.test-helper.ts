/** A small world, a server for it, and clients that say what they are told to: for tests of environment servers. */

import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Json } from '../../core/json/json.ts';
import { user } from '../../core/messages.ts';
import { defineEnvironment } from '../../env/environment.ts';
import { fromEnvironment } from '../../env/from-environment.ts';
import type { Session } from '../../env/session.ts';
import type { StepAnswer } from '../../env/wire.ts';
import type { World } from '../../env/world.ts';
import { type EnvironmentServer, type EnvironmentServerOptions, serveEnvironment } from './serve.ts';

/** Counts up to three; `fail` raises; every step draws from chance. */
export const counter: World = fromEnvironment(
  defineEnvironment<Json, { at: number }>({
    name: 'counter',
    description: 'say up three times',
    maxTurns: 10,
    tasks: () => ({ size: 5, at: (index) => index }),
    start: () => ({ state: { at: 0 }, messages: [user('at 0')] }),
    step: ({ at }, action, rng) => {
      if (action === 'fail') throw new Error('asked to fail');
      const next = action === 'up' ? at + 1 : at;
      const done = next === 3;
      const observation = `at ${next} ${rng.int(100)}`;
      return {
        state: { at: next },
        observation,
        reward: done ? 1 : 0,
        done,
        success: done,
        valid: action === 'up',
      };
    },
    actions: () => ['up'],
    solve: () => 'up',
  }),
);

const servers: EnvironmentServer[] = [];
/** For `afterEach`. */
export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

export async function serve(
  options: Partial<EnvironmentServerOptions> = {},
): Promise<EnvironmentServer & { readonly url: string }> {
  const server = await serveEnvironment({ world: counter, port: 0, ...options });
  servers.push(server);
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

/** Any answer: fields that it lacks are undefined. */
export interface Reply {
  readonly status: number;
  readonly body: StepAnswer & {
    readonly session: string;
    readonly snapshot: string;
    readonly cost: string;
    readonly leaseMs: number;
    readonly error?: { readonly code: string; readonly message: string };
  };
}

export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

export const codeOf = ({ status, body }: Reply): string => `${status} ${body.error?.code ?? 'ok'}`;
export const open = async (url: string, more: object = {}): Promise<string> =>
  (await post(`${url}/v1/sessions`, { index: 0, seed: 1, ...more })).body.session;

/** A world whose steps never end, and which tells when it is stopped and closed. */
export function hanging(told: string[]): World {
  return {
    ...counter,
    open: async (task, rng, startRng) => {
      const session = await counter.open(task, rng, startRng);
      const hung: Session = {
        roles: session.roles,
        toMove: () => 'agent',
        observe: () => [],
        anchor: () => '',
        step: (_action, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => told.push('stopped'));
          }),
        close: async () => {
          told.push('closed');
        },
      };
      return hung;
    },
  };
}

/** `counter` with snapshots that hold a process, and tell when they are given back. */
export function costly(given: string[]): World {
  return {
    ...counter,
    snapshots: 'process',
    open: async (...how) => {
      const session = await counter.open(...how);
      const snapshot = session.snapshot!.bind(session);
      session.snapshot = async () => ({
        ...(await snapshot()),
        cost: 'process',
        dispose: async () => void given.push('given back'),
      });
      return session;
    },
  };
}

export type Ask = ((message: unknown) => Promise<unknown>) & { close(): Promise<void> };

export async function socketTo(url: string): Promise<Ask> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
  const inbox: unknown[] = [];
  let take: ((message: unknown) => void) | undefined;
  socket.on('message', (raw) => {
    const message: unknown = JSON.parse(raw.toString());
    if (take) take(message);
    else inbox.push(message);
    take = undefined;
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const ask = (message: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      if (inbox.length > 0) return resolve(inbox.shift());
      take = resolve;
      socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    });
  const close = async (): Promise<void> => {
    if (socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.close();
    await closed;
  };
  return Object.assign(ask, { close });
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 3000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('waited for 3 s');
    await sleep(5);
  }
}
