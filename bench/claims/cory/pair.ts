/** frozen-lake in two answers: a pioneer crosses the ice, an observer reads how, and crosses it, too. */

import { fromGame, secondAnswer } from 'turnwise/env';
import { frozenLake, world } from '../../../envs/frozen-lake/index.ts';

export const pair = fromGame(secondAnswer(frozenLake(world.options.parse({}))));
