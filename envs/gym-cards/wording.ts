/** Points24 and EZPoints in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import { type PointsRules, type PointsState, unused, type Written } from './points.ts';

export function pointsSentences({ operators, parentheses }: PointsRules): NaturalWording<PointsState> {
  const tokens = [...operators, ...parentheses].join(' ');
  return {
    instructions: [
      'Write a formula that makes the target of the cards, one token at a time. Use each card exactly once.',
      `Answer with the next token: the number of a card that is left, or one of ${tokens}. When the formula is complete,`,
      'answer with =.',
    ].join(' '),
    example: [
      [ask({ cards: [5, 6], target: 30, formula: ['5'] }), '*'],
      [ask({ cards: [5, 6], target: 30, formula: ['5', '*'] }), '6'],
    ],
    observe: (state, step) => {
      if (step?.success) return 'The formula is right.';
      if (step?.done) return 'The formula is wrong.';
      return step?.valid === false ? `You cannot write that. ${ask(state)}` : ask(state);
    },
  };
}

function ask(state: Written): string {
  const { cards, target, formula } = state;
  const left = unused(state);
  const written = formula.length === 0 ? 'Nothing is written yet' : `You have written ${formula.join(' ')}`;
  const remaining = left.length === 0 ? 'No card is left' : `Cards left: ${left.join(', ')}`;
  return `The cards are ${cards.join(', ')}; make ${target}. ${written}. ${remaining}.`;
}
