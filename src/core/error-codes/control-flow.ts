import type { ErrorTable } from './error-table.ts';

export const controlFlow = {
  cancelled: {
    meaning: 'A run was asked to stop. The command line turns it into `interrupted`.',
    remedy: 'Resume the run.',
    exit: 130,
  },
} satisfies ErrorTable;
