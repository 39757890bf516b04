/** Evaluation and collection with a model elsewhere (`--policy openai:URL`), in place of one trained here. */

import type { Author } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import type { Agent } from '../../env/agent.ts';
import type { World } from '../../env/world.ts';
import { noIds } from '../../model/chat/renderer.ts';
import { Lockstep } from '../../policy/lockstep.ts';
import type { Policy } from '../../policy/policy.ts';
import { scriptedPolicy } from '../../policy/scripted.ts';
import { seatedPolicy } from '../../policy/seated.ts';
import type { CollectOptions } from '../../rollout/collect.ts';
import { fullContext } from '../../rollout/context/contexts.ts';
import { unwatched } from '../../rollout/watch.ts';
import { readChatCall } from '../../server/gateway/call-request.ts';
import type { ChatModel } from '../../server/gateway/chat-model.ts';
import { POLICY_NAME } from '../../server/gateway/policy-model.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { parseUpstream, upstreamModel } from '../../server/gateway/upstream/upstream-model.ts';
import { usersOfWorld } from '../players/user-player.ts';
import { openAgentRun } from './agent-run.ts';
import { askElsewhere } from './ask-model.ts';

export interface BlackBox {
  readonly options: CollectOptions;
  /** Names the model in what is recorded of it. */
  readonly by: string;
  close(): Promise<void>;
}

/**
 * How a world is played by the server that `policy` names; the key comes from OPENAI_API_KEY.
 *
 * @throws TurnwiseError `policy-unknown`
 */
export async function openBlackBox(
  world: World,
  policy: string,
  limits: {
    readonly concurrency: number;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    /** Counts its calls, and those to other models that an agent asks. */
    readonly meter?: SpendMeter;
  },
): Promise<BlackBox> {
  const { meter = new SpendMeter() } = limits;
  const upstream = parseUpstream(policy, POLICY_NAME, process.env.OPENAI_API_KEY);
  const model = meter.metered(upstreamModel(upstream));
  const agentRun = world.agent && (await openAgentRun(world.agent, meter));
  return {
    options: {
      ...withoutTokens(world, limits),
      policy: seatedPolicy(messagePolicy(model), usersOfWorld(world, meter)),
      ...(world.users && { counts: (role) => !Object.hasOwn(world.users!, role) }),
      ...(agentRun && { play: agentRun.playBlackBox(model) }),
      askModel: askElsewhere(meter),
    },
    by: model.author.name,
    close: async () => agentRun?.close(),
  };
}

/** How an agent is played by the expert that it has of its own; undefined where it has none. */
export async function openTeacher(
  world: World & { readonly agent: Agent },
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<BlackBox | undefined> {
  if (world.agent.demonstrate === undefined) return undefined;
  const agentRun = await openAgentRun(world.agent);
  return {
    options: {
      ...withoutTokens(world, { ...limits, concurrency: 1 }),
      policy: scriptedPolicy(world, { player: () => 'expert', randomRate: 0 }),
      play: agentRun.demonstrations({ seed: 1, clone: { beginnerShare: 0 } }),
      askModel: askElsewhere(),
    },
    by: 'its teacher',
    close: () => agentRun.close(),
  };
}

/** What is played with where nobody knows tokens. */
function withoutTokens(
  world: World,
  limits: { readonly concurrency: number; readonly timeoutMs: number; readonly signal: AbortSignal },
): Omit<CollectOptions, 'policy'> {
  return {
    world,
    renderer: noIds,
    context: fullContext,
    sampling: { temperature: 1, topP: 1, topK: 0 },
    maxTurns: world.maxTurns,
    contextLength: Number.POSITIVE_INFINITY,
    turnTimeoutMs: limits.timeoutMs,
    seed: 1,
    signal: limits.signal,
    watch: unwatched,
    batching: new Lockstep(),
    concurrency: limits.concurrency,
  };
}

/** A model that reads messages, as the policy of an environment: the answer's text is the turn. */
export function messagePolicy(model: ChatModel): Policy {
  return {
    author: authorOf(model),
    complete: async ({ messages, sampling, signal, conversation, seedKey }) => {
      const call = readChatCall({
        model: model.name,
        messages: messages.map(({ role, content }) => ({ role, content })),
        temperature: sampling.temperature,
      });
      const answer = await model.answer({
        call,
        conversation,
        seedKey,
        contentKey: seedKey,
        promptIds: new Int32Array(),
        signal,
      });
      const { content } = answer.reply;
      return {
        ids: new Int32Array(),
        logprobs: new Float32Array(),
        text: content,
        finish: 'none',
        by: authorOf(model),
        trainable: 'other-model',
      };
    },
  };
}

const authorOf = ({ name, version }: ChatModel): Author => ({ kind: 'model', name, version });

export function runsHere(world: World, name: string): TurnwiseError {
  return new TurnwiseError('policy-missing', {
    what: `${name} names a task, not a trained agent`,
    seen: `no --policy, and no run of ${world.name}`,
    allowed: 'the name of a run; or --policy openai:URL or --policy vllm:URL',
    next: `Train it first with: turnwise train ${name}`,
    fields: { environment: world.name },
  });
}
