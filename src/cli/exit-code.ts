/** What the shell is told: 0 all went well, 1 it failed, 2 the command line was wrong, 130 it was interrupted. */

import { TurnwiseError } from '../core/errors.ts';

const usageErrors: ReadonlySet<string> = new Set([
  'argument-extra',
  'argument-missing',
  'command-unknown',
  'comparison-differs',
  'comparison-setting',
  'comparison-start',
  'config-invalid',
  'config-unknown-key',
  'definition-in-code',
  'demonstrations-invalid',
  'environment-address',
  'environment-unknown',
  'file-unknown',
  'nemo-data',
  'option-unknown',
  'option-value',
  'policy-missing',
  'policy-unknown',
  'recipe-unfit',
  'recipe-unknown',
  'removal-unconfirmed',
  'run-exists',
  'run-name',
  'run-unknown',
  'setting-syntax',
  'start-mismatch',
  'start-missing',
  'split-empty',
  'task-unknown',
  'unknown-context',
  'unknown-curation',
  'unknown-tasks',
  'unknown-turns',
  'unknown-credit-method',
  'unknown-objective',
  'unknown-reward-shaping',
  'world-in-code',
]);

export function exitCodeOf(error: unknown): 1 | 2 | 130 {
  if (isInterruption(error)) return 130;
  return TurnwiseError.isInstance(error) && usageErrors.has(error.code) ? 2 : 1;
}

function isInterruption(error: unknown): boolean {
  if (TurnwiseError.isInstance(error)) return error.code === 'cancelled' || error.code === 'interrupted';
  return error instanceof Error && error.name === 'AbortError';
}
