/** A policy that says what a test has it say. */

import type { CompletionRequest, Policy } from '../policy/policy.ts';

export interface MockPolicy extends Policy {
  /** What it was asked, in order. */
  readonly asked: readonly CompletionRequest[];
}

/**
 * A policy that answers with these texts in turn, the last one for ever, or with what a function makes of the request. Texts
 * are as a model writes them: the action protocol reads them.
 *
 * @example
 * const policy = mockPolicy(['8', 'no idea', '12']);
 * const episode = await playEpisode(treasure, policy);
 * policy.asked[0].messages; // what it read first
 */
export function mockPolicy(
  answers: readonly string[] | ((request: CompletionRequest) => string),
): MockPolicy {
  const asked: CompletionRequest[] = [];
  const author = { kind: 'script', name: 'mock', version: 0 } as const;
  return {
    author,
    asked,
    complete: async (request) => {
      const text =
        typeof answers === 'function'
          ? answers(request)
          : (answers[Math.min(asked.length, answers.length - 1)] ?? '');
      asked.push(request);
      return {
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        text,
        finish: 'none',
        by: author,
        trainable: 'scripted',
      };
    },
  };
}
