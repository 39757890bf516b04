import type { ErrorTable } from './error-table.ts';

export const environmentServer = {
  'environment-timeout': {
    meaning: 'The environment took too long; the session is closed (504).',
    remedy: 'Raise `--deadline` where steps are slow.',
  },
  'idempotency-conflict': {
    meaning: 'The idempotency key was used for another request (409).',
    remedy: 'Use a new key for a new session.',
  },
  'port-unavailable': {
    meaning: 'The server cannot listen there.',
    remedy: 'Choose another `--port` or `--host`.',
  },
  'request-too-large': {
    meaning: 'The body is too large (413).',
    remedy: 'Send at most 4 MiB.',
  },
  'route-unknown': {
    meaning: 'There is no such route (404).',
    remedy: '[Environment servers](environment-servers.md) lists the routes.',
  },
  'session-busy': {
    meaning: 'The last step of the session is still under way (409).',
    remedy: 'Wait for its answer.',
  },
  'session-limit': {
    meaning: 'As many sessions are open as may be, or the server is shutting down (503).',
    remedy: 'Try again after a while, close sessions, or raise `--sessions`.',
  },
  'session-unknown': {
    meaning: 'There is no such session: closed, its lease ended, or it never existed (404).',
    remedy: 'Open a new one.',
  },
  'snapshot-unknown': {
    meaning: 'There is no such snapshot, or its lease ended (404).',
    remedy: 'Take a new one.',
  },
  'snapshot-unsupported': {
    meaning: 'Sessions of this environment have no snapshots (501).',
    remedy: 'Give them `snapshot()`.',
  },
  'step-conflict': {
    meaning: 'A step was requested again, with another action (409).',
    remedy: 'Take a snapshot before it, and open a session from there.',
  },
  'step-out-of-order': {
    meaning: 'The number of the step is not the next (409).',
    remedy: 'The message says which is.',
  },
} satisfies ErrorTable;
