/** Roles played by different players: each completion is asked of the player in that seat. */

import type { Role } from '../core/episode.ts';
import type { Completion, CompletionRequest, Policy, PromptPolicy } from './policy.ts';

/** A player in a seat, under its name in the run. */
export interface Player {
  readonly name: string;
  readonly policy: Policy;
}

/** A player that needs no more than a prompt. */
export interface PromptPlayer extends Player {
  readonly policy: PromptPolicy;
}

/** The learner in every seat but those of others. What others write is recorded under their names. */
export function seatedPolicy(learner: Policy, others: ReadonlyMap<Role, Player>): Policy {
  if (others.size === 0) return learner;
  return {
    get author() {
      return learner.author;
    },
    authorOf(role) {
      const player = others.get(role);
      return player ? { ...player.policy.author, name: player.name } : learner.author;
    },
    complete: (request) => {
      const player = others.get(request.role);
      return player ? completeAs(player, request) : learner.complete(request);
    },
    release: (conversation) => {
      for (const { policy } of [{ policy: learner }, ...others.values()]) policy.release?.(conversation);
    },
  };
}

/** An endpoint keeps its own name, which says the model and its host. */
async function completeAs({ name, policy }: Player, request: CompletionRequest): Promise<Completion> {
  const completion = await policy.complete(request);
  const { by } = completion;
  return by.kind === 'model' ? completion : { ...completion, by: { ...by, name } };
}

/** The same player, from whose completions nothing is learned. */
export function untrained(policy: Policy): Policy {
  return {
    ...policy,
    get author() {
      return policy.author;
    },
    complete: async (request) => {
      const completion = await policy.complete(request);
      return completion.trainable === true ? { ...completion, trainable: 'other-model' } : completion;
    },
  };
}
