/** A policy whose turns are decided one by one: replayed from a record, typed by a person, or sampled. */

import type { Call, Transition } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Renderer } from '../../model/chat/renderer.ts';
import type { Completion, CompletionRequest, Policy } from '../../policy/policy.ts';
import type { PlayMove } from './messages.ts';

/** A turn that happened, with the situation in which it did. */
export interface RecordedTurn {
  readonly call: Pick<Call, 'ids' | 'text' | 'finish'>;
  readonly anchor: Transition['anchor'] | undefined;
}

export interface Steering {
  readonly policy: Policy;
  readonly renderer: Pick<Renderer, 'completionIds'>;
  readonly recorded: readonly RecordedTurn[];
  /** How many of the likeliest tokens to tell. */
  readonly top: number;
  /** Told of the state; answers with what to do. Not asked where a turn is replayed. */
  ask(request: CompletionRequest, turn: number): Promise<PlayMove>;
  /** Told of the state of a turn that is replayed. */
  onReplay(request: CompletionRequest, turn: number): void;
  onTurn(completion: Completion, turn: number, by: 'policy' | 'person' | 'record'): void;
}

/** @throws TurnwiseError `play-differs`, inside the episode, where a replayed turn meets another state */
export function steeredPolicy(steering: Steering): Policy {
  const { policy, renderer, recorded } = steering;
  let turn = 0;
  const next = async (
    request: CompletionRequest,
    at: number,
  ): Promise<[Completion, 'policy' | 'person' | 'record']> => {
    const past = recorded[at];
    if (past) {
      const { anchor, call } = past;
      const here = request.session.anchor(request.role);
      if (anchor !== undefined && anchor !== here) throw differs(at, here, anchor);
      steering.onReplay(request, at);
      return [written(call.text, call.ids, 'record'), 'record'];
    }
    const move = await steering.ask(request, at);
    if (move.kind === 'type') {
      const ids = Int32Array.from(renderer.completionIds(move.text));
      return [written(move.text, ids, 'person'), 'person'];
    }
    return [await policy.complete({ ...request, topLogprobs: steering.top } as CompletionRequest), 'policy'];
  };
  return {
    get author() {
      return policy.author;
    },
    async complete(request) {
      const at = turn++;
      const [completion, by] = await next(request, at);
      steering.onTurn(completion, at, by);
      return completion;
    },
    release: (conversation) => policy.release?.(conversation),
  };
}

function written(text: string, ids: Int32Array, name: string): Completion {
  return {
    ids,
    logprobs: new Float32Array(ids.length),
    text,
    finish: 'none',
    by: { kind: 'person', name, version: 0 },
    trainable: 'person',
  };
}

export function differs(turn: number, seen: string, anchor: string): TurnwiseError {
  return new TurnwiseError('play-differs', {
    what: `This environment is not the one that was recorded: it differs at turn ${turn + 1}`,
    seen: seen.slice(0, 120),
    allowed: anchor.slice(0, 120),
    next: 'Fork an episode of a run that this version of the environment made',
  });
}
