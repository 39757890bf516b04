/** The built-in environments and those behind an address, loaded when they are asked for; serving them; tools of MCP servers. @module */

export { type McpOptions, type McpServer, type McpTools, openMcpTools } from '../env/remote/mcp.ts';
export { environmentNames, findEnvironment } from '../run/load/environments.ts';
export type { SessionLimits } from '../server/environment/limits.ts';
export {
  type EnvironmentServer,
  type EnvironmentServerOptions,
  serveEnvironment,
} from '../server/environment/serve.ts';
