/** Serves the demo on this machine, with the headers that a host of it should send. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** The page draws, and starts its worker. It evaluates nothing. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types turnwise',
].join('; ');

/** The worker compiles the runtime, and loads the visitor's code, which is a blob; neither may ask another host. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval' blob:",
  "worker-src 'self'",
  "connect-src 'self'",
].join('; ');

/** @param path of the file that is answered with */
export function demoHeaders(path) {
  // The threads of the runtime are workers of their own.
  const isWorker = path === '/worker.js' || path.startsWith('/ort/');
  return {
    'content-security-policy': isWorker ? workerPolicy : `${pagePolicy}; frame-ancestors 'none'`,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

/** @param isolated whether the headers are sent that threads need */
export async function serveDemo(folder, port = 0, { isolated = true } = {}) {
  const server = createServer(({ url = '/' }, response) => {
    const asked = normalize(new URL(url, 'http://demo').pathname);
    const path = asked === '/' ? '/index.html' : asked;
    let bytes;
    try {
      bytes = readFileSync(join(folder, path));
    } catch {
      response.writeHead(404).end();
      return;
    }
    const headers = demoHeaders(path);
    if (!isolated) delete headers['cross-origin-embedder-policy'];
    response.writeHead(200, {
      ...headers,
      'content-type': types[extname(path)] ?? 'application/octet-stream',
    });
    response.end(bytes);
  });
  await new Promise((listening) => server.listen(port, '127.0.0.1', listening));
  const { port: given } = server.address();
  return {
    origin: `http://127.0.0.1:${given}`,
    close: () => new Promise((closed) => server.close(closed)),
  };
}
