/**
 * The tools of an MCP server, for sessions that lend them to an agent. MCP knows neither reward nor end of an episode:
 * those are the environment author's. Both revisions of the protocol are spoken; which one is found out at connect.
 */

import { TurnwiseError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json/json.ts';
import { fetchByProxy } from '../../core/node/http.ts';
import { declaredTool } from '../declared-tools.ts';
import type { Tool } from '../tool.ts';

export type McpServer =
  /** A process that speaks over its standard streams. */
  | {
      readonly command: string;
      readonly arguments?: readonly string[];
      readonly environment?: Readonly<Record<string, string>>;
    }
  /** Streamable HTTP. */
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

export interface McpOptions {
  /** Longest wait for one answer. Default: 30 s. */
  readonly timeoutMs?: number;
}

export interface McpTools {
  /** For `toolProtocol` and `callTool`. What a tool reports as an error is text for the agent, as what it returns. */
  readonly tools: readonly Tool[];
  /** The revision that both sides speak, such as 2025-11-25. */
  readonly revision: string;
  close(): Promise<void>;
}

type Sdk = typeof import('@modelcontextprotocol/client');

/**
 * Connect, and list the tools.
 *
 * @throws TurnwiseError `mcp-missing` where `@modelcontextprotocol/client` is not installed, `mcp-failed`
 */
export async function openMcpTools(server: McpServer, options: McpOptions = {}): Promise<McpTools> {
  const { timeoutMs = 30_000 } = options;
  const sdk = await loadSdk();
  const client = new sdk.Client(
    { name: 'turnwise', version: '1' },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(timeoutMs, 5_000) } } },
  );
  const where = 'url' in server ? server.url : server.command;
  try {
    await client.connect(await transportTo(server, sdk), { timeout: timeoutMs });
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs });
    return {
      revision: client.getNegotiatedProtocolVersion() ?? '',
      tools: tools.map(({ name, description, inputSchema }): Tool => {
        const declared = declaredTool({ name, description, parameters: inputSchema as JsonObject });
        return {
          ...declared,
          run: async (input) => {
            const result = await client
              .callTool(
                { name, arguments: declared.parameters.parse(input) },
                { timeout: timeoutMs, maxTotalTimeout: timeoutMs },
              )
              .catch((cause: unknown) => {
                throw failed(`The tool "${name}" of ${where} failed`, cause);
              });
            return textOf(result);
          },
        };
      }),
      close: () => client.close(),
    };
  } catch (cause) {
    await client.close().catch(() => {});
    throw TurnwiseError.isInstance(cause) ? cause : failed(`The MCP server ${where} cannot be used`, cause);
  }
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@modelcontextprotocol/client');
  } catch (cause) {
    throw new TurnwiseError('mcp-missing', {
      what: 'Tools of MCP servers need a package that is not installed',
      seen: 'no @modelcontextprotocol/client',
      next: 'Install it with: npm install @modelcontextprotocol/client',
      cause,
    });
  }
}

async function transportTo(server: McpServer, sdk: Sdk) {
  if ('url' in server) {
    return new sdk.StreamableHTTPClientTransport(new URL(server.url), {
      fetch: fetchByProxy,
      requestInit: { headers: { ...server.headers } },
    });
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({
    command: server.command,
    args: [...(server.arguments ?? [])],
    env: { ...server.environment },
    // Its diagnostics are not ours to print.
    stderr: 'ignore',
  });
}

/** The parts that can be read, one after the other; others are named. */
function textOf(result: {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}): string {
  return (result.content ?? [])
    .map((part) => (part.type === 'text' ? (part.text ?? '') : `[${part.type}]`))
    .join('\n');
}

function failed(what: string, cause: unknown): TurnwiseError {
  return new TurnwiseError('mcp-failed', {
    what,
    seen: cause instanceof Error ? cause.message : String(cause),
    fields: { origin: 'tool' },
    cause,
  });
}
