/** Episodes of the support desk with a policy that says what it is told, in the form of a pretrained model: of every SDK. */

import { expect } from 'vitest';
import { type Request, requestsOf } from '../examples/agents/support-desk/customers.ts';
import { FILING } from '../examples/agents/support-desk/rules.ts';
import { teach } from '../examples/agents/support-desk/teacher.ts';
import type { Episode } from '../src/core/episode.ts';
import type { Message } from '../src/core/messages.ts';
import { Rng } from '../src/core/rng.ts';
import { isTrainable } from '../src/core/stop.ts';
import type { Agent } from '../src/env/agent.ts';
import { fullContext } from '../src/rollout/context/contexts.ts';
import { unwatched } from '../src/rollout/watch.ts';
import { agentEpisodes } from '../src/server/gateway/agents/agent-episodes.ts';
import type { Gateway } from '../src/server/gateway/gateway.ts';
import { policyModel } from '../src/server/gateway/policy-model.ts';
import { callText, renderer } from '../src/server/gateway/testing/dialect-client.ts';
import { type ScriptedTokens, scriptedTokens } from '../src/server/gateway/testing/scripted-policy.ts';

export interface Played {
  readonly episode: Episode;
  readonly policy: ScriptedTokens;
}

/** What the policy says after these messages. */
export type Says = (messages: readonly Message[], task: Request) => string;

export async function playDesk(agent: Agent, gateway: Gateway, index: number, says: Says): Promise<Played> {
  const task = requestsOf('test')[index]!;
  const policy = scriptedTokens(renderer, ({ messages }) => says(messages, task));
  const model = policyModel({ policy, renderer, contextLength: 8192 });
  const episode = await agentEpisodes({ agent, gateway, model: () => model })(
    {
      key: { step: 1, environment: agent.name, split: 'test', task: index, group: index, member: 0 },
      task: agent.tasks('test').at(index),
    },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: agent.maxCalls,
      contextLength: 8192,
      turnTimeoutMs: 20_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
  return { episode, policy };
}

const files = (messages: readonly Message[]): boolean => messages[0]!.content.includes(FILING);

/** The expert of the desk. */
export const expert: Says = (messages, task) => {
  const tools = files(messages) ? [] : ['find_order'];
  const { content = '', toolCalls = [] } = teach({
    task,
    messages,
    tools,
    role: 'agent',
    player: 'expert',
    rng: Rng.of('expert'),
  });
  return (
    content + toolCalls.map(({ name, arguments: given }) => callText(name, JSON.stringify(given))).join('\n')
  );
};

/** The expert, but for its first words, or its first answer to the customer. */
const first =
  (step: 'filing' | 'answer', text: string): Says =>
  (messages, task) => {
    const starts = !messages.some(({ role }) => role === 'assistant');
    return starts && files(messages) === (step === 'filing') ? text : expert(messages, task);
  };

/** Mistakes of a policy's own, each made once or to the end. */
export const mistakes: readonly (readonly [string, Says])[] = [
  ['a filing of another form', first('filing', 'a refund please')],
  ['a filing of another kind', first('filing', '{"kind": "praise"}')],
  [
    'words beside the filing',
    first('filing', `Let me look. ${callText('find_order', '{"item": "kettle"}')}`),
  ],
  ['an unknown tool', first('answer', callText('give_discount', '{"item": "kettle"}'))],
  ['an unknown order', first('answer', callText('refund', '{"item": "yacht"}'))],
  ['a missing argument', first('answer', callText('refund', '{}'))],
  ['an argument of another type', first('answer', callText('refund', '{"item": 7}'))],
  [
    'an argument that is none of those allowed',
    first('answer', callText('escalate', '{"item": "kettle", "reason": "bored"}')),
  ],
  ['arguments that are not JSON', first('answer', callText('refund', '{"item": '))],
  ['a call that is cut', first('answer', callText('refund', `{"item": "${'amber '.repeat(400)}"}`))],
  ['words that are cut', first('answer', 'so '.repeat(400))],
  ['no words', first('answer', '')],
  [
    'the same call without end',
    (messages, task) =>
      files(messages) ? expert(messages, task) : callText('find_order', JSON.stringify({ item: task.item })),
  ],
  ['words without sense, without end', () => 'well well'],
];

/** What holds of every SDK. */
export async function holds(agent: Agent, gateway: Gateway): Promise<void> {
  let parallel = 0;
  // Every situation twice.
  for (let index = 0; index < 10; index++) {
    const { episode, policy } = await playDesk(agent, gateway, index, expert);
    expect([episode.failure ?? episode.stop, episode.outcome.agent]).toEqual(['done', 1]);
    kept(episode, policy);
    parallel += episode.calls.filter(({ reply }) => (reply?.toolCalls.length ?? 0) > 1).length;
    const users = episode.calls.filter(({ purpose }) => purpose === 'consult');
    expect(users.length).toBeGreaterThan(1);
    for (const { by, trainable } of users)
      expect([by.kind, by.name, trainable]).toEqual(['script', 'customer', 'other-model']);
  }
  expect(parallel).toBeGreaterThan(0);
}

/** No mistake of the policy voids an episode. @returns how each ended */
export async function forgives(agent: Agent, gateway: Gateway): Promise<Record<string, string>> {
  const ends: Record<string, string> = {};
  for (const [name, says] of mistakes) {
    const { episode, policy } = await playDesk(agent, gateway, 0, says);
    expect([name, episode.failure, isTrainable(episode.stop)]).toEqual([name, episode.failure, true]);
    kept(episode, policy);
    ends[name] = `${episode.stop} ${episode.outcome.agent}`;
  }
  return ends;
}

/** Every sampled token is in a trained call. */
function kept({ calls }: Episode, policy: ScriptedTokens): void {
  const sampled = [...policy.sampled.values()].map((ids) => ids.join());
  const trained = calls.filter(({ trainable }) => trainable === true).map(({ ids }) => [...ids].join());
  expect(trained.sort()).toEqual(sampled.sort());
}
