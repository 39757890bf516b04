import type { ErrorTable } from './error-table.ts';

export const tinker = {
  'tinker-busy': {
    meaning: 'The server kept asking to slow down (429).',
    remedy: 'Try later, or lower `rollout.concurrency`.',
  },
  'tinker-conflict': {
    meaning: 'The server has seen a sequence number or a name with other content (409).',
    remedy: 'Do not share a session between processes; resume from the last checkpoint.',
  },
  'tinker-expired': {
    meaning: 'The server lost a result, also after the request was sent again (410).',
    remedy: 'Resume from the last checkpoint.',
  },
  'tinker-failed': {
    meaning: 'The server took a request and could not do it.',
    remedy: 'The message says why; look at the log of the server where `category` is not `user`.',
  },
  'tinker-garbled': {
    meaning: 'A message breaks the format of the API: it is damaged, cut short, or has wrong lengths.',
    remedy: 'Check that both sides speak the same version of the API.',
  },
  'tinker-model-unknown': {
    meaning: 'The server has no base model of that name.',
    remedy: 'Name one of those listed.',
  },
  'tinker-not-found': {
    meaning: 'The server does not know a model, session or checkpoint (404).',
    remedy: 'Its session may have expired: resume from the last checkpoint.',
  },
  'tinker-payment': {
    meaning: 'The server asked for payment for an hour (402).',
    remedy: 'Settle the account, then resume.',
  },
  'tinker-rejected': {
    meaning: 'The server rejected a request (400, 413, 422).',
    remedy: 'The message says why.',
  },
  'tinker-scale-unknown': {
    meaning: 'Nothing shows whether the server adds losses up or averages them.',
    remedy: 'Say it with `--set tinker.lossScale=sum` or `=mean`.',
  },
  'tinker-server-error': {
    meaning: 'The server kept failing (5xx).',
    remedy: 'Look at its log, then resume from the last checkpoint.',
  },
  'tinker-timeout': {
    meaning: 'The server took too long over a piece of work.',
    remedy: 'Look at the queue of the server, then resume.',
  },
  'tinker-unauthorized': {
    meaning: 'The server refused the key (401, 403).',
    remedy: 'Set `TINKER_API_KEY`.',
  },
  'tinker-unreachable': {
    meaning: 'The server could not be reached for minutes.',
    remedy: 'Check that it runs, then resume.',
  },
} satisfies ErrorTable;
