/** An MCP server with the tools of a warehouse: over stdio, or with `--http` over HTTP at a port that it prints. */

import { readFileSync } from 'node:fs';
import { serve } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const { shelves, aisles } = JSON.parse(readFileSync(new URL('./warehouse.json', import.meta.url), 'utf8'));
const text = (value) => ({ content: [{ type: 'text', text: value ?? 'unknown' }] });

/** Over stdio it knows shelves, over HTTP aisles. */
function server(tool) {
  const mcp = new McpServer({ name: 'warehouse', version: '1.0.0' });
  if (tool === 'shelf') {
    const inputSchema = z.object({ item: z.string() });
    mcp.registerTool('shelf', { description: 'The shelf of an item.', inputSchema }, async ({ item }) =>
      text(shelves[item]),
    );
  } else {
    const inputSchema = z.object({ shelf: z.string() });
    mcp.registerTool('aisle', { description: 'The aisle of a shelf.', inputSchema }, async ({ shelf }) =>
      text(aisles[shelf]),
    );
  }
  return mcp;
}

if (process.argv.includes('--http')) {
  const handler = createMcpHandler(() => server('aisle'));
  serve({ fetch: (request) => handler.fetch(request), hostname: '127.0.0.1', port: 0 }, ({ port }) =>
    console.log(`http://127.0.0.1:${port}/mcp`),
  );
} else {
  serveStdio(() => server('shelf'));
}
