/** Countdown in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { CountdownOptions, CountdownState } from './index.ts';

export function countdownSentences({ operators }: CountdownOptions): NaturalWording<CountdownState> {
  const allowed = operators === 'sums' ? '+ and -' : '+, -, *, / and parentheses';
  return {
    instructions: [
      `Write an expression that equals the target. Use each of the given numbers exactly once, and ${allowed}.`,
      'Answer with the expression and nothing else.',
    ].join(' '),
    example: [[ask([2, 7, 15], 10), '15 + 2 - 7']],
    observe: ({ numbers, target, told }, step) => {
      if (step?.success) return 'That is right.';
      if (step?.done) return 'That is wrong.';
      const problem =
        step?.valid === false ? 'That is no expression. ' : told && `That is not it; its value is ${told}. `;
      return `${problem}${ask(numbers, target)}`;
    },
  };
}

function ask(numbers: readonly number[], target: number): string {
  return `The numbers are ${numbers.join(', ')}, the target is ${target}.`;
}
