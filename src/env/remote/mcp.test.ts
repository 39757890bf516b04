import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import {
  createMcpHandler,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { callTool, toolAction, toolProtocol } from '../tool-protocol.ts';
import { type McpServer as Address, type McpTools, openMcpTools } from './mcp.ts';

const open: { close(): unknown }[] = [];
afterAll(async () => {
  for (const thing of open) await thing.close();
});

function arithmetic(): McpServer {
  const server = new McpServer({ name: 'arithmetic', version: '1' });
  server.registerTool(
    'add',
    { description: 'Adds.', inputSchema: z.object({ a: z.int(), b: z.int() }) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }),
  );
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, async () => {
    throw new Error('no luck');
  });
  return server;
}

async function overHttp(handle: (request: Request) => Promise<Response>): Promise<Address> {
  const server = createAdaptorServer({ fetch: handle }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` };
}

async function connected(address: Address): Promise<McpTools> {
  const tools = await openMcpTools(address, { timeoutMs: 10_000 });
  open.unshift(tools);
  return tools;
}

const stdio = (...more: string[]): Address => ({
  command: process.execPath,
  arguments: [join(import.meta.dirname, 'mcp-server.test-helper.mjs'), ...more],
});

/** One server with a session, as servers of the older revision have. */
async function oldHttp(): Promise<Address> {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => 'only',
  });
  await arithmetic().connect(transport);
  return overHttp((request) => transport.handleRequest(request));
}

describe.each([
  ['stdio, 2026-07-28', async () => stdio(), '2026-07-28'],
  ['stdio, 2025-11-25', async () => stdio('--old'), '2025-11-25'],
  ['HTTP, 2026-07-28', () => overHttp(createMcpHandler(arithmetic).fetch), '2026-07-28'],
  ['HTTP, 2025-11-25', oldHttp, '2025-11-25'],
])('over %s', (_, start, revision) => {
  test('tools are listed, called and refused', async () => {
    const { tools, revision: spoken } = await connected(await start());
    expect(spoken).toBe(revision);
    const protocol = toolProtocol(tools);
    expect(tools.map(({ name }) => name)).toEqual(['add', 'fail']);
    const call = (text: string): unknown => {
      const parsed = protocol.parse(text);
      return parsed.ok ? callTool(tools, parsed.action, undefined) : parsed.problem;
    };
    expect(await call('<tool_call>{"name":"add","arguments":{"a":2,"b":3}}</tool_call>')).toBe('5');
    expect(await call('<tool_call>{"name":"add","arguments":{"a":2,"b":"3"}}</tool_call>')).toContain('"b"');
    // What a tool reports as an error is for the agent to read.
    expect(await callTool(tools, toolAction('fail', {}), undefined)).toContain('no luck');
  });
});

describe('what goes wrong', () => {
  test('a server that is not there', async () => {
    const opening = openMcpTools({ url: 'http://127.0.0.1:9/mcp' }, { timeoutMs: 2000 });
    await expect(opening).rejects.toMatchObject({ code: 'mcp-failed', fields: { origin: 'tool' } });
  });

  test('a process that ends at once', async () => {
    const opening = openMcpTools({ command: process.execPath, arguments: ['-e', ''] }, { timeoutMs: 2000 });
    await expect(opening).rejects.toMatchObject({ code: 'mcp-failed' });
  });

  test('a server that answers garbage, or never', async () => {
    const garbage = await overHttp(
      async () => new Response('<html>', { headers: { 'content-type': 'text/html' } }),
    );
    await expect(openMcpTools(garbage, { timeoutMs: 2000 })).rejects.toMatchObject({ code: 'mcp-failed' });
    const silent = await overHttp(() => new Promise(() => {}));
    await expect(openMcpTools(silent, { timeoutMs: 300 })).rejects.toMatchObject({ code: 'mcp-failed' });
  });

  test('a tool call after the server has gone', async () => {
    const { tools, close } = await openMcpTools(stdio('--old'), { timeoutMs: 5000 });
    await close();
    await expect(tools[0]!.run({ a: 1, b: 2 }, undefined)).rejects.toMatchObject({
      code: 'mcp-failed',
      fields: { origin: 'tool' },
    });
  });
});
