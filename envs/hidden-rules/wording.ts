/** Hidden rules in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { RuleState } from './index.ts';

export function ruleSentences(queries: number): NaturalWording<RuleState> {
  return {
    instructions: [
      `Find a hidden rule about three whole numbers x, y and z. You may ask about at most ${queries} triples, such as`,
      '"2 4 6", and read whether they keep the rule. To end, answer "rule" and an expression with x, y, z, numbers, + - * %,',
      'comparisons (= != < <= > >=), and, or, not and parentheses. Answer with a triple or a rule and nothing else.',
    ].join(' '),
    example: [
      ['Ask about a triple.', '1 2 9'],
      ['Yes, that triple keeps the rule. Ask about another, or say the rule.', '9 2 1'],
      ['No, that triple does not keep the rule. Ask about another, or say the rule.', 'rule x < z'],
    ],
    observe: (state, step) => {
      if (step?.done) return step.success ? 'That is the rule.' : 'That is not the rule.';
      const told = describe(state);
      return step?.valid === false ? `That is neither a triple nor a rule. ${told}` : told;
    },
  };
}

function describe({ told }: RuleState): string {
  if (told === '') return 'Ask about a triple.';
  const answer =
    told === 'yes' ? 'Yes, that triple keeps the rule.' : 'No, that triple does not keep the rule.';
  return `${answer} Ask about another, or say the rule.`;
}
