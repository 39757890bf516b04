/** Episodes of an agent: its own code runs, the gateway answers and records, and what comes out is a trajectory. */

import { TurnwiseError } from '../../core/errors.ts';
import { findNonJson } from '../../core/json.ts';
import type { StopReason } from '../../core/stop.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import type { Agent, AgentResult } from '../../env/agent.ts';
import { AGENT } from '../../env/session.ts';
import { Boundary, EpisodeEnd } from '../../rollout/boundary.ts';
import type { EpisodeOptions, EpisodeRequest } from '../../rollout/episode.ts';
import type { ChatModel } from './chat-model.ts';
import type { Gateway } from './gateway.ts';
import type { GatewaySession } from './session.ts';
import { turnsOf } from './trajectories.ts';

export interface AgentEpisodesOptions {
  readonly agent: Agent;
  readonly gateway: Gateway;
  /** What answers the calls of an episode. */
  readonly model: (request: EpisodeRequest, options: EpisodeOptions) => ChatModel;
  readonly foreign?: readonly ChatModel[];
}

/**
 * Plays one episode of the agent. All its conversations become one trajectory, whose samples they are, so that each
 * episode counts once in its group and its reward is credited to all of them.
 */
export function agentEpisodes({
  agent,
  gateway,
  model,
  foreign = [],
}: AgentEpisodesOptions): (request: EpisodeRequest, options: EpisodeOptions) => Promise<Trajectory[]> {
  return async (request, options) => {
    const boundary = new Boundary(options.signal, options.watch);
    const chatModel = model(request, options);
    const session = gateway.open({
      name: request.id,
      seed: options.seed,
      model: chatModel,
      foreign,
      maxCalls: options.maxTurns,
      task: request.task,
    });
    let stop: StopReason = 'done';
    let failure: string | undefined;
    let result: Required<Pick<AgentResult, 'reward' | 'success'>> & AgentResult = {
      reward: 0,
      success: false,
    };
    try {
      result = await boundary.step(
        'environment',
        `running ${agent.name} on ${request.id}`,
        undefined,
        (signal) => run(agent, gateway, session, request, options.turnTimeoutMs, signal),
      );
    } catch (error) {
      if (!(error instanceof EpisodeEnd)) throw error;
      stop = error.stop;
      failure = error.message;
    } finally {
      boundary.close();
      gateway.end(session.id, { reward: result.reward, success: result.success });
    }
    const turns = turnsOf(session.record().calls);
    const last = turns.at(-1);
    if (last) {
      const info = {
        ...(last.info as object),
        ...(result.info === undefined ? {} : { result: result.info }),
      };
      turns[turns.length - 1] = { ...last, reward: result.reward, info };
    }
    return [
      {
        id: request.id,
        groupId: request.groupId,
        role: AGENT,
        policyVersion: chatModel.version,
        turns,
        stop,
        outcome: result.reward,
        success: result.success,
        ...(failure === undefined ? {} : { failure }),
      },
    ];
  };
}

async function run(
  agent: Agent,
  gateway: Gateway,
  session: GatewaySession,
  { id, task }: EpisodeRequest,
  idleLimitMs: number,
  cancelled: AbortSignal,
): Promise<Required<Pick<AgentResult, 'reward' | 'success'>> & AgentResult> {
  const over = new AbortController();
  const signal = AbortSignal.any([cancelled, over.signal]);
  const idle = watchIdleness(session, idleLimitMs, `${agent.name} on ${id}`);
  try {
    const result = await Promise.race([
      agent.run({
        task,
        baseURL: gateway.baseURL(session),
        apiKey: session.key,
        model: session.models[0]!.name,
        signal,
      }),
      idle.expired,
    ]);
    if (session.fault !== undefined) throw fault(session.fault);
    return checkResult(agent, result);
  } catch (error) {
    if (error instanceof EpisodeEnd) throw error;
    // What the agent says of a failed call is only its echo.
    if (session.fault !== undefined) throw fault(session.fault);
    const message = error instanceof Error ? error.message : String(error);
    if (session.overflowed) throw new EpisodeEnd('context-overflow', message, error);
    if (session.limited) throw new EpisodeEnd('turn-limit', message, error);
    throw error;
  } finally {
    idle.stop();
    over.abort();
  }
}

/** An error of our own says what it is, and may end the run; anything else is the policy's failure. */
function fault(error: unknown): unknown {
  if (TurnwiseError.isInstance(error)) return error;
  return new EpisodeEnd('failed:policy', error instanceof Error ? error.message : String(error), error);
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

function checkResult(
  agent: Agent,
  result: AgentResult,
): Required<Pick<AgentResult, 'reward' | 'success'>> & AgentResult {
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
  return { ...result, reward, success: result.success ?? reward > 0 };
}
