/** One process that serves an environment over both protocols: ours, and OpenEnv's. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { WebSocketServer } from 'ws';
import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { World } from '../../env/world.ts';
import { givenKey, requireKeyBeyondLoopback } from '../guard/guard.ts';
import { requestCheck } from '../guard/request-check.ts';
import { sameSecret } from '../guard/secrets.ts';
import { defaultLimits, type SessionLimits } from './limits.ts';
import { openEnvRoutes } from './openenv-routes.ts';
import { serveOpenEnvSocket } from './openenv-socket.ts';
import { ownRoutes } from './own-routes.ts';
import { BODY_LIMIT, BODY_TYPES, guardRequests, type RequestOptions } from './requests.ts';
import { SessionTable } from './session-table.ts';

export interface EnvironmentServerOptions {
  readonly world: World;
  /** 0 takes a free one. */
  readonly port: number;
  /** Default: this machine only. */
  readonly host?: string;
  /** What clients must send; needed for a host that others can reach. Other people's trainers send none. */
  readonly key?: string;
  /** Names by which clients reach it, beside those of this machine. */
  readonly allowHosts?: readonly string[];
  readonly limits?: Partial<SessionLimits>;
  /** Training settings that are handed on to clients. */
  readonly settings?: JsonObject;
}

export interface EnvironmentServer {
  readonly host: string;
  readonly port: number;
  /** Open sessions, those being opened included. */
  openSessions(): number;
  /** Prometheus text. */
  metrics(): string;
  /** Refuse new sessions, end the open ones, then stop listening. */
  close(): Promise<void>;
}

/** @throws TurnwiseError `port-unavailable`, `serve-open` */
export async function serveEnvironment(options: EnvironmentServerOptions): Promise<EnvironmentServer> {
  const { world, port, host = '127.0.0.1', allowHosts = [], key, settings = {} } = options;
  requireKeyBeyondLoopback(host, key, 'Start it with --key, or listen on 127.0.0.1');
  const table = new SessionTable({ ...defaultLimits, ...options.limits });
  const app = new Hono<{ Bindings: HttpBindings }>();
  guardRequests(app, { allowHosts, key });
  app.route('/', openEnvRoutes(world, table, settings));
  app.route('/', ownRoutes(world, table, settings));
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  const sockets = acceptSockets(server, world, table, { allowHosts, key });
  try {
    await listen(server, port, host);
  } catch (error) {
    await table.shutDown();
    throw error;
  }
  return {
    host,
    port: (server.address() as AddressInfo).port,
    openSessions: () => table.size,
    metrics: () => table.metrics(world.name),
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
      await table.shutDown();
      for (const socket of sockets.clients) socket.close(1001);
      server.closeIdleConnections();
      const patience = setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
        server.closeAllConnections();
      }, 1000);
      await stopped;
      clearTimeout(patience);
    },
  };
}

function acceptSockets(
  server: Server,
  world: World,
  table: SessionTable,
  { allowHosts, key }: RequestOptions,
): WebSocketServer {
  const check = requestCheck({ allowHosts, bodyTypes: BODY_TYPES });
  const sockets = new WebSocketServer({ noServer: true, maxPayload: BODY_LIMIT, clientTracking: true });
  server.on('upgrade', (request, stream: Duplex, head) => {
    stream.on('error', () => stream.destroy());
    const refuse = (status: string): void => {
      stream.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () =>
        stream.destroy(),
      );
    };
    const path = (request.url ?? '').split('?')[0];
    if (path !== '/ws') return refuse('404 Not Found');
    if (check(request) !== undefined) return refuse('403 Forbidden');
    if (key !== undefined && !sameSecret(givenKey(request.headers), key)) return refuse('401 Unauthorized');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      if (sockets.clients.size <= table.limits.maxSessions) return serveOpenEnvSocket(socket, world, table);
      table.figures.refused++;
      const data = {
        message: `The server has no room for another session: ${table.limits.maxSessions} sockets are open`,
        code: 'CAPACITY_REACHED',
        active_sessions: table.size,
        max_sessions: table.limits.maxSessions,
      };
      socket.on('error', () => {});
      socket.send(JSON.stringify({ type: 'error', data }));
      socket.close(1013);
    });
  });
  return sockets;
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        new TurnwiseError('port-unavailable', {
          what: `The server cannot listen on ${host}:${port}`,
          seen: cause.code ?? cause.message,
          next: 'Choose another --port or --host.',
          fields: { port, host },
          cause,
        }),
      );
    });
    server.listen(port, host, resolve);
  });
}
