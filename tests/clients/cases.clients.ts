/** Where real clients break, or would do harm: what is told them then. */

import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ChatAnthropic } from '@langchain/anthropic';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { Agent as OpenAIAgent, OpenAIProvider, Runner } from '@openai/agents';
import { stepCountIs, streamText, tool } from 'ai';
import { createAgent, HumanMessage } from 'langchain';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Episode } from '../../src/core/episode.ts';
import { type AgentEpisode, defineAgent } from '../../src/env/agent.ts';
import { fullContext } from '../../src/rollout/context/contexts.ts';
import { unwatched } from '../../src/rollout/watch.ts';
import { agentEpisodes } from '../../src/server/gateway/agents/agent-episodes.ts';
import { Gateway } from '../../src/server/gateway/gateway.ts';
import { policyModel } from '../../src/server/gateway/policy-model.ts';
import { callText, renderer } from '../../src/server/gateway/testing/dialect-client.ts';
import { pathsOf } from '../../src/server/gateway/testing/rebuild.ts';
import { scriptedTokens } from '../../src/server/gateway/testing/scripted-policy.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

/** An episode in which the policy says these answers, one after the other. */
async function play(
  answers: readonly string[],
  run: (episode: AgentEpisode<unknown>) => Promise<void>,
): Promise<Episode> {
  let next = 0;
  const policy = scriptedTokens(renderer, () => answers[Math.min(next++, answers.length - 1)]!);
  const agent = defineAgent({
    name: 'case',
    tasks: () => [1],
    run: async (episode) => {
      await run(episode);
      return { reward: 1 };
    },
  });
  const model = policyModel({ policy, renderer, contextLength: 8192 });
  return agentEpisodes({ agent, gateway, model: () => model })(
    { key: { step: 1, environment: 'case', split: 'train', task: 0, group: 0, member: 0 }, task: 1 },
    {
      sampling: { temperature: 1, topP: 1, topK: 0 },
      context: fullContext,
      maxTurns: 8,
      contextLength: 8192,
      turnTimeoutMs: 20_000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

const look = callText('get_weather', '{"city": "Bern"}');
const input_schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};

describe('the tool runner of @anthropic-ai/sdk, whose threads', () => {
  const runner = (change: (body: { thread?: { type: string; previous_message_id?: string } }) => void) =>
    play([look, 'so'], async ({ anthropicBaseURL, apiKey }) => {
      const client = new Anthropic({
        baseURL: anthropicBaseURL,
        apiKey,
        maxRetries: 0,
        fetch: (url, init) => {
          const body = JSON.parse(String(init!.body));
          change(body);
          return fetch(url, { ...init, body: JSON.stringify(body) });
        },
      });
      const done = await client.beta.messages
        .toolRunner({
          model: 'policy',
          max_tokens: 256,
          messages: [{ role: 'user', content: 'how warm is it' }],
          tools: [
            { name: 'get_weather', input_schema, run: async () => '21', parse: (given: unknown) => given },
          ],
        })
        .runUntilDone();
      expect(done.content).toMatchObject([{ type: 'text', text: 'so' }]);
    });

  test('are honoured: a thread goes on with what is new alone', async () => {
    const types: (string | undefined)[] = [];
    const { calls, stop } = await runner(({ thread }) => types.push(thread?.type));
    expect([stop, types, pathsOf(calls)]).toEqual(['done', ['create', 'continue'], [[0, 1]]]);
  });

  test('are refused: it goes on without them', async () => {
    const types: (string | undefined)[] = [];
    const { calls, stop } = await runner(({ thread }) => {
      types.push(thread?.type);
      if (thread) thread.type = 'unheard-of';
    });
    expect([stop, types, pathsOf(calls)]).toEqual(['done', ['create', undefined, undefined], [[0, 1]]]);
  });

  test('are not found: it begins another with the whole history', async () => {
    const types: (string | undefined)[] = [];
    const { calls, stop } = await runner(({ thread }) => {
      types.push(thread?.type);
      if (thread?.previous_message_id) thread.previous_message_id = 'msg_nowhere_0';
    });
    expect([stop, types, pathsOf(calls)]).toEqual(['done', ['create', 'continue', 'create'], [[0, 1]]]);
  });
});

describe('a call that was cut is run by no client', () => {
  const cut = look.slice(0, look.indexOf('Bern') + 2);
  const maxTokens = renderer.completionIds(cut).length - 1;
  const question = 'how warm is it';

  test('AI SDK, streaming', async () => {
    let ran = false;
    const { calls } = await play([look], async ({ baseURL, apiKey }) => {
      const result = streamText({
        model: createOpenAI({ baseURL, apiKey })('policy'),
        prompt: question,
        maxOutputTokens: maxTokens,
        stopWhen: stepCountIs(4),
        tools: {
          get_weather: tool({
            inputSchema: z.object({ city: z.string() }),
            execute: async () => {
              ran = true;
              return '21';
            },
          }),
        },
      });
      await result.consumeStream();
      expect(await result.finishReason).toBe('length');
    });
    expect([ran, calls.length, calls[0]!.finish]).toEqual([false, 1, 'length']);
  });

  test.each(['chat', 'responses', 'messages'])('LangChain, streaming, %s', async (dialect) => {
    let ran = false;
    const { calls } = await play([look], async ({ baseURL, anthropicBaseURL, apiKey }) => {
      const model =
        dialect === 'messages'
          ? new ChatAnthropic({ model: 'policy', apiKey, anthropicApiUrl: anthropicBaseURL, maxTokens })
          : new ChatOpenAI({
              model: 'policy',
              apiKey,
              configuration: { baseURL },
              maxTokens,
              useResponsesApi: dialect === 'responses',
            });
      const get_weather = langchainTool(
        async () => {
          ran = true;
          return '21';
        },
        { name: 'get_weather', schema: z.object({ city: z.string() }) },
      );
      const agent = createAgent({ model, tools: [get_weather] });
      const messages = [new HumanMessage(question)];
      for await (const _ of await agent.stream({ messages }, { streamMode: 'messages' }));
    });
    expect([ran, calls.length, calls[0]!.finish]).toEqual([false, 1, 'length']);
  });
});

describe('what a client throws at is the policy’s doing', () => {
  const form = z.object({ city: z.string() });

  test('openai: words before a call, where a form was asked for', async () => {
    const episode = await play([`Let me look. ${look}`], async ({ baseURL, apiKey }) => {
      const { responses } = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
      await responses.parse({
        model: 'policy',
        input: 'how warm is it',
        tools: [{ type: 'function', name: 'get_weather', parameters: input_schema, strict: false }],
        text: { format: zodTextFormat(form, 'weather') },
      });
    });
    expect(episode).toMatchObject({ stop: 'invalid-action', outcome: { agent: 0 } });
  });

  test('@openai/agents: an answer that was cut', async () => {
    const episode = await play(['one two three four'], async ({ baseURL, apiKey }) => {
      const openAIClient = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
      const runner = new Runner({
        // Its own copy of `openai` may be another major.
        modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never, useResponses: true }),
        tracingDisabled: true,
      });
      const agent = new OpenAIAgent({ name: 'a', model: 'policy', modelSettings: { maxTokens: 2 } });
      await runner.run(agent, 'how warm is it');
    });
    expect(episode).toMatchObject({ stop: 'invalid-action', calls: [{ finish: 'length', trainable: true }] });
  });
});

test('@openai/agents without a model asks for one of its vendor, and is answered', async () => {
  const episode = await play(['so'], async ({ baseURL, apiKey }) => {
    const openAIClient = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    const runner = new Runner({
      // Its own copy of `openai` may be another major.
      modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never, useResponses: true }),
      tracingDisabled: true,
    });
    const { finalOutput } = await runner.run(new OpenAIAgent({ name: 'a' }), 'how warm is it');
    expect(finalOutput).toBe('so');
  });
  expect(episode).toMatchObject({ stop: 'done', calls: [{ trainable: true }] });
});
