import type { ErrorTable } from './error-table.ts';

export const sandbox = {
  'runtime-file': {
    meaning: 'The path of a file of a runtime leads outside, or to no text file.',
    remedy: 'Use a relative path of a text file.',
  },
  'runtime-missing-interpreter': {
    meaning: '`python3` or `bash` cannot be started here.',
    remedy: 'Install it, or use the JavaScript runtime.',
  },
  'runtime-name': {
    meaning: 'A variable of a runtime has a name that a language would not take.',
    remedy: 'Use letters, digits and underscores.',
  },
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
