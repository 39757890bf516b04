import type { ErrorTable } from './error-table.ts';

export const remoteEnvironments = {
  'demonstrations-invalid': {
    meaning: 'The file of recorded actions is missing, empty or has a line that cannot be used.',
    remedy: 'The message names the line.',
    exit: 2,
  },
  'group-scores-remote': {
    meaning: 'A served environment compares the episodes of a group, which its server does not see.',
    remedy: 'Train in the process that has it, by its file.',
  },
  'mcp-failed': {
    meaning: 'An MCP server cannot be reached, or a call of its tool failed.',
    remedy: "The message gives the server's reason.",
  },
  'mcp-missing': {
    meaning: 'Tools of MCP servers need a client that is not installed.',
    remedy: 'Run `npm install @modelcontextprotocol/client`.',
  },
  'nemo-data': {
    meaning: 'The file of NeMo Gym tasks is missing, empty or has a line that is no task.',
    remedy: 'The message names the line.',
    exit: 2,
  },
  'remote-answer-invalid': {
    meaning: 'The answer of a server breaks its protocol: no JSON, another shape, too long.',
    remedy: 'Check the address.',
  },
  'remote-full': {
    meaning: 'A server has no room for another episode, or gave one session to two episodes.',
    remedy: "Lower `rollout.concurrency`, or raise the server's limit.",
  },
  'remote-refused': {
    meaning: 'A server answered with an error.',
    remedy: "The message gives the server's reason.",
  },
  'remote-timeout': {
    meaning: 'A server did not answer in time.',
    remedy: 'Raise `environment.timeoutMs`, or look for the cause of the delay.',
  },
  'remote-unreachable': {
    meaning: 'A server does not answer, or the connection broke off.',
    remedy: 'Check the address and that it is running.',
  },
} satisfies ErrorTable;
