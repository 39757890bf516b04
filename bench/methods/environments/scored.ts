/** The pages of `lessons`, each of which pays when it is answered rightly. */

import type { Json } from '../../../src/core/json/json.ts';
import { factsOf } from '../../../src/credit/contract/facts.ts';
import { defineEnvironment, type Environment } from '../../../src/env/environment.ts';
import { lessons } from './lessons.ts';

export function scored({ turns = 6, words = 4 } = {}): Environment {
  const pages = lessons({ turns, words, matter: Array.from({ length: turns }, (_, turn) => turn) });
  return defineEnvironment<Json, Json>({
    ...pages,
    name: 'scored',
    description: 'pages that each pay for the right answer',
    step: (state, action, rng) => {
      const result = pages.step(state, action, rng);
      const [earned = 0] = factsOf(result.info, 'A page').turn.dense ?? [];
      return { ...result, reward: earned > 0 ? 1 : 0 };
    },
  });
}
