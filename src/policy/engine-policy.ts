/** The policy that an engine's published weights define. Requests of concurrent episodes become one batch. */

import type { Renderer } from '../model/chat/renderer.ts';
import type { Lockstep } from './lockstep.ts';
import type { PromptPolicy } from './policy.ts';
import type { SampleRequest, SampleResult, Sampler } from './sampler.ts';

/** Episodes that go on before the event loop has its turn: about two milliseconds of small environments. */
const STEPS_AT_ONCE = 32;

/** The name of the player whose weights are trained. */
export const LEARNER = 'learner';

/** A result, the version of the weights that gave it, and when its batch was sent. */
interface Served {
  readonly result: SampleResult;
  readonly version: number;
  readonly sentMs: number;
}

interface Waiting {
  readonly request: SampleRequest;
  readonly resolve: (served: Served) => void;
  readonly reject: (reason: unknown) => void;
}

export function enginePolicy(engine: Sampler, renderer: Renderer, lockstep: Lockstep): PromptPolicy {
  let waiting: Waiting[] = [];
  let over: string[] = [];

  /** Before the next batch, and without one soon: many episodes end at once. */
  const releaseAll = (): void => {
    if (over.length > 0) void engine.release(over).catch(() => {});
    over = [];
  };

  const flush = (): void => {
    // Arrival order may depend on timing where environments are asynchronous; the batch must not.
    const batch = waiting.sort((a, b) => (a.request.conversation < b.request.conversation ? -1 : 1));
    waiting = [];
    releaseAll();
    lockstep.resume(batch.length);
    const { version } = engine;
    const sentMs = performance.now();
    engine.sample(batch.map(({ request }) => request)).then(
      async (results) => {
        for (const [index, { resolve }] of batch.entries()) {
          resolve({ result: results[index]!, version, sentMs });
          // Each episode now takes its step; a large batch must not keep timers and the terminal waiting for all.
          if (index % STEPS_AT_ONCE === STEPS_AT_ONCE - 1) await new Promise(setImmediate);
        }
      },
      (error: unknown) => {
        for (const { reject } of batch) reject(error);
      },
    );
  };

  return {
    get author() {
      return { kind: 'policy', name: LEARNER, version: engine.version } as const;
    },
    complete: async ({ conversation, promptIds, sampling, seedKey, topLogprobs }) => {
      const asked = performance.now();
      const { result, version, sentMs } = await new Promise<Served>((resolve, reject) => {
        waiting.push({
          request: {
            conversation,
            promptIds,
            maxTokens: sampling.maxTokens,
            stopIds: renderer.stopIds,
            temperature: sampling.temperature,
            topP: sampling.topP,
            topK: sampling.topK,
            seed: seedKey,
            ...(topLogprobs !== undefined && { topLogprobs }),
          },
          resolve,
          reject,
        });
        lockstep.park(flush);
      });
      return {
        ids: result.ids,
        logprobs: result.logprobs,
        text: renderer.text(result.ids),
        finish: result.finish,
        by: { kind: 'policy', name: LEARNER, version },
        trainable: true,
        waitMs: sentMs - asked,
        ...(result.top && { top: result.top }),
      };
    },
    release: (conversation) => {
      if (over.length === 0) setImmediate(releaseAll);
      over.push(conversation);
    },
  };
}
