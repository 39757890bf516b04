/** Episodes of an agent: its own code runs, and the gateway answers and records what becomes of it. */

import type { Episode, EpisodeKey, Role } from '../../../core/episode.ts';
import { keyParts, keyText } from '../../../core/episode-key.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { findNonJson, type Json } from '../../../core/json/json.ts';
import type { Message } from '../../../core/messages.ts';
import { valueText } from '../../../core/safe-text.ts';
import { followSignals } from '../../../core/signals/followed-signal.ts';
import type { StopReason } from '../../../core/stop.ts';
import type { Agent, AgentResult } from '../../../env/agent.ts';
import { checkedMetrics } from '../../../env/scores/metrics.ts';
import { Boundary, EpisodeEnd, endsRun } from '../../../rollout/boundary.ts';
import type { EpisodeOptions } from '../../../rollout/episode.ts';
import type { ChatModel } from '../chat-model.ts';
import type { Gateway } from '../gateway.ts';
import type { GatewaySession } from '../session/session.ts';
import { episodeOf, seatsOf } from '../session/session-record.ts';
import { failureOf, faultOf, InvalidAction, Stopped } from './agent-failure.ts';
import { AgentTurns } from './agent-turns.ts';
import { type UserModels, userModels, usersOf } from './user-model.ts';

export interface AgentEpisodeRequest {
  readonly key: EpisodeKey;
  readonly task: Json;
  /** Names its random streams in place of its own key. */
  readonly drawsAs?: EpisodeKey;
  /** An instruction: messages that its first act reads besides what the agent sends. */
  readonly say?: readonly Message[];
}

/** What an agent's episode reads of the rollout's settings. */
export type AgentEpisodeOptions = Pick<
  EpisodeOptions,
  | 'sampling'
  | 'constrained'
  | 'context'
  | 'maxTurns'
  | 'turns'
  | 'contextLength'
  | 'turnTimeoutMs'
  | 'seed'
  | 'signal'
  | 'watch'
  | 'onCall'
>;

export interface AgentEpisodesOptions {
  readonly agent: Agent;
  readonly gateway: Gateway;
  /** What answers the calls of an episode; of an agent with several roles, those of one of them. Asked for each. */
  readonly model: (request: AgentEpisodeRequest, options: AgentEpisodeOptions, role: Role) => ChatModel;
  readonly foreign?: readonly ChatModel[];
  /** What plays the agent's simulated users. Default: what they name, uncounted. */
  readonly users?: UserModels;
}

type Result = Required<Pick<AgentResult, 'reward' | 'success'>> & AgentResult;

/**
 * Plays one episode of the agent. All its conversations are calls of one episode, which counts once in its group and whose
 * reward is credited to all of them.
 */
export function agentEpisodes({
  agent,
  gateway,
  model,
  foreign = [],
  users = userModels(agent),
}: AgentEpisodesOptions): (request: AgentEpisodeRequest, options: AgentEpisodeOptions) => Promise<Episode> {
  return async (request, options) => {
    const { key, task, drawsAs = key, say } = request;
    const { turns: rules, maxTurns, onCall } = options;
    const boundary = new Boundary(options.signal, options.watch);
    const [first, ...others] = agent.roles.map((role) => model(request, options, role)) as [
      ChatModel,
      ...ChatModel[],
    ];
    const { version } = first;
    const seats = seatsOf([first, ...others]);
    const turns = new AgentTurns({
      key,
      task,
      limit: maxTurns,
      ...(rules && { rules }),
      ...(say && { say }),
    });
    const session = gateway.open({
      name: keyText(key),
      seed: [options.seed, ...keyParts(drawsAs)].join('/'),
      model: first,
      ...(others.length > 0 && { seats: others }),
      foreign: [...foreign, ...users(task)],
      maxCalls: maxTurns,
      context: options.context,
      control: turns,
      task,
      split: key.split,
      ...(onCall && { onCall: (call) => onCall(call, key) }),
    });
    let stop: StopReason = 'done';
    let failure: string | undefined;
    let result: Result = { reward: 0, success: false };
    try {
      result = await boundary.step(
        'environment',
        `running ${agent.name} on ${keyText(key)}`,
        undefined,
        (signal) => run(agent, gateway, session, request, options.turnTimeoutMs, signal),
        // The agent's code is a stranger's, and what it throws ends no run, even where it looks like an error of ours.
        false,
      );
    } catch (error) {
      if (endsRun(session.fault)) throw session.fault;
      if (!(error instanceof EpisodeEnd)) throw error;
      stop = error.stop;
      failure = error.message;
      if (error instanceof InvalidAction || error instanceof Stopped)
        result = { reward: error.reward, success: false };
    } finally {
      boundary.close();
      gateway.end(session.id, result);
    }
    const record = session.record();
    return episodeOf(record, {
      key,
      version,
      seats,
      ...(failure === undefined ? turns.end(record, result.success) : { stop, failure }),
    });
  };
}

async function run(
  agent: Agent,
  gateway: Gateway,
  session: GatewaySession,
  { key, task }: AgentEpisodeRequest,
  idleLimitMs: number,
  cancelled: AbortSignal,
): Promise<Result> {
  const over = new AbortController();
  const { signal, release } = followSignals([cancelled, over.signal]);
  const idle = watchIdleness(session, idleLimitMs, `${agent.name} on ${keyText(key)}`);
  let result: AgentResult;
  try {
    result = await Promise.race([
      agent.run({
        task,
        baseURL: gateway.baseURL(session),
        anthropicBaseURL: gateway.anthropicBaseURL(session),
        apiKey: session.key,
        model: session.models[0]!.name,
        user: usersOf(agent, task, gateway, session, signal),
        signal,
        reward: (value, options) => session.rewards.add(value, options?.call),
      }),
      idle.expired,
    ]);
  } catch (error) {
    throw failureOf(error, session);
  } finally {
    idle.stop();
    over.abort();
    release();
  }
  if (session.fault !== undefined) throw faultOf(session.fault);
  return checkResult(agent, result);
}

/** Within the longest idleness. */
const LOOKS = 10;

/**
 * Ends the episode when the agent, with no call under way, neither makes one nor comes to an end. Time in which the whole
 * process stood still (a machine asleep or too busy) is not the agent's: a look that comes late counts as one that does not.
 */
function watchIdleness(
  session: GatewaySession,
  limitMs: number,
  what: string,
): { readonly expired: Promise<never>; stop(): void } {
  const everyMs = Math.max(1, limitMs / LOOKS);
  let timer: NodeJS.Timeout | undefined;
  let looks = 0;
  let activeMs = session.lastActiveMs;
  const expired = new Promise<never>((_, reject) => {
    const look = (): void => {
      looks = session.running > 0 || session.lastActiveMs !== activeMs ? 0 : looks + 1;
      activeMs = session.lastActiveMs;
      if (looks >= LOOKS) {
        reject(new EpisodeEnd('timeout', `${what} did nothing for ${limitMs} ms`));
        return;
      }
      timer = setTimeout(look, everyMs);
    };
    timer = setTimeout(look, everyMs);
  });
  expired.catch(() => {});
  return { expired, stop: () => clearTimeout(timer) };
}

function checkResult(agent: Agent, result: AgentResult): Result {
  const reward: unknown = result?.reward;
  if (typeof reward !== 'number' || !Number.isFinite(reward)) {
    throw new TurnwiseError('reward-not-finite', {
      what: `The agent "${agent.name}" returned no usable reward`,
      seen: reward === undefined ? 'nothing' : String(reward),
      allowed: '{ reward: a finite number, success?, info? }',
      fields: { environment: agent.name },
    });
  }
  const odd = result.info === undefined ? undefined : findNonJson(result.info);
  if (odd !== undefined) {
    throw new TurnwiseError('agent-invalid', {
      what: `The agent "${agent.name}" returned info that is not plain JSON`,
      seen: `at ${odd}`,
      next: 'Return strings, numbers, booleans, null, lists and plain objects',
      fields: { environment: agent.name },
    });
  }
  const { success = reward > 0, metrics, info } = result;
  return {
    reward,
    ...(result.rewards !== undefined && { rewards: checkRewards(agent, result.rewards) }),
    success,
    ...(metrics !== undefined && { metrics: checkedMetrics(`Agent "${agent.name}"`, metrics) }),
    ...(info !== undefined && { info }),
  };
}

/** @throws TurnwiseError `reward-not-finite` for roles that the agent does not have, and for what is no finite number */
function checkRewards(agent: Agent, rewards: unknown): Readonly<Record<Role, number>> {
  const given = typeof rewards === 'object' && rewards !== null ? rewards : { rewards };
  const odd = Object.entries(given).find(
    ([role, value]) => !agent.roles.includes(role) || !Number.isFinite(value),
  );
  if (odd === undefined) return given as Readonly<Record<Role, number>>;
  throw new TurnwiseError('reward-not-finite', {
    what: `The agent "${agent.name}" returned rewards of roles that cannot be used`,
    seen: `${odd[0]}: ${valueText(odd[1])}`,
    allowed: `a finite number for each of ${agent.roles.join(', ')}`,
    fields: { environment: agent.name },
  });
}
