/** The smallest environment: one word, one turn. */

import type { Environment } from '../environment.ts';

export const echo: Environment<string, string> = {
  name: 'echo',
  description: 'Say the word.',
  maxTurns: 1,
  tasks: () => ({ size: 3, at: (index) => ['red', 'green', 'blue'][index]! }),
  start: (word) => ({ state: word, messages: [{ role: 'user', content: `say ${word}` }] }),
  step: (word, action) => {
    const success = action === word;
    return {
      state: word,
      observation: '',
      reward: success ? 1 : -1,
      done: true,
      success,
      valid: ['red', 'green', 'blue'].includes(action),
    };
  },
  actions: () => ['red', 'green', 'blue'],
  solve: (word) => word,
  natural: {
    instructions: 'Say the word.',
    example: [['The word is pink.', 'pink']],
    observe: (word, step) => (step ? 'That is all.' : `The word is ${word}.`),
  },
};
