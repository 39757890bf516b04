/** A console that remembers what was written, for tests. */

import { type Console, eraseSequence } from '../show/console.ts';
import type { Interrupts } from './interrupts.ts';

export interface MemoryConsole extends Console {
  output(): string;
  errors(): string;
}

export function memoryConsole(
  settings: Partial<Pick<Console, 'columns' | 'interactive' | 'colour'>> = {},
): MemoryConsole {
  let output = '';
  let errors = '';
  return {
    columns: 80,
    interactive: false,
    colour: false,
    ...settings,
    write: (text) => {
      output += text;
    },
    writeError: (text) => {
      errors += text;
    },
    erase: (lines) => {
      output += eraseSequence(lines);
    },
    output: () => output,
    errors: () => errors,
  };
}

export const noInterrupts: Interrupts = {
  signal: new AbortController().signal,
  soften: () => () => false,
  release: () => {},
};
