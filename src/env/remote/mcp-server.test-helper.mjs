/** A process that serves two tools over its standard streams: `--old` speaks only the revision with a handshake. */

import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

function tools() {
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

if (process.argv.includes('--old')) await tools().connect(new StdioServerTransport());
else serveStdio(tools);
