/** An agent whose tools are MCP servers: one over stdio, one over HTTP. The model is called with plain `fetch`. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { defineAgent } from 'turnwise';

interface Request {
  readonly item: string;
  readonly wanted: 'shelf' | 'aisle';
  readonly answer: string;
}

interface Warehouse {
  readonly shelves: Readonly<Record<string, string>>;
  readonly aisles: Readonly<Record<string, string>>;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const { shelves, aisles } = JSON.parse(readFileSync(here('./warehouse.json'), 'utf8')) as Warehouse;
const requests: Request[] = Object.entries(shelves).flatMap(([item, shelf]) => [
  { item, wanted: 'shelf', answer: shelf },
  { item, wanted: 'aisle', answer: aisles[shelf]! },
]);

interface Connection {
  readonly client: Client;
  readonly tools: Awaited<ReturnType<Client['listTools']>>['tools'];
}

let httpServer: ChildProcess | undefined;
let connections: Promise<Connection[]> | undefined;

/** Every episode shares them. */
async function connect(): Promise<Connection[]> {
  httpServer = spawn(process.execPath, [here('./warehouse-server.mjs'), '--http'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [address] = (await once(httpServer.stdout!, 'data')) as [Buffer];
  const transports = [
    new StdioClientTransport({ command: process.execPath, args: [here('./warehouse-server.mjs')] }),
    new StreamableHTTPClientTransport(new URL(String(address).trim())),
  ];
  return Promise.all(
    transports.map(async (transport) => {
      const client = new Client({ name: 'warehouse-agent', version: '1.0.0' });
      await client.connect(transport);
      return { client, tools: (await client.listTools()).tools };
    }),
  );
}

interface Answer {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { name: string; arguments: string };
      }[];
    };
  }[];
}

export const agent = defineAgent<Request>({
  name: 'warehouse',
  description: 'Finds things in a warehouse with tools of two MCP servers.',
  tasks: (split) => requests.filter((_, index) => (index % 4 === 3) === (split === 'test')),
  async run({ task, baseURL, apiKey, model, signal }) {
    connections ??= connect();
    const servers = await connections;
    const tools = servers.flatMap((server) =>
      server.tools.map(({ name, description, inputSchema }) => ({
        type: 'function',
        function: { name, description, parameters: inputSchema },
      })),
    );
    const messages: object[] = [{ role: 'user', content: `${task.wanted} of ${task.item}` }];
    for (let step = 0; step < 4; step++) {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages, tools }),
        signal,
      });
      if (!response.ok) throw new Error(await response.text());
      const { message } = ((await response.json()) as Answer).choices[0]!;
      messages.push(message);
      if (!message.tool_calls) return { reward: message.content === task.answer ? 1 : 0 };
      for (const { id, function: call } of message.tool_calls) {
        const server = servers.find((known) => known.tools.some(({ name }) => name === call.name))!;
        const result = await server.client.callTool({
          name: call.name,
          arguments: JSON.parse(call.arguments) as Record<string, unknown>,
        });
        const [first] = result.content;
        messages.push({ role: 'tool', tool_call_id: id, content: first?.type === 'text' ? first.text : '' });
      }
    }
    return { reward: 0 };
  },
  demonstrate({ task, messages, player, rng }) {
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    if (player === 'beginner' && rng.chance(0.5)) return { content: rng.pick(Object.keys(aisles)) };
    if (results.length === 0) return { toolCalls: [{ name: 'shelf', arguments: { item: task.item } }] };
    if (results.length === 1 && task.wanted === 'aisle') {
      return { toolCalls: [{ name: 'aisle', arguments: { shelf: results[0]! } }] };
    }
    return { content: results.at(-1)! };
  },
  async close() {
    if (!connections) return;
    for (const { client } of await connections) await client.close();
    httpServer?.kill();
  },
});
