/** Bandits in sentences, for models that read. */

import type { NaturalWording } from '../../src/env/environment.ts';
import type { BanditOptions, BanditState } from './index.ts';

export function banditSentences(game: BanditOptions['game'], pulls: number): NaturalWording<BanditState> {
  const risk = game === 'risk';
  return {
    instructions: risk
      ? 'Choose one of two slot machines, to win as much as you can on average. One pays little, and always; the other pays seldom, and much. Answer with the name of a machine and nothing else.'
      : `Pull two slot machines ${pulls} times in all, to win as often as you can. Each has a chance of its own that you do not know. Answer with the name of a machine and nothing else.`,
    example: risk
      ? [['The machines are rabbit and lion.', 'lion']]
      : [['left won 0 and lost 0 times. right won 0 and lost 1 times.', 'left']],
    observe: (state, step) => {
      if (step?.done) return step.observation === 'won' ? 'You won.' : 'You did not win.';
      const told = describe(state, risk);
      return step?.valid === false ? `There is no such machine. ${told}` : told;
    },
  };
}

function describe({ arms, wins, losses }: BanditState, risk: boolean): string {
  if (risk) return `The machines are ${arms.map(({ name }) => name).join(' and ')}.`;
  return arms.map(({ name }, arm) => `${name} won ${wins[arm]} and lost ${losses[arm]} times.`).join(' ');
}
