/** The policy that an engine's published weights define. */

import type { Renderer } from '../model/chat/renderer.ts';
import type { Batching } from './batching.ts';
import { choiceIds, longestOf } from './choices.ts';
import type { PromptPolicy } from './policy.ts';
import type { SampleResult, Sampler } from './sampler.ts';

/** The name of the player whose weights are trained. */
export const LEARNER = 'learner';

/** @param batching decides which requests of concurrent episodes are made together */
export function enginePolicy(
  engine: Pick<Sampler, 'version' | 'sample' | 'release'>,
  renderer: Renderer,
  batching: Batching,
): PromptPolicy {
  let over: string[] = [];

  /** Before the next request, and without one soon: many episodes end at once. */
  const releaseAll = (): void => {
    if (over.length === 0) return;
    const gone = over;
    over = [];
    engine.release(gone);
  };

  return {
    get author() {
      return { kind: 'policy', name: LEARNER, version: engine.version } as const;
    },
    complete: async (request) => {
      const { conversation, keep, append, sampling, seedKey, topLogprobs, heard } = request;
      const choices = request.choices && choiceIds(request.choices, renderer);
      const texts = request.constraint && renderer.tokenTexts?.();
      const constraint = request.constraint && texts && { ...request.constraint, texts };
      const asked = performance.now();
      let sent = asked;
      const sample = async (): Promise<SampleResult> => {
        sent = performance.now();
        releaseAll();
        return engine.sample({
          conversation,
          keep,
          append,
          sampling: choices ? { ...sampling, maxTokens: longestOf(choices) } : sampling,
          stopIds: renderer.stopIds,
          seed: seedKey,
          ...(choices && { choices }),
          ...(constraint && { constraint }),
          ...(heard && { heard }),
          ...(topLogprobs !== undefined && { topLogprobs }),
        });
      };
      const { version, ids, logprobs, entropy, finish, top } = await new Promise<SampleResult>((resolve) =>
        batching.wait({ conversation, send: () => resolve(sample()) }),
      );
      return {
        ids,
        logprobs,
        text: renderer.text(ids),
        finish,
        by: { kind: 'policy', name: LEARNER, version },
        trainable: constraint ? 'constrained' : true,
        waitMs: sent - asked,
        ...(entropy !== undefined && { entropy }),
        ...(choices && { choices }),
        ...(top && { top }),
      };
    },
    release: (conversation) => {
      if (over.length === 0) setImmediate(releaseAll);
      over.push(conversation);
    },
  };
}
