/** The built-in environments and those behind an address, loaded when they are asked for, also to be wrapped; serving them; tools of MCP servers. @module */

export { type McpOptions, type McpServer, type McpTools, openMcpTools } from '../env/remote/mcp.ts';
export { environmentNames, findEnvironment, pureEnvironment } from '../run/load/environments.ts';
export type { SessionLimits } from '../server/environment/limits.ts';
export {
  type EnvironmentServer,
  type EnvironmentServerOptions,
  serveEnvironment,
} from '../server/environment/serve.ts';
