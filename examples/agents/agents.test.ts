/** Every example agent runs, with its own client, against the gateway; what it did is recorded as it would be trained. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Call, Episode } from '../../src/core/episode.ts';
import type { Rng } from '../../src/core/rng.ts';
import { messageText, writeReply } from '../../src/core/word-reply.ts';
import type { Agent } from '../../src/env/agent.ts';
import type { ConversationRenderer, Reply } from '../../src/model/chat/conversation.ts';
import { pretrainedConversation } from '../../src/model/chat/pretrained-conversation.ts';
import { CHAT_WORDS, wordChatRenderer } from '../../src/model/chat/word-chat.ts';
import { parityLanguage } from '../../src/model/testing/parity-data.ts';
import { WordTokenizer } from '../../src/model/tokenizer/word-tokenizer.ts';
import { fullContext } from '../../src/rollout/context/contexts.ts';
import { unwatched } from '../../src/rollout/watch.ts';
import { agentEpisodes } from '../../src/server/gateway/agents/agent-episodes.ts';
import type { ChatModel } from '../../src/server/gateway/chat-model.ts';
import { Gateway } from '../../src/server/gateway/gateway.ts';
import { policyModel } from '../../src/server/gateway/policy-model.ts';
import { teacherModel } from '../../src/server/gateway/teacher-model.ts';
import { promptsOf } from '../../src/server/gateway/testing/rebuild.ts';
import { type ScriptedTokens, scriptedTokens } from '../../src/server/gateway/testing/scripted-policy.ts';
import { agent as aiSdk } from './ai-sdk.ts';
import { agent as aiSdkStream } from './ai-sdk-stream.ts';
import { agent as coder } from './coder/agent.ts';
import { agent as mcp } from './mcp.ts';
import { agent as openaiClient } from './openai-client.ts';

const agents = [aiSdk, aiSdkStream, openaiClient, mcp, coder] as unknown as Agent[];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(async () => {
  await gateway.stop();
  for (const agent of agents) await agent.close?.();
});

async function play(agent: Agent, index: number, model: ChatModel): Promise<Episode> {
  const task = agent.tasks('train').at(index);
  return agentEpisodes({ agent, gateway, model: () => model })(
    { key: { step: 0, environment: agent.name, split: 'train', task: index, group: index, member: 0 }, task },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 20,
      contextLength: 256,
      turnTimeoutMs: 20_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

const extending = ({ parent, kept }: Call): boolean => parent !== undefined && kept === undefined;

const teacher = (agent: Agent, index: number): ChatModel =>
  teacherModel(agent.demonstrate!, agent.tasks('train').at(index), 'expert', `example/${index}`);

/** A policy that says, token by token, what the teacher says where it makes no mistakes. */
function knowing(
  agent: Agent,
  renderer: ConversationRenderer,
  write: (reply: Reply) => string,
): ScriptedTokens {
  const task = agent.tasks('train').at(1);
  const sure = { chance: () => false } as unknown as Rng;
  return scriptedTokens(renderer, async ({ messages }) => {
    const answer = await agent.demonstrate!({
      task,
      messages,
      tools: [],
      role: 'agent',
      player: 'expert',
      rng: sure,
    });
    return write({ content: '', toolCalls: [], ...answer });
  });
}

const language = await parityLanguage('tokenizer-qwen');
const pretrained = pretrainedConversation(language, { maxTurnTokens: 256 });

describe.each(agents.map((agent) => [agent.name, agent] as const))('%s', (_name, agent) => {
  test('is taught through the gateway', async () => {
    const episodes: Episode[] = [];
    for (let index = 0; index < 8; index++) episodes.push(await play(agent, index, teacher(agent, index)));
    expect(episodes.map(({ stop, failure }) => failure ?? stop)).toEqual(episodes.map(() => 'done'));
    expect(episodes.filter(({ success }) => success.agent).length).toBeGreaterThanOrEqual(3);
    const calls = episodes.flatMap((episode) => episode.calls);
    expect(calls.some(({ text }) => text.startsWith('<call> '))).toBe(true);
    expect(new Set(calls.map(({ trainable }) => trainable))).toEqual(new Set(['scripted']));
    expect(calls[0]).toMatchObject({ by: { kind: 'script', name: 'expert', version: 0 }, finish: 'none' });
  });

  test('acts by sampled tokens, which are trained exactly as they were sampled', async () => {
    const taught = await play(agent, 1, teacher(agent, 1));
    const texts = taught.calls.flatMap((call) => [call.text, ...call.messages.map(messageText)]);
    const renderer = wordChatRenderer(WordTokenizer.fromTexts([...CHAT_WORDS, ...texts]), 16);
    const policy = knowing(agent, renderer, writeReply);
    const acted = await play(agent, 1, policyModel({ policy, renderer, contextLength: 256 }));
    expect(acted).toMatchObject({ stop: 'done', outcome: { agent: 1 }, success: { agent: true } });
    // Every call goes on from another token for token, or begins a conversation.
    expect(acted.calls.filter((call) => !extending(call)).every(({ parent }) => parent === undefined)).toBe(
      true,
    );
    expect(acted.calls.map(({ ids }) => [...ids])).toEqual(
      acted.calls.map(({ text }) => renderer.completionIds(text)),
    );
    const prompts = promptsOf(acted.calls);
    const asked = policy.requests.map(({ append }) => [...append].join());
    expect(acted.calls.map(({ id }) => prompts.get(id)!.join()).sort()).toEqual(asked.sort());
    expect(acted.transitions).toHaveLength(acted.calls.length);
    expect(acted.transitions.at(-1)!.rewards).toEqual({ agent: 1 });
  });

  test('acts through the chat template of a pretrained model, in that model’s own form of calls', async () => {
    const policy = knowing(agent, pretrained, ({ content, toolCalls }) =>
      [content, ...toolCalls.map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`)].join(''),
    );
    const acted = await play(agent, 1, policyModel({ policy, renderer: pretrained, contextLength: 8192 }));
    expect(acted).toMatchObject({ stop: 'done', outcome: { agent: 1 }, success: { agent: true } });
    const first = acted.calls[0]!;
    const second = acted.calls.find(extending)!;
    expect(language.tokenizer.decode([...first.context])).toMatch(
      /<tools>[\s\S]*"name"[\s\S]*<\|im_start\|>user/,
    );
    expect(language.tokenizer.decode([...second.context])).toContain('<tool_response>');
    expect(acted.calls.map(({ ids }) => [...ids])).toEqual(
      acted.calls.map(({ text }) => pretrained.completionIds(text)),
    );
  });
});
