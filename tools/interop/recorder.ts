/**
 * Stands between a client and a server, passes everything on, and keeps it (of WebSockets the first): how tests/exchanges were
 * recorded.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import type { Exchange } from '../../tests/exchange.ts';

export interface Recorder {
  readonly port: number;
  /** Write what was said so far, in order. */
  save(path: string, about: string): void;
  close(): void;
}

export async function recordTo(target: number): Promise<Recorder> {
  const exchanges: Exchange[] = [];
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const { method = '', url: path = '', headers } = request;
    const answer = await fetch(`http://127.0.0.1:${target}${path}`, {
      method,
      headers: {
        ...(headers['content-type'] === undefined ? {} : { 'content-type': headers['content-type'] }),
        ...(headers.cookie === undefined ? {} : { cookie: headers.cookie }),
      },
      ...(text === '' ? {} : { body: text }),
    });
    const said = await answer.text();
    const cookies = answer.headers.getSetCookie();
    const type = answer.headers.get('content-type') ?? 'application/json';
    exchanges.push({
      method,
      path,
      ...(headers.cookie === undefined ? {} : { cookie: headers.cookie }),
      ...(text === '' ? {} : { body: JSON.parse(text) as unknown }),
      status: answer.status,
      ...(cookies.length === 0 ? {} : { setCookies: cookies }),
      answer: said,
    });
    response.writeHead(answer.status, {
      'content-type': type,
      ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    });
    response.end(said);
  });
  const sockets = new WebSocketServer({ server });
  let connections = 0;
  sockets.on('connection', (near, request) => {
    const far = new WebSocket(`ws://127.0.0.1:${target}${request.url ?? ''}`);
    const opened = once(far, 'open');
    // Of several the order would be one of many.
    const kept = connections++ === 0;
    near.on('message', async (raw) => {
      await opened;
      if (kept) exchanges.push({ sent: JSON.parse(raw.toString()) as unknown });
      far.send(raw.toString());
    });
    far.on('message', (raw) => {
      if (kept) exchanges.push({ received: JSON.parse(raw.toString()) as unknown });
      near.send(raw.toString());
    });
    near.on('close', () => far.close());
    far.on('close', () => near.close());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    save: (path, about) => {
      const lines = [{ about }, ...exchanges].map((line) => JSON.stringify(line));
      writeFileSync(path, `${lines.join('\n')}\n`);
    },
    close: () => {
      sockets.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}
