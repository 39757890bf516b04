/** A turn control as a user writes it; docs/your-own-methods.md shows it. */

import { defineTurns, user, z } from 'turnwise';

export const again = defineTurns({
  name: 'again',
  summary: 'the same task until it is solved',
  options: z.strictObject({ attempts: z.int().min(1).default(5).describe('Turns of an episode') }),
  retries: true,
  limit: (_task, { options }) => options.attempts,
  longest: ({ attempts }) => attempts,
  says: () => ['Try again.'],
  after: (_view, { done, success }) => (done && !success ? { retry: user('Try again.') } : 'go on'),
});
