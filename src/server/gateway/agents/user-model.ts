/** What plays a simulated user in an agent's episodes: a script, or a model elsewhere. Its failures are the environment's. */

import { TurnwiseError } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/json.ts';
import type { Message } from '../../../core/messages.ts';
import { Rng } from '../../../core/rng.ts';
import { thrownText, valueText } from '../../../core/safe-text.ts';
import type { Agent } from '../../../env/agent.ts';
import type { SimulatedUser } from '../../../env/user/simulate-user.ts';
import { END_MARK, GREETING, talkWith, type UserInEpisode } from '../../../env/user/talk.ts';
import { badRequest } from '../api-error.ts';
import { readChatCall, requestedSampling } from '../call-request.ts';
import type { ChatModel, ModelAnswer, ModelRequest } from '../chat-model.ts';
import type { Gateway } from '../gateway.ts';
import type { GatewaySession } from '../session/session.ts';
import { SpendMeter } from '../spend.ts';
import { parseUpstream, upstreamModel } from '../upstream/upstream-model.ts';

/** The users of an agent in an episode on a task. */
export type UserModels = (task: Json) => readonly ChatModel[];

/**
 * @param meter counts the calls to models elsewhere
 * @throws TurnwiseError `policy-unknown`
 */
export function userModels(
  { users }: Pick<Agent, 'users'>,
  meter: SpendMeter = new SpendMeter(),
): UserModels {
  const makers = Object.entries(users).map(([name, user]) => {
    if (user.model === undefined) return (task: Json) => owningFailures(scriptModel(name, user, task));
    const upstream = upstreamModel(parseUpstream(user.model, name, process.env.OPENAI_API_KEY));
    const model = owningFailures(meter.metered(upstream));
    return () => model;
  });
  return (task) => makers.map((make) => make(task));
}

/** The conversations of an agent's users in one episode. */
export function usersOf(
  { users, name: agent }: Pick<Agent, 'users' | 'name'>,
  task: Json,
  gateway: Gateway,
  session: GatewaySession,
  signal: AbortSignal,
): (name: string) => UserInEpisode {
  const talks = new Map(
    Object.entries(users).map(([name, user]) => {
      const ask = async (messages: readonly Message[]): Promise<string> => {
        const { temperature } = user;
        const said = messages.map(({ role, content }) => ({ role, content }));
        const call = readChatCall({
          model: name,
          messages: said,
          ...(temperature !== undefined && { temperature }),
        });
        session.came();
        const [choice] = await gateway.call(session.id, call, signal);
        return choice!.message.content;
      };
      return [name, talkWith(user, task, ask)] as const;
    }),
  );
  return (name) => {
    const talk = talks.get(name);
    if (talk) return talk;
    throw new TurnwiseError('agent-invalid', {
      what: `The agent "${agent}" has no simulated user of this name`,
      seen: name,
      allowed: [...talks.keys()].join(', ') || 'none: defineAgent has no users',
      next: 'Define it with users: { NAME: simulateUser({ … }) }',
    });
  };
}

function scriptModel(name: string, user: SimulatedUser, task: Json): ChatModel {
  return {
    name,
    version: 0,
    author: { kind: 'script', name },
    samplesAsConfigured: true,
    answer: async ({ call, seedKey }) => {
      if (call.kind === 'text') throw badRequest('unsupported_parameter', 'A script reads messages only.');
      const last = call.messages.at(-1)?.content;
      const turn = call.messages.filter(({ role }) => role === 'assistant').length;
      const words: unknown = await user.script?.({
        task,
        facts: user.facts(task),
        said: turn === 0 && last === GREETING ? undefined : last,
        turn,
        messages: call.messages,
        rng: Rng.of('user', name, seedKey),
      });
      if (words !== undefined && typeof words !== 'string')
        throw new TypeError(`it said ${valueText(words)}, not a text`);
      const text = words ?? END_MARK;
      return {
        reply: { content: text, toolCalls: [] },
        text,
        finish: 'stop',
        promptIds: new Int32Array(),
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        tokens: { prompt: 0, completion: 0 },
        sampling: requestedSampling(call),
      };
    },
  };
}

/** The same model, whose failures belong to the environment: the policy did not choose who plays its user. */
function owningFailures(model: ChatModel): ChatModel {
  return { ...model, answer: (request) => answered(model, request) };
}

async function answered(model: ChatModel, request: ModelRequest): Promise<ModelAnswer> {
  let answer: ModelAnswer;
  try {
    answer = await model.answer(request);
  } catch (error) {
    const limited = TurnwiseError.isInstance(error) && error.code === 'spend-limit';
    if (limited || request.signal.aborted) throw error;
    throw failed(model, thrownText(error), error);
  }
  if (answer.text.trim() === '') throw failed(model, 'an empty answer');
  return answer;
}

function failed({ name }: ChatModel, seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('user-failed', {
    what: `The simulated user "${name}" did not answer`,
    seen,
    next: 'Check its script, or the URL, key and name of its model; the episode is not learned from',
    fields: { origin: 'environment' },
    ...(cause !== undefined && { cause }),
  });
}
