/** frozen-lake with feedback: one role crosses the ice, another says whether that was good and how to begin, and the first may try again. */

import { answerAndFeedback, fromGame } from 'turnwise/env';
import { pureEnvironment } from 'turnwise/environments';

export const feedback = fromGame(answerAndFeedback(await pureEnvironment('frozen-lake')));
