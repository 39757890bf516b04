/** An agent that plays one episode through a gateway. */

import { expect } from 'vitest';
import type { Episode, EpisodeKey } from '../../../core/episode.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import type { PromptRequest } from '../../../policy/policy.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import { unwatched } from '../../../rollout/watch.ts';
import type { ChatModel } from '../chat-model.ts';
import type { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { agentEpisodes } from './agent-episodes.ts';

const renderer = rendererOf('who is ada one two three');

export const key: EpisodeKey = {
  step: 1,
  environment: 'tested',
  split: 'train',
  task: 0,
  group: 2,
  member: 3,
};

/** One call of an agent. @throws Error with what the gateway says */
export async function ask(
  episode: AgentEpisode,
  content: string,
  before: object[] = [],
  more: object = {},
): Promise<string> {
  const response = await fetch(`${episode.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${episode.apiKey}` },
    body: JSON.stringify({ model: episode.model, messages: [...before, { role: 'user', content }], ...more }),
    signal: episode.signal,
  });
  const body = (await response.json()) as {
    choices: { message: { content: string } }[];
    error?: { message: string };
  };
  if (!response.ok) throw new Error(body.error?.message);
  return body.choices[0]!.message.content;
}

/** The episode that an agent plays; the policy says `one two`. */
export async function playAgent(
  gateway: Gateway,
  run: AgentDefinition['run'],
  options: {
    readonly say?: (request: PromptRequest) => string | Promise<string>;
    readonly maxTurns?: number;
    readonly turnTimeoutMs?: number;
    readonly contextLength?: number;
    readonly signal?: AbortSignal;
    /** What the agent may ask besides. */
    readonly foreign?: readonly ChatModel[];
  } = {},
): Promise<Episode> {
  const agent = defineAgent({ name: 'tested', tasks: () => [1], run });
  const policy = scriptedTokens(renderer, options.say ?? (() => 'one two'));
  const episode = agentEpisodes({
    agent,
    gateway,
    model: (_request, { contextLength, sampling }) =>
      policyModel({ policy, renderer, contextLength, sampling }),
    ...(options.foreign && { foreign: options.foreign }),
  });
  const played = await episode(
    { key, task: 1 },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: options.maxTurns ?? 8,
      contextLength: options.contextLength ?? 64,
      turnTimeoutMs: options.turnTimeoutMs ?? 5000,
      seed: 1,
      signal: options.signal ?? new AbortController().signal,
      watch: unwatched,
    },
  );
  expect(gateway.sessions).toEqual([]);
  return played;
}
