/** Running sums in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import { added, type SumOptions, type SumState, worths } from './index.ts';

export function sumSentences({ keys, turns }: SumOptions): NaturalWording<SumState> {
  const ask = (state: SumState): string => `Add ${added(state, keys).join(', ')}. What is the total now?`;
  return {
    instructions: [
      `Keep a running total over ${turns} turns. Each turn names words, and each word is worth a number. The total begins at 0.`,
      'Answer with the total of all turns so far, as a number and nothing else.',
    ].join(' '),
    example: [['The words are worth: sun 4, moon -7. Add moon. What is the total now?', '-7']],
    observe: (state, step) => {
      if (step?.done) return step.success ? 'Every total was right.' : 'Not every total was right.';
      if (step?.valid === false) return `That is no number. ${ask(state)}`;
      if (step) return ask(state);
      const told = worths(state).map(([word, value]) => `${word} ${value}`);
      return `The words are worth: ${told.join(', ')}. ${ask(state)}`;
    },
  };
}
