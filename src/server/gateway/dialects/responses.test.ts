/** `/responses`: its state, its events in order, and its other routes. */

import { afterEach, describe, expect, test } from 'vitest';
import {
  type Asking,
  asking,
  type Body,
  callText,
  DIALECTS,
  stopGateway,
} from '../testing/dialect-client.ts';
import { pathsOf } from '../testing/rebuild.ts';

afterEach(stopGateway);

const PATH = '/responses';
const body = DIALECTS[PATH];
const ask = async ({ post }: Asking, more: object): Promise<Body> => {
  const told = await post(PATH, body(more));
  expect(told.body.error ?? null).toBeNull();
  return told.body;
};
const refusal = async ({ post }: Asking, more: object): Promise<Body> => {
  const { status, body: told } = await post(PATH, body(more));
  return { status, ...told.error };
};

describe('the object', () => {
  test('has every field that clients read', async () => {
    const asked = await asking(() => 'It is 21 degrees.');
    const told = await ask(asked, { instructions: 'be kind', metadata: { a: 'b' }, store: false });
    expect(told).toMatchObject({
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: 'be kind',
      model: 'policy',
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'It is 21 degrees.', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      store: false,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      metadata: { a: 'b' },
      usage: { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    });
    const { input_tokens, output_tokens, total_tokens } = told.usage;
    const [call] = asked.session.record().calls;
    expect([input_tokens, output_tokens]).toEqual([call!.context.length, call!.ids.length]);
    expect(total_tokens).toBe(input_tokens + output_tokens);
    const ids = [told.id, told.output[0].id] as string[];
    expect(ids.map((id) => id.split('_')[0])).toEqual(['resp', 'msg']);
    expect(ids.every((id) => id.endsWith(`_${call!.id}`))).toBe(true);
  });

  test('log-probabilities, with the likeliest tokens where the policy tells them', async () => {
    const asked = await asking(() => 'so');
    asked.policy.top = [{ id: 1, logprob: -0.5 }];
    const told = await ask(asked, { top_logprobs: 1 });
    const [first] = told.output[0].content[0].logprobs;
    expect(first).toMatchObject({
      token: expect.any(String),
      logprob: -1,
      top_logprobs: [{ logprob: -0.5 }],
    });
    expect(asked.policy.requests[0]!.topLogprobs).toBe(1);
    const without = await ask(asked, {});
    expect(without.output[0].content[0].logprobs).toEqual([]);
    expect(asked.policy.requests[1]).not.toHaveProperty('topLogprobs');
  });
});

describe('events', () => {
  const eventsOf = async (text: string, more: object = {}): Promise<Body[]> => {
    const { post } = await asking(() => text);
    const { events } = await post(PATH, body({ stream: true, ...more }));
    const told = events.map(({ event, data }) => {
      const parsed = JSON.parse(data);
      expect(parsed.type).toBe(event);
      return parsed;
    });
    expect(told.map(({ sequence_number: number }) => number)).toEqual(told.map((_, index) => index));
    return told;
  };
  const names = (events: Body[]): string[] => events.map(({ type }) => type.replace('response.', ''));

  test('of three pieces of text: eleven', async () => {
    const events = await eventsOf('one two three');
    expect(names(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(events[0].response).toMatchObject({ status: 'in_progress', output: [], usage: null });
    expect(events[0].response.id).toBe(events[10].response.id);
    expect(events[10].response.output).toHaveLength(1);
  });

  test('of a call in two pieces: eight', async () => {
    const events = await eventsOf(callText('weather', '{"city": "New York"}'));
    expect(names(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    expect(events[2].item).toMatchObject({ arguments: '', status: 'in_progress', name: 'weather' });
    expect(events[6].item).toMatchObject({ id: events[2].item.id, call_id: events[2].item.call_id });
    expect(events[5]).toMatchObject({ name: 'weather', arguments: '{"city":"New York"}' });
  });

  test('of what was thought; and of what was cut', async () => {
    const events = await eventsOf('<think>\nhm\n</think>\n\nso');
    expect(names(events).slice(2, 8)).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ]);
    const cut = await eventsOf('one two three four', { max_output_tokens: 2 });
    expect(cut.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    });
  });
});

describe('state', () => {
  test('a response goes on from the one that it names; the same one twice is a branch', async () => {
    const asked = await asking(() => 'so');
    const first = await ask(asked, {});
    const second = await ask(asked, { input: 'and then', previous_response_id: first.id });
    expect(second.previous_response_id).toBe(first.id);
    await ask(asked, { input: 'and else', previous_response_id: first.id });
    const { calls } = asked.session.record();
    expect(pathsOf(calls)).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect(calls[1]!.messages).toEqual([{ role: 'user', content: 'and then' }]);
  });

  test('equal answers to equal questions are told apart by id, and by the ids of their items', async () => {
    const asked = await asking(() => 'so');
    const told = [await ask(asked, {}), await ask(asked, {}), await ask(asked, {})];
    await ask(asked, { input: 'on', previous_response_id: told[1].id });
    await ask(asked, {
      input: [
        { role: 'user', content: 'how warm is it' },
        ...told[2].output,
        { role: 'user', content: 'on' },
      ],
    });
    const { calls } = asked.session.record();
    expect(calls.slice(3).map(({ parent }) => parent)).toEqual([1, 2]);
  });

  test('instructions are not inherited: the same again is an extension, others are a path of their own', async () => {
    const asked = await asking(() => 'so');
    const first = await ask(asked, { instructions: 'be kind' });
    await ask(asked, { instructions: 'be kind', input: 'on', previous_response_id: first.id });
    await ask(asked, { instructions: 'be brief', input: 'on', previous_response_id: first.id });
    await ask(asked, { input: 'on', previous_response_id: first.id });
    const { calls } = asked.session.record();
    expect(calls.map(({ parent, newPath }) => [parent, newPath])).toEqual([
      [undefined, undefined],
      [0, undefined],
      [0, 'system-changed'],
      [0, 'system-changed'],
    ]);
  });

  test('items are named in place of being sent again', async () => {
    const answers = [
      `<think>\nhm\n</think>\n\nLet me look. ${callText('weather', '{"city": "Bern"}')}`,
      'so',
    ];
    const asked = await asking(() => answers.shift()!);
    const { output } = await ask(asked, {});
    const [thought, words, call] = output;
    await ask(asked, {
      input: [
        { role: 'user', content: 'how warm is it' },
        { type: 'item_reference', id: thought.id },
        { type: 'item_reference', id: words.id },
        // Written anew, as AI SDK does, and without an id of its own.
        { type: 'function_call', call_id: call.call_id, name: 'weather', arguments: '{ "city": "Bern" }' },
        { type: 'function_call_output', call_id: call.call_id, output: [{ type: 'input_text', text: '21' }] },
      ],
    });
    expect(pathsOf(asked.session.record().calls)).toEqual([[0, 1]]);
  });

  test('arguments of a call that is ours need not be readable; of another they are words', async () => {
    const asked = await asking(() => callText('weather', '{"city": "Bern"}'));
    const { output } = await ask(asked, {});
    const sent = (callId: string): object[] => [
      { role: 'user', content: 'how warm is it' },
      { type: 'function_call', call_id: callId, name: 'weather', arguments: '{"city' },
      { role: 'user', content: 'on' },
    ];
    await ask(asked, { input: sent(output[0].call_id) });
    await ask(asked, { input: sent('call_other') });
    const { calls } = asked.session.record();
    expect(calls[1]).toMatchObject({ parent: 0 });
    expect(calls[1]).not.toHaveProperty('newPath');
    // An output that never came is empty.
    expect(calls[1]!.messages[0]).toEqual({ role: 'tool', content: '', toolCallId: output[0].call_id });
    expect(calls[2]).toMatchObject({ parent: 0, newPath: 'foreign-words' });
    expect(calls[2]!.parts![1]).toEqual({ role: 'assistant', content: 'weather({"city)' });
  });

  test('thoughts that were changed are an edit; left out they are none', async () => {
    const asked = await asking(() => '<think>\nhm\n</think>\n\nso');
    const { output } = await ask(asked, {});
    const sent = (thought: object[]): object => ({
      input: [
        { role: 'user', content: 'how warm is it' },
        ...thought,
        { role: 'assistant', content: 'so' },
        { role: 'user', content: 'on' },
      ],
    });
    await ask(asked, sent([output[0]]));
    await ask(asked, sent([]));
    await ask(asked, sent([{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'well' }] }]));
    const { calls } = asked.session.record();
    expect(calls.slice(1).map(({ parent }) => parent)).toEqual([0, 0, 0]);
    const [kept, left, changed] = calls.slice(1).map(({ parts = [] }) => parts);
    expect(kept!.map((part) => 'content' in part && part.content)).toEqual(
      left!.map((part) => 'content' in part && part.content),
    );
    expect(calls.at(-1)).toMatchObject({ newPath: 'foreign-words' });
    expect(changed![1]).toMatchObject({ reasoning: 'well' });
  });

  test('what another session was told is unknown here, and harms nothing', async () => {
    const asked = await asking(() => 'so');
    const first = await ask(asked, {});
    const model = asked.session.models[0]!;
    const other = asked.gateway.open({ name: 'other', seed: 1, model, maxCalls: 9 });
    const send = async (more: object): Promise<Response> =>
      fetch(`${asked.gateway.baseURL(other)}${PATH}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${other.key}` },
        body: JSON.stringify(body(more)),
      });
    const named = await send({ previous_response_id: first.id });
    expect([named.status, ((await named.json()) as Body).error]).toMatchObject([
      400,
      { code: 'previous_response_not_found', param: 'previous_response_id' },
    ]);
    const referred = await send({ input: [{ type: 'item_reference', id: first.output[0].id }] });
    expect([referred.status, ((await referred.json()) as Body).error]).toMatchObject([
      404,
      { param: 'input' },
    ]);
    expect((await send({})).status).toBe(200);
    expect(other.record().calls).toHaveLength(1);
  });
});

describe('other routes', () => {
  test('a response and its items are read, deleted, and then gone', async () => {
    const asked = await asking(() => callText('weather', '{"city": "Bern"}'));
    const told = await ask(asked, { instructions: 'be kind' });
    const { post, gateway, session } = asked;
    expect((await post(`${PATH}/${told.id}`, undefined)).body).toEqual(told);
    const items = await post(`${PATH}/${told.id}/input_items`, undefined);
    expect(items.body).toMatchObject({
      object: 'list',
      data: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'how warm is it' }] }],
      has_more: false,
    });
    expect((await post(`${PATH}/${told.id}/cancel`, {})).status).toBe(400);
    const remove = (): Promise<Response> =>
      fetch(`${gateway.baseURL(session)}${PATH}/${told.id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${session.key}` },
      });
    expect(await (await remove()).json()).toEqual({ id: told.id, object: 'response', deleted: true });
    expect((await remove()).status).toBe(404);
    expect((await post(`${PATH}/compact`, {})).status).toBe(404);
    // The record is not the client's to delete.
    expect(session.record().calls).toHaveLength(1);
  });

  test('tokens of a prompt are counted as they would be read; nothing is recorded', async () => {
    const asked = await asking(() => 'so');
    const counted = await asked.post(`${PATH}/input_tokens`, body());
    expect(counted.body).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
    expect(asked.session.record().calls).toEqual([]);
    expect((await ask(asked, {})).usage.input_tokens).toBe(counted.body.input_tokens);
  });
});

describe('parameters', () => {
  test('what cannot be had is refused by name, with a way', async () => {
    const asked = await asking(() => 'so');
    const cases: [object, string, RegExp][] = [
      [{ background: true }, 'background', /leave it out/],
      [{ conversation: 'conv_1' }, 'conversation', /previous_response_id/],
      [{ prompt: { id: 'p' } }, 'prompt', /instructions/],
      [{ truncation: 'auto' }, 'truncation', /history/],
      [{ tools: [{ type: 'web_search' }] }, 'tools.0', /declare a function/],
      [{ logit_bias: { 5: 1 } }, 'logit_bias', /sampling/],
      [{ min_p: 0.1 }, 'min_p', /sampling/],
      [{ input: [{ type: 'computer_call' }] }, 'input.0', /messages and function calls/],
      [
        { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] },
        'input.0',
        /send text/,
      ],
    ];
    for (const [more, param, message] of cases) {
      const refused = await refusal(asked, more);
      expect(refused).toMatchObject({ status: 400, code: 'unsupported_parameter', param });
      expect(refused.message).toMatch(message);
    }
    expect(await refusal(asked, { input: [] })).toMatchObject({ status: 400, param: 'input' });
    expect(await refusal(asked, { input: [{ role: 'user' }] })).toMatchObject({ param: 'input.0.content' });
    expect(await refusal(asked, { input: [7] })).toMatchObject({ status: 400 });
  });

  test('what clients send by default is taken, and what of it changes nothing is told', async () => {
    const asked = await asking(() => 'so');
    const { headers } = await asked.post(
      PATH,
      body({
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'none' },
        text: { verbosity: 'low' },
        truncation: 'disabled',
        background: false,
        prompt: null,
        stream_options: { include_obfuscation: false },
        user: 'me',
      }),
    );
    expect(headers.get('x-turnwise-ignored')).toBe('reasoning, text.verbosity');
  });

  test('only allowed tools are called', async () => {
    const asked = await asking(() => callText('weather', '{"city": "Bern"}'));
    const tools = ['weather', 'other'].map((name) => ({ type: 'function', name }));
    const allowing = (name: string): object => ({
      tools,
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name }] },
    });
    expect((await ask(asked, allowing('weather'))).output[0].type).toBe('function_call');
    expect((await ask(asked, allowing('other'))).output[0].type).toBe('message');
    expect(await refusal(asked, allowing('none'))).toMatchObject({ code: 'invalid_tool_choice' });
  });

  test('a form is checked, and told where it does not fit', async () => {
    const answers = ['{"a": 1}', 'words'];
    const asked = await asking(() => answers.shift()!);
    const format = { type: 'json_schema', name: 'x', schema: { type: 'object', required: ['a'] } };
    expect((await ask(asked, { text: { format } })).turnwise.valid).toBe(true);
    expect((await ask(asked, { text: { format } })).turnwise.valid).toBe(false);
    expect(asked.session.record().calls[1]!.problem).toBe('the answer is not JSON');
  });
});
