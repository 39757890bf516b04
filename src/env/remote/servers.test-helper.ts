/** Servers that say exactly what a test tells them to, and an episode driven against them as the rollout drives it. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Episode } from '../../core/episode.ts';
import { byPolicy, madeKey } from '../../core/testing/made-episodes.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { runEpisode } from '../../rollout/episode.ts';
import { unwatched } from '../../rollout/watch.ts';
import type { World } from '../world.ts';

const servers: Server[] = [];

/** For `afterEach`. */
export async function closeServers(): Promise<void> {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: IncomingMessage['headers'];
}

export type Reply = (request: Seen, response: ServerResponse) => void;

/** An HTTP server on a port of its own; `seen` is every request so far. */
export async function httpServer(
  reply: Reply,
): Promise<{ readonly url: string; readonly seen: Seen[]; readonly server: Server }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { method = '', url = '', headers } = request;
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    seen.push({ method, path: url, body, headers });
    reply(seen.at(-1)!, response);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

export function sendJson(response: ServerResponse, value: unknown, status = 200, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}

/** One episode of the first training task, with these words as completions. */
export async function play(
  world: World,
  words: readonly string[],
  task: unknown = undefined,
): Promise<Episode> {
  let turn = 0;
  return runEpisode(
    { key: madeKey(), task: (task ?? world.tasks('train').at(0)) as never },
    {
      world,
      policy: {
        author: byPolicy(),
        complete: async () => {
          const text = words[turn++ % words.length]!;
          return {
            ids: Int32Array.of(1),
            logprobs: Float32Array.of(0),
            text,
            finish: 'stop',
            by: byPolicy(),
            trainable: true,
          };
        },
      },
      renderer: {
        stopIds: [],
        maxTurnTokens: 8,
        pieces: () => ['the same token before every turn'],
        ids: () => [1],
        completionIds: () => [1],
        text: () => '',
        answer: (text) => text,
        read: (text) => ({ content: text, toolCalls: [] }),
      },
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: world.maxTurns,
      contextLength: 1000,
      turnTimeoutMs: 5000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}
