/**
 * Agents' episodes as trajectories, for a rollout that still asks for those: each sequence of calls that extend one another
 * is a run of turns, with its whole prompt as the first one's context. To go when the rollout keeps episodes.
 */

import type { Call, Episode, EpisodeKey } from '../../core/episode.ts';
import type { Json } from '../../core/json.ts';
import { assistant, type Message } from '../../core/messages.ts';
import type { Trajectory, Turn } from '../../core/trajectory.ts';
import { AGENT } from '../../env/session.ts';
import type { Play } from '../../rollout/collect.ts';
import type { EpisodeRequest } from '../../rollout/episode.ts';
import type { AgentEpisodeOptions, AgentEpisodeRequest } from './agent-episodes.ts';
import { joined } from './token-paths.ts';

export type KeyedRequest = EpisodeRequest & AgentEpisodeRequest;

export function asPlay(
  environment: string,
  play: (request: KeyedRequest, options: AgentEpisodeOptions) => Promise<Episode>,
): Play {
  return async (request, options) => {
    const episode = await play({ ...request, key: keyOf(environment, request) }, options);
    return [trajectoryOf(episode, request)];
  };
}

/** Names such as `12/3/0` or `test/3/0` say step, group and member; the rest of them names the task. */
function keyOf(environment: string, { id, groupId }: EpisodeRequest): EpisodeKey {
  const [member = 0, group = 0, step = 0] = id.split('/').map(Number).reverse();
  const whole = (part: number): number => (Number.isInteger(part) ? part : 0);
  return {
    step: whole(step),
    environment,
    split: 'train',
    task: groupId,
    group: whole(group),
    member: whole(member),
  };
}

export function trajectoryOf(
  episode: Episode,
  { id, groupId }: { readonly id: string; readonly groupId: string },
): Trajectory {
  const { stop, failure, seats } = episode;
  return {
    id,
    groupId,
    role: AGENT,
    policyVersion: seats[AGENT]?.version ?? 0,
    turns: turnsOf(episode),
    stop,
    outcome: episode.outcome[AGENT] ?? 0,
    success: episode.success[AGENT] ?? false,
    ...(failure !== undefined && { failure }),
  };
}

interface Seen {
  readonly path: Int32Array;
  readonly messages: readonly Message[];
}

function turnsOf({ calls, transitions }: Episode): Turn[] {
  const closing = new Map(transitions.map((transition) => [transition.call, transition]));
  const seen = new Map<number, Seen>();
  const chains = new Map<number, Turn[]>();
  const all: Turn[][] = [];
  for (const call of calls) {
    const before = call.parent === undefined ? undefined : seen.get(call.parent);
    const prompt = joined((before?.path ?? new Int32Array()).slice(0, call.kept), call.context);
    const messages = call.parts
      ? (call.parts as readonly Message[])
      : [...(before?.messages ?? []), ...call.messages];
    seen.set(call.id, { path: joined(prompt, call.ids), messages: [...messages, assistant(call.text)] });
    const open = call.parent !== undefined && call.kept === undefined ? chains.get(call.parent) : undefined;
    if (open) chains.delete(call.parent!);
    const chain = open ?? [];
    if (!open) all.push(chain);
    chains.set(call.id, chain);
    const { anchor = '', valid = true, rewards = {}, notes, environmentMs = 0 } = closing.get(call.id) ?? {};
    chain.push({
      kind: 'act',
      anchor,
      messages: open ? call.messages : messages,
      contextIds: [...(open ? call.context : prompt)],
      extendsPrevious: open !== undefined,
      ids: [...call.ids],
      logprobs: [...call.logprobs],
      sampled: call.trainable === true,
      ...(call.trainable !== true && { untrainable: call.trainable }),
      text: call.text,
      finish: call.finish,
      reward: rewards[AGENT] ?? 0,
      valid,
      info: infoOf(call, notes?.info),
      policyMs: call.policyMs,
      environmentMs,
    });
  }
  return all.flat();
}

function infoOf({ id, by, problem }: Call, result: Json | undefined): Json {
  return {
    call: id,
    model: by.name,
    ...(problem !== undefined && { problem }),
    ...(result !== undefined && { result }),
  };
}
