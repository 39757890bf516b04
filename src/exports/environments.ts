/** The built-in environments and those behind an address, loaded when they are asked for; serving them; tools of MCP servers. @module */

export { environmentNames, findEnvironment } from '../cli/environments.ts';
export { type McpOptions, type McpServer, type McpTools, openMcpTools } from '../env/remote/mcp.ts';
export {
  type EnvironmentServer,
  type EnvironmentServerOptions,
  serveEnvironment,
} from '../server/environment/serve.ts';
export type { SessionLimits } from '../server/environment/session-table.ts';
