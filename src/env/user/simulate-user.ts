/** A simulated user: a person with wishes and facts, on a policy of its own. It is played beside the policy that learns, and never trained. */

import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import type { JsonCompatible } from '../../core/json/json-compatible.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';

/** One turn of a scripted user. */
export interface UserTurn<Task = Json> {
  readonly task: Task;
  readonly facts: JsonObject;
  /** The assistant's last words; undefined where the user opens the conversation. */
  readonly said: string | undefined;
  /** Turns that the user has had, from 0. */
  readonly turn: number;
  /** The conversation from the user's side: `assistant` is the user, `user` the other side. */
  readonly messages: readonly Message[];
  readonly rng: Rng;
}

/** The user's next words; undefined ends the conversation. */
export type UserScript<Task = Json> = (
  turn: UserTurn<Task>,
) => string | undefined | Promise<string | undefined>;

export interface SimulatedUserDefinition<Task = Json> {
  /** Who the user is, what they want and how they write: the instructions of a model that plays it. */
  readonly persona: string | ((task: Task) => string);
  /** What only the user knows and tells when asked. Plain JSON. */
  readonly facts?: JsonObject | ((task: Task) => JsonObject);
  /** A script, or a model: `openai:URL#MODEL`, `vllm:URL#MODEL`, with the key in `OPENAI_API_KEY`. */
  readonly policy: string | UserScript<Task>;
  /** Of a model. Default: the server's own. At 0 equal conversations are answered once and kept. */
  readonly temperature?: number;
}

/** With a script or the address of a model. */
export interface SimulatedUser<Task = Json> {
  readonly model?: string;
  readonly temperature?: number;
  script?(turn: UserTurn<Task>): string | undefined | Promise<string | undefined>;
  persona(task: Task): string;
  facts(task: Task): JsonObject;
}

/**
 * A user for the episodes of an agent (`users` of `defineAgent`): it has the conversation that a person would have with the
 * agent. A script needs no model; `openai:URL#MODEL` asks one.
 *
 * Its words are calls of the episode by another player, and no loss reads them. Where it fails, the episode ends as
 * `failed:environment` and is not learned from.
 *
 * @example
 * const guest = simulateUser<{ nights: number }>({
 *   persona: 'You book a room by chat, in short sentences.',
 *   facts: ({ nights }) => ({ nights }),
 *   policy: ({ said, facts }) => (said === undefined ? 'a room please' : /nights/.test(said) ? `${facts.nights}` : undefined),
 * });
 * export const agent = defineAgent<{ nights: number }>({
 *   name: 'front-desk',
 *   tasks: [{ nights: 1 }, { nights: 2 }],
 *   users: { guest },
 *   run: async ({ task, user, baseURL, apiKey, model }) => {
 *     const opening = await user('guest').reply();
 *     const answer = await yourAgent(opening, { baseURL, apiKey, model });
 *     return { reward: (await user('guest').reply(answer)) === `${task.nights}` ? 1 : 0 };
 *   },
 * });
 *
 * @throws TurnwiseError `agent-invalid`
 */
export function simulateUser<Task extends JsonCompatible<Task> = Json>(
  definition: SimulatedUserDefinition<Task>,
): SimulatedUser<Task> {
  const { persona, facts = {}, policy, temperature } = definition;
  if (typeof persona !== 'string' && typeof persona !== 'function')
    throw invalid('persona', typeof persona, 'a text, or a function from the task to one');
  if (typeof facts !== 'object' && typeof facts !== 'function')
    throw invalid('facts', typeof facts, 'an object, or a function from the task to one');
  if (typeof policy !== 'function' && !/^(openai|vllm):https?:\/\//.test(String(policy)))
    throw invalid('policy', String(policy), 'a function, openai:URL#MODEL or vllm:URL#MODEL');
  if (temperature !== undefined && !(temperature >= 0))
    throw invalid('temperature', String(temperature), 'a number, at least 0');
  return {
    ...(typeof policy === 'string' ? { model: policy } : { script: policy }),
    ...(temperature !== undefined && { temperature }),
    persona: typeof persona === 'function' ? persona : () => persona,
    facts: typeof facts === 'function' ? facts : () => facts,
  };
}

function invalid(part: string, seen: string, allowed: string): TurnwiseError {
  return new TurnwiseError('agent-invalid', {
    what: `A simulated user cannot be used because of ${part}`,
    seen,
    allowed,
    next: 'See docs/train-your-agent.md',
  });
}
