/** /chat/completions, /completions and /models: shapes, parameters, streams, and what is recorded of them. */

import { afterEach, describe, expect, test } from 'vitest';
import { pretrainedConversation } from '../../model/chat/pretrained-conversation.ts';
import { promptOf, start } from '../../model/chat/prompts.test-helper.ts';
import { parityLanguage } from '../../model/testing/parity-data.ts';
import { policyModel } from './policy-model.ts';
import { type Body, chat, gateway, LOOK, renderer, setUp, stopGateway } from './testing/open-gateway.ts';
import { pathsOf, promptsOf } from './testing/rebuild.ts';
import { scriptedTokens } from './testing/scripted-policy.ts';

afterEach(stopGateway);

describe('/chat/completions', () => {
  test('answers in OpenAI’s shape', async () => {
    const { post } = await setUp();
    const { status, body } = await post('/chat/completions', chat('who is ada'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'policy',
      system_fingerprint: 'version-7',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello there' },
          finish_reason: 'stop',
          logprobs: null,
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
      turnwise: { policy_version: 7, valid: true },
    });
  });

  test('records the rendered prompt, the sampled ids and their log-probabilities', async () => {
    const { post, session } = await setUp();
    await post('/chat/completions', chat('who is ada'));
    const [call] = session.record().calls;
    const messages = [{ role: 'user', content: 'who is ada' }] as const;
    expect(call).toMatchObject({
      id: 0,
      conversation: 'episode/0',
      role: 'agent',
      by: { kind: 'policy', name: 'learner', version: 7 },
      purpose: 'act',
      sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 17 },
      context: Int32Array.from(promptOf(renderer, start, messages).promptIds),
      ids: Int32Array.from(renderer.completionIds('hello there')),
      logprobs: Float32Array.of(-1, -2, -3),
      entropy: 0.75,
      messages,
      text: 'hello there',
      reply: { content: 'hello there', toolCalls: [] },
      finish: 'stop',
      trainable: true,
    });
    for (const absent of ['parent', 'kept', 'newPath', 'tools', 'problem', 'parts']) {
      expect(call).not.toHaveProperty(absent);
    }
  });

  test('a call may say what it is for; it becomes a transition where it is an act', async () => {
    const { post, session } = await setUp();
    await post('/chat/completions', chat('who'), { 'x-turnwise-purpose': 'summarize' });
    await post('/chat/completions', chat('who'));
    const { calls, transitions } = session.record();
    expect(calls.map(({ purpose }) => purpose)).toEqual(['summarize', 'act']);
    expect(transitions.map(({ call }) => call)).toEqual([1]);
    const { status, body } = await post('/chat/completions', chat('who'), { 'x-turnwise-purpose': 'To Act' });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 'invalid_purpose', param: 'x-turnwise-purpose' });
  });

  test('tool calls: what the policy wrote is parsed, and the next prompt extends it token for token', async () => {
    const answers = ['<call> look person: ada', 'one'];
    const { post, session } = await setUp(() => answers.shift()!);
    const first = await post('/chat/completions', chat('who is ada', { tools: [LOOK] }));
    const message = first.body.choices[0].message;
    expect(message).toMatchObject({
      content: null,
      tool_calls: [{ type: 'function', function: { name: 'look', arguments: '{"person":"ada"}' } }],
    });
    expect(first.body.choices[0].finish_reason).toBe('tool_calls');
    await post('/chat/completions', {
      model: 'policy',
      tools: [LOOK],
      messages: [
        { role: 'user', content: 'who is ada' },
        message,
        { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'two' },
      ],
    });
    const { calls, tools } = session.record();
    const [one, two] = calls;
    expect(two).toMatchObject({ parent: 0, conversation: one!.conversation });
    expect(two).not.toHaveProperty('kept');
    expect(two!.messages).toMatchObject([{ role: 'tool', content: 'two' }]);
    expect(renderer.text([...two!.context])).toBe('<tool> two <act>');
    expect(one!.tools).toBe(two!.tools);
    expect(tools).toEqual({ [one!.tools!]: [{ ...LOOK.function, description: '' }] });
  });

  test('tool_choice: a forced call begins with context that was not sampled; "none" reads no calls', async () => {
    const { post, session } = await setUp(() => 'person: ada');
    const forced = { tools: [LOOK], tool_choice: { type: 'function', function: { name: 'look' } } };
    const { body } = await post('/chat/completions', chat('who', forced));
    expect(body.choices[0].message.tool_calls[0].function).toEqual({
      name: 'look',
      arguments: '{"person":"ada"}',
    });
    const [call] = session.record().calls;
    expect(renderer.text([...call!.context].slice(-2))).toBe('<call> look');
    expect([...call!.ids]).toEqual(renderer.completionIds('person: ada'));
    const { body: none } = await post(
      '/chat/completions',
      chat('who', { tools: [LOOK], tool_choice: 'none' }),
    );
    expect(none.choices[0].message).toEqual({ role: 'assistant', content: 'person: ada', refusal: null });
  });

  test('n choices are calls of one parent', async () => {
    const answers = ['one', 'two', 'three'];
    const { post, session, policy } = await setUp(() => answers.shift()!);
    const { body } = await post('/chat/completions', chat('who', { n: 3, temperature: 0.5, top_p: 0.9 }));
    expect(body.choices.map((choice: Body) => choice.message.content)).toEqual(['one', 'two', 'three']);
    expect(session.record().calls.map(({ id, parent }) => [id, parent])).toEqual([
      [0, undefined],
      [1, undefined],
      [2, undefined],
    ]);
    expect(new Set(policy.requests.map(({ seedKey }) => seedKey)).size).toBe(3);
    expect(policy.requests[0]!.sampling).toMatchObject({ temperature: 0.5, topP: 0.9 });
  });

  test('stop cuts text and tokens where sampling would have ended', async () => {
    const { post, session } = await setUp(() => 'one two stop three');
    const { body } = await post('/chat/completions', chat('who', { stop: ['stop'] }));
    expect(body.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'stop' });
    const [call] = session.record().calls;
    expect(renderer.text([...call!.ids])).toBe('one two stop');
    expect([...call!.logprobs]).toEqual([-1, -2, -3]);
    // That of all four, of which one is gone.
    expect(call).not.toHaveProperty('entropy');
    // The next prompt closes the turn that was cut.
    await post('/chat/completions', {
      model: 'policy',
      messages: [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: 'one two' },
        { role: 'user', content: 'who' },
      ],
    });
    expect(pathsOf(session.record().calls)).toEqual([[0, 1]]);
  });

  test('max_tokens, logprobs and token ids', async () => {
    const { post } = await setUp(() => 'one two three');
    const { body } = await post(
      '/chat/completions',
      chat('who', { max_completion_tokens: 2, logprobs: true, return_token_ids: true }),
    );
    const [choice] = body.choices;
    expect(choice.finish_reason).toBe('length');
    expect(choice.logprobs.content).toMatchObject([
      { token: 'one', logprob: -1 },
      { token: 'two', logprob: -2 },
    ]);
    expect(choice.token_ids).toHaveLength(2);
    expect(body.prompt_token_ids).toEqual(
      promptOf(renderer, start, [{ role: 'user', content: 'who' }]).promptIds,
    );
  });

  test('the same seed gives the same randomness, in any session; without one, calls differ', async () => {
    const { post, policy } = await setUp();
    await post('/chat/completions', chat('who', { seed: 3 }));
    await post('/chat/completions', chat('who'));
    await post('/chat/completions', chat('who'));
    await gateway().stop();
    const other = await setUp(undefined, {}, { name: 'another episode', seed: 2 });
    await other.post('/chat/completions', chat('who', { seed: 3, n: 2 }));
    const keys = policy.requests.map(({ seedKey }) => seedKey);
    expect(new Set(keys).size).toBe(3);
    const [first, second] = other.policy.requests.map(({ seedKey }) => seedKey);
    expect(first).toBe(keys[0]);
    expect(second).not.toBe(first);
  });

  test('response_format is checked, not enforced, and says so', async () => {
    const answers = ['{"a":1}', '[1]', '{"a":1}', '{"a":"x"}', 'hello'];
    const { post } = await setUp(() => answers.shift()!);
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] };
    const format = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } };
    const valid = async (more: object): Promise<boolean> =>
      (await post('/chat/completions', chat('who', more))).body.turnwise.valid;
    expect(await valid({ response_format: { type: 'json_object' } })).toBe(true);
    expect(await valid({ response_format: { type: 'json_object' } })).toBe(false);
    expect(await valid(format)).toBe(true);
    expect(await valid(format)).toBe(false);
    expect(await valid({ response_format: { type: 'text' } })).toBe(true);
  });
});

test('streaming: the same record as without, in chunks that add up to the same answer, and usage at the end', async () => {
  const { post, session } = await setUp(() => 'hello there <call> look person: ada');
  const { body } = await post('/chat/completions', chat('who', { tools: [LOOK], seed: 1 }));
  const response = await fetch(`${gateway().baseURL(session)}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.key}` },
    body: JSON.stringify(
      chat('who', { tools: [LOOK], seed: 1, stream: true, stream_options: { include_usage: true } }),
    ),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const lines = (await response.text()).trimEnd().split('\n\n');
  expect(lines.at(-1)).toBe('data: [DONE]');
  const chunks: Body[] = lines.slice(0, -1).map((line) => JSON.parse(line.slice('data: '.length)));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: Body) => delta));
  const [whole] = body.choices;
  expect(deltas.map(({ content }) => content ?? '').join('')).toBe(whole.message.content);
  const calls = deltas.flatMap(({ tool_calls }) => tool_calls ?? []);
  expect(calls[0].function.name).toBe('look');
  expect(calls.map((call: Body) => call.function.arguments).join('')).toBe(
    whole.message.tool_calls[0].function.arguments,
  );
  expect(chunks.at(-2).choices[0].finish_reason).toBe('tool_calls');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: body.usage });
  const [one, two] = session.record().calls;
  const own = { id: 0, conversation: '', at: 0, waitMs: 0, policyMs: 0 };
  expect({ ...two, ...own }).toEqual({ ...one, ...own });
});

test('what a model thinks is apart from what it says, whole and streamed, and is no edit where it is left out', async () => {
  const thinking = pretrainedConversation(await parityLanguage('tokenizer-qwen'), { maxTurnTokens: 64 });
  const policy = scriptedTokens(thinking, () => '<think>\nhm well\n</think>\n\nfigs');
  const model = policyModel({ policy, renderer: thinking, contextLength: 1024 });
  const { post, session } = await setUp(undefined, {}, { model });
  const { body } = await post('/chat/completions', chat('who'));
  expect(body.choices[0].message).toMatchObject({ content: 'figs', reasoning_content: 'hm well' });
  const response = await fetch(`${gateway().baseURL(session)}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session.key}` },
    body: JSON.stringify(chat('who', { stream: true })),
  });
  const deltas = (await response.text())
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)).choices[0].delta);
  expect(deltas.map((delta) => delta.reasoning_content ?? '').join('')).toBe('hm well');
  expect(deltas.map((delta) => delta.content ?? '').join('')).toBe('figs');
  const messages = [
    { role: 'user', content: 'who' },
    { role: 'assistant', content: 'figs' },
    { role: 'user', content: 'why' },
  ];
  await post('/chat/completions', { model: 'policy', messages });
  const last = session.record().calls.at(-1)!;
  // Two equal answers: it goes on from the first. The template drops old reasoning, so a path of its own begins.
  expect(last).toMatchObject({ parent: 0, newPath: 'rewritten', trainable: true });
  expect(last.messages).toEqual([{ role: 'user', content: 'why' }]);
  expect(promptsOf(session.record().calls).get(2)).toEqual([...policy.requests[2]!.append]);
});

test('a request may say whether the model thinks, in the words of its template', async () => {
  const language = await parityLanguage('tokenizer-qwen');
  const thinking = pretrainedConversation(language, { maxTurnTokens: 64 });
  const policy = scriptedTokens(thinking, () => 'figs');
  const model = policyModel({ policy, renderer: thinking, contextLength: 1024 });
  const { post } = await setUp(undefined, {}, { model });
  const saying = (chat_template_kwargs: object): Promise<{ status: number; body: Body }> =>
    post('/chat/completions', chat('who', { chat_template_kwargs }));
  await saying({});
  await saying({ enable_thinking: false });
  const [plain, without] = policy.requests.map(({ append }) => language.tokenizer.decode([...append]));
  expect(without).toBe(`${plain}<think>\n\n</think>\n\n`);
  const { status, body } = await saying({ add_default_system: true });
  expect([status, body.error.param]).toEqual([400, 'chat_template_kwargs.add_default_system']);
});

test('what only other models can do is taken note of, and answered all the same', async () => {
  const { post, session } = await setUp();
  const { status } = await post(
    '/chat/completions',
    chat('who', { reasoning_effort: 'low', verbosity: 'low' }),
  );
  expect(status).toBe(200);
  expect(session.record().calls).toHaveLength(1);
});

describe('/completions and /models', () => {
  test('text prompts chain by text, prompts of ids by ids', async () => {
    const { post, session } = await setUp(() => 'one two');
    const first = await post('/completions', { model: 'policy', prompt: 'who is', max_tokens: 8 });
    expect(first.body).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'one two', finish_reason: 'stop' }],
    });
    await post('/completions', { model: 'policy', prompt: 'who isone two three', max_tokens: 8 });
    const { calls } = session.record();
    const ids = [...promptsOf(calls).get(1)!, ...calls[1]!.ids, ...renderer.textIds('ada')];
    await post('/completions', { model: 'policy', prompt: ids, max_tokens: 8 });
    expect(pathsOf(session.record().calls)).toEqual([[0, 1, 2]]);
    expect(promptsOf(session.record().calls).get(2)).toEqual(ids);
    expect(renderer.text([...session.record().calls[2]!.context])).toBe('ada');
  });

  test('lists the models', async () => {
    const { session } = await setUp();
    const headers = { authorization: `Bearer ${session.key}` };
    const response = await fetch(`${gateway().baseURL(session)}/models`, { headers });
    expect(await response.json()).toMatchObject({ object: 'list', data: [{ id: 'policy' }] });
  });
});
