import type { ErrorTable } from './error-table.ts';

export const sandbox = {
  'sandbox-closed': {
    meaning: 'A sandbox was used after it was closed.',
    remedy: 'Create another.',
  },
  'sandbox-failed': {
    meaning: 'The interpreter failed.',
    remedy: 'The episode is left out; later calls start anew.',
  },
  'sandbox-lost': {
    meaning: 'The worker behind the sandbox stopped.',
    remedy: 'The episode is left out; later calls start a new worker.',
  },
} satisfies ErrorTable;
