/** Every example agent runs, with its own client, against the gateway; what it did is recorded as it would be trained. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Rng } from '../../src/core/rng.ts';
import { buildSamples } from '../../src/core/sample.ts';
import type { Trajectory } from '../../src/core/trajectory.ts';
import type { Agent } from '../../src/env/agent.ts';
import { fromAgent } from '../../src/env/from-agent.ts';
import type { ConversationRenderer, Reply } from '../../src/model/conversation.ts';
import { pretrainedConversation } from '../../src/model/pretrained-conversation.ts';
import { parityLanguage } from '../../src/model/testing/parity-data.ts';
import { CHAT_WORDS, messageText, wordChatRenderer, writeReply } from '../../src/model/word-chat.ts';
import { WordTokenizer } from '../../src/model/word-tokenizer.ts';
import { fullContext } from '../../src/rollout/context.ts';
import { unwatched } from '../../src/rollout/watchdog.ts';
import { agentEpisodes } from '../../src/server/gateway/agent-episodes.ts';
import type { ChatModel } from '../../src/server/gateway/chat-model.ts';
import { Gateway } from '../../src/server/gateway/gateway.ts';
import { policyModel } from '../../src/server/gateway/policy-model.ts';
import { teacherModel } from '../../src/server/gateway/teacher-model.ts';
import { type ScriptedTokens, scriptedTokens } from '../../src/server/gateway/testing/scripted-policy.ts';
import { agent as aiSdk } from './ai-sdk.ts';
import { agent as aiSdkStream } from './ai-sdk-stream.ts';
import { agent as mcp } from './mcp.ts';
import { agent as openaiClient } from './openai-client.ts';

const agents = [aiSdk, aiSdkStream, openaiClient, mcp] as unknown as Agent[];

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(async () => {
  await gateway.stop();
  for (const agent of agents) await agent.close?.();
});

async function play(agent: Agent, index: number, model: ChatModel): Promise<Trajectory> {
  const task = agent.tasks('train').at(index);
  const world = fromAgent(agent);
  const [trajectory] = await agentEpisodes({ agent, gateway, model: () => model })(
    { id: `example/${index}`, groupId: 'example', task },
    {
      world,
      policy: { version: 0, complete: () => Promise.reject(new Error('not asked')) },
      renderer: wordChatRenderer(WordTokenizer.fromTexts([]), 1),
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
  return trajectory!;
}

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
    const answer = await agent.demonstrate!({ task, messages, tools: [], player: 'expert', rng: sure });
    return write({ content: '', toolCalls: [], ...answer });
  });
}

const language = await parityLanguage('tokenizer-qwen');
const pretrained = pretrainedConversation(language, { maxTurnTokens: 256 });

describe.each(agents.map((agent) => [agent.name, agent] as const))('%s', (_name, agent) => {
  test('is taught through the gateway', async () => {
    const episodes: Trajectory[] = [];
    for (let index = 0; index < 8; index++) episodes.push(await play(agent, index, teacher(agent, index)));
    expect(episodes.map(({ stop, failure }) => failure ?? stop)).toEqual(episodes.map(() => 'done'));
    expect(episodes.filter(({ success }) => success).length).toBeGreaterThanOrEqual(3);
    const turns = episodes.flatMap((episode) => episode.turns);
    expect(turns.some(({ text }) => text.startsWith('<call> '))).toBe(true);
    expect(turns.every(({ sampled }) => !sampled)).toBe(true);
  });

  test('acts by sampled tokens, which are trained exactly as they were sampled', async () => {
    const taught = await play(agent, 1, teacher(agent, 1));
    const texts = taught.turns.flatMap((turn) => [turn.text, ...turn.messages.map(messageText)]);
    const renderer = wordChatRenderer(WordTokenizer.fromTexts([...CHAT_WORDS, ...texts]), 16);
    const policy = knowing(agent, renderer, writeReply);
    const acted = await play(agent, 1, policyModel({ policy, renderer, contextLength: 256 }));
    expect(acted).toMatchObject({ stop: 'done', outcome: 1, success: true });
    const samples = buildSamples(acted);
    expect(samples).toHaveLength(acted.turns.filter(({ extendsPrevious }) => !extendsPrevious).length);
    const sampled = samples.flatMap(({ ids_T, mask_T }) =>
      [...ids_T].filter((_, token) => mask_T[token] === 1),
    );
    expect(sampled).toEqual(acted.turns.flatMap(({ text }) => renderer.completionIds(text)));
  });

  test('acts through the chat template of a pretrained model, in that model’s own form of calls', async () => {
    const policy = knowing(agent, pretrained, ({ content, toolCalls }) =>
      [content, ...toolCalls.map((call) => `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`)].join(''),
    );
    const acted = await play(agent, 1, policyModel({ policy, renderer: pretrained, contextLength: 8192 }));
    expect(acted).toMatchObject({ stop: 'done', outcome: 1, success: true });
    const [first, second] = acted.turns;
    expect(language.tokenizer.decode(first!.contextIds)).toMatch(
      /<tools>[\s\S]*"name"[\s\S]*<\|im_start\|>user/,
    );
    expect(second).toMatchObject({ extendsPrevious: true });
    expect(language.tokenizer.decode(second!.contextIds)).toContain('<tool_response>');
    expect(acted.turns.flatMap(({ ids }) => ids)).toEqual(
      acted.turns.flatMap(({ text }) => pretrained.completionIds(text)),
    );
  });
});
