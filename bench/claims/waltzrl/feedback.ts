/** frozen-lake with feedback: one role crosses the ice, another says whether that was good and how to begin, and the first may try again. */

import { answerAndFeedback, fromGame } from 'turnwise/env';
import { frozenLake, world } from '../../../envs/frozen-lake/index.ts';

export const feedback = fromGame(answerAndFeedback(frozenLake(world.options.parse({}))));
