/** Answers that are held to a schema, in every dialect, with a model whose weights know nothing of JSON. */

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../engine/embedded/embedded-engine.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import { pretrainedConversation } from '../../model/chat/pretrained-conversation.ts';
import { openCheckpoint } from '../../model/checkpoint/checkpoint.ts';
import { parityFolder } from '../../model/testing/parity-data.ts';
import { loadPretrainedLanguage } from '../../model/tokenizer/pretrained-language.ts';
import { continuous } from '../../policy/batching.ts';
import { enginePolicy } from '../../policy/engine-policy.ts';
import { Gateway } from './gateway.ts';
import { type PolicyModelOptions, policyModel } from './policy-model.ts';
import { wholeOf } from './testing/read-stream.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-constrained-'));
let engine: EmbeddedEngine;
let renderer: ConversationRenderer;
beforeAll(async () => {
  cpSync(parityFolder('qwen3/bf16'), folder, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json'])
    cpSync(join(parityFolder('tokenizer-qwen'), file), join(folder, file));
  const model = await openCheckpoint(folder);
  engine = await createEmbeddedEngine({
    ...{ model, lora: { rank: 1 }, seed: 0, threads: 1, tokenBudget: 512, inProcess: true },
  });
  renderer = pretrainedConversation(await loadPretrainedLanguage(folder, model.shape.vocabulary), {
    maxTurnTokens: 256,
  });
}, 60_000);
afterAll(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});
let open: Gateway | undefined;
afterEach(async () => open?.stop());

async function serve(options: Partial<PolicyModelOptions> = {}) {
  const gateway = await new Gateway().start();
  open = gateway;
  const model = policyModel({
    policy: enginePolicy(engine, renderer, continuous),
    renderer,
    contextLength: engine.capabilities.contextLength,
    constrains: engine.capabilities.schemas,
    ...options,
  });
  const session = gateway.open({ name: 'episode', seed: 1, model, maxCalls: 100 });
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${gateway.baseURL(session)}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session.key}` },
      body: JSON.stringify({ model: 'policy', ...body }),
    });
    const text = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    return { status: response.status, body: isStream ? wholeOf(path, text) : JSON.parse(text) };
  };
  return { ask, record: () => session.record() };
}

/** What random weights bring to an end soon. */
const schema = {
  type: 'object',
  properties: { unit: { enum: ['c', 'f'] }, days: { type: 'integer', minimum: 1, maximum: 9 } },
  required: ['unit', 'days'],
  additionalProperties: false,
};
const messages = [{ role: 'user', content: 'how warm is it' }];
const fits = { unit: expect.stringMatching(/^[cf]$/), days: expect.any(Number) };

describe('an answer', () => {
  test.each([false, true])(
    'has the schema of the request in every dialect (streamed: %s)',
    async (stream) => {
      const { ask, record } = await serve();
      const chat = await ask('/chat/completions', {
        messages,
        stream,
        response_format: { type: 'json_schema', json_schema: { name: 'weather', schema, strict: true } },
      });
      expect(JSON.parse(chat.body.choices[0].message.content)).toMatchObject(fits);
      expect(chat.body.turnwise).toMatchObject({ valid: true, untrainable: 'constrained' });
      const responses = await ask('/responses', {
        input: 'how warm is it',
        stream,
        text: { format: { type: 'json_schema', name: 'weather', schema } },
      });
      expect(JSON.parse(responses.body.output[0].content[0].text)).toMatchObject(fits);
      const anthropic = await ask('/messages', {
        messages,
        stream,
        max_tokens: 200,
        output_config: { format: { type: 'json_schema', schema } },
      });
      expect(JSON.parse(anthropic.body.content[0].text)).toMatchObject(fits);
      const { calls, untrainable } = record();
      expect(calls.map(({ trainable, problem }) => [trainable, problem])).toEqual(
        Array(3).fill(['constrained', undefined]),
      );
      expect(untrainable).toEqual({ constrained: 3 });
    },
  );

  test('is a JSON object where that is all that is asked', async () => {
    const { ask } = await serve();
    const { body } = await ask('/chat/completions', {
      messages,
      max_tokens: 12,
      response_format: { type: 'json_object' },
    });
    expect(body.choices[0].message.content).toMatch(/^\{/);
  });

  test('is free where a run samples as it is configured, and checked all the same', async () => {
    const { ask, record } = await serve({
      constrains: false,
      sampling: { temperature: 1, topP: 1, topK: 0 },
    });
    const { body } = await ask('/chat/completions', {
      messages,
      max_tokens: 12,
      response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
    });
    expect(body.turnwise).toMatchObject({ valid: false });
    expect(record().calls[0]!.trainable).toBe(true);
  });

  test('is refused where no grammar can be made of the schema, without harm to the next', async () => {
    const { ask, record } = await serve();
    const asked = (wrong: object) =>
      ask('/chat/completions', {
        messages,
        tools: [{ type: 'function', function: { name: 'look', strict: true, parameters: wrong } }],
        tool_choice: 'required',
      });
    const { status, body } = await asked({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      code: 'invalid_schema',
      message: expect.stringContaining('No grammar can be made of the JSON Schema'),
    });
    expect(await asked(schema)).toMatchObject({ status: 200 });
    expect(record().calls).toHaveLength(1);
  });
});

describe('tools that are strict', () => {
  const tool = { name: 'weather', description: '', parameters: schema };
  const dialects = {
    '/chat/completions': (choice: object | string, strict: boolean) => ({
      messages,
      tools: [{ type: 'function', function: { ...tool, strict } }],
      tool_choice: choice,
    }),
    '/responses': (choice: object | string, strict: boolean) => ({
      input: 'how warm is it',
      tools: [{ type: 'function', ...tool, strict }],
      tool_choice: choice,
    }),
    '/messages': (choice: object | string, strict: boolean) => ({
      messages,
      max_tokens: 200,
      tools: [{ name: tool.name, input_schema: schema, strict }],
      tool_choice: choice === 'required' ? { type: 'any' } : { type: 'tool', name: 'weather' },
    }),
  };

  test.each(Object.keys(dialects) as (keyof typeof dialects)[])(
    'are called as they say: %s',
    async (path) => {
      const { ask, record } = await serve();
      const named = {
        type: 'function',
        ...(path === '/responses' ? { name: 'weather' } : { function: { name: 'weather' } }),
      };
      for (const choice of ['required', named]) {
        const { status } = await ask(path, dialects[path](choice, true));
        expect(status).toBe(200);
      }
      for (const { reply, trainable, problem } of record().calls) {
        expect(reply!.toolCalls).toMatchObject([{ name: 'weather', arguments: fits }]);
        expect([trainable, problem]).toEqual(['constrained', undefined]);
      }
      await ask(path, dialects[path]('required', false));
      expect(record().calls.at(-1)!.trainable).toBe(true);
    },
  );

  test('and an answer with a schema: one of them', async () => {
    const { ask, record } = await serve();
    for (let time = 0; time < 4; time++)
      await ask('/chat/completions', {
        ...dialects['/chat/completions']('auto', true),
        seed: time,
        response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
      });
    for (const { reply, problem } of record().calls) {
      expect(problem).toBeUndefined();
      const { content, toolCalls } = reply!;
      expect(toolCalls.length === 1 ? toolCalls[0]!.arguments : JSON.parse(content)).toMatchObject(fits);
    }
  });
});

test('models that cannot be held are asked as before', async () => {
  const { tokenTexts: _, ...plain } = renderer;
  const { ask, record } = await serve({ renderer: plain });
  await ask('/chat/completions', {
    messages,
    max_tokens: 4,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema } },
  });
  expect(record().calls[0]).toMatchObject({ trainable: true, problem: 'the answer is not JSON' });
});
