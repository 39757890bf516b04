/** Says again what was said before: the calls up to a place, and of a record that is played to its end its stop. */

import type { Call } from '../../core/episode.ts';
import type { Completion, Policy } from '../../policy/policy.ts';
import type { CopiedPrefix } from './copied-prefix.ts';
import { endOf, type Replay } from './replay.ts';

/** The policy of one episode that first says again what was said up to the place. */
export function repeating(policy: Policy, { calls, onRepeat, end }: CopiedPrefix & Partial<Replay>): Policy {
  let next = 0;
  return {
    ...policy,
    author: policy.author,
    complete: (request) => {
      const call = calls[next++];
      if (call) onRepeat?.(request, call);
      if (call) return Promise.resolve(copyOf(call));
      // A record that is played to its end goes no further.
      return end ? Promise.reject(endOf(end)) : policy.complete(request);
    },
    ...(policy.release && { release: (conversation: string) => policy.release?.(conversation) }),
  };
}

function copyOf({ ids, logprobs, text, finish, by, trainable }: Call): Completion {
  return { ids, logprobs, text, finish, by, trainable: trainable === true ? 'earlier' : trainable };
}
