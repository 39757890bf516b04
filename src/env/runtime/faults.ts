/** What is refused or has failed around a runtime, apart from the code that it runs. */

import { TurnwiseError } from '../../core/errors.ts';

/** A name that all three languages take for a variable. @throws TurnwiseError `runtime-name` */
export function requireName(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return;
  throw new TurnwiseError('runtime-name', {
    what: 'This is no name of a variable',
    seen: JSON.stringify(name),
    allowed: 'letters, digits and underscores, with no digit first',
  });
}

export function closedRuntime(): TurnwiseError {
  return new TurnwiseError('sandbox-closed', { what: 'This runtime was closed', next: 'Create a new one' });
}

export function missingInterpreter(command: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('runtime-missing-interpreter', {
    what: `${command} cannot be started on this machine`,
    next: `Install ${command}, or use the JavaScript runtime, which needs nothing`,
    ...(cause === undefined ? {} : { cause }),
    fields: { origin: 'tool' },
  });
}

export function lostRuntime(seen: string): TurnwiseError {
  return new TurnwiseError('sandbox-lost', {
    what: 'The interpreter did not start',
    seen,
    next: 'The episode fails and is not learned from; later calls start another',
    fields: { origin: 'tool' },
  });
}

export function badFile(path: string, why: string): TurnwiseError {
  return new TurnwiseError('runtime-file', {
    what: `The file ${why}`,
    seen: JSON.stringify(path),
    allowed: 'the relative path of a text file in the folder of the runtime',
  });
}
