/** A policy whose turns are decided one by one: typed by a person, or sampled. */

import type { Role } from '../../core/episode.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import { authorOf, type Completion, type CompletionRequest, type Policy } from '../../policy/policy.ts';
import type { PlayMove } from './messages.ts';

export interface Steering {
  readonly policy: Policy;
  readonly renderer: Pick<Renderer, 'completionIds'>;
  /** How many of the likeliest tokens to tell. */
  readonly top: number;
  /** Told of the state; answers with what to do. */
  ask(request: CompletionRequest): Promise<PlayMove>;
  onTurn(completion: Completion, by: 'policy' | 'person', role: Role): void;
}

export function steeredPolicy({ policy, renderer, top, ask, onTurn }: Steering): Policy {
  return {
    get author() {
      return policy.author;
    },
    authorOf: (role) => authorOf(policy, role),
    async complete(request) {
      const move = await ask(request);
      const typed = move.kind === 'type' ? move.text : undefined;
      const completion =
        typed === undefined
          ? await policy.complete({ ...request, topLogprobs: top } as CompletionRequest)
          : written(typed, Int32Array.from(renderer.completionIds(typed)));
      onTurn(completion, typed === undefined ? 'policy' : 'person', request.role);
      return completion;
    },
    release: (conversation) => policy.release?.(conversation),
  };
}

function written(text: string, ids: Int32Array): Completion {
  return {
    ids,
    logprobs: new Float32Array(ids.length),
    text,
    finish: 'none',
    by: { kind: 'person', name: 'person', version: 0 },
    trainable: 'person',
  };
}
