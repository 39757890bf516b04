/** frozen-lake in two answers: a pioneer crosses the ice, an observer reads how, and crosses it, too. */

import { fromGame, secondAnswer } from 'turnwise/env';
import { pureEnvironment } from 'turnwise/environments';

export const pair = fromGame(secondAnswer(await pureEnvironment('frozen-lake')));
