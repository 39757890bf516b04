/** The stand-in for a rented model: what a client of chat completions reads, streamed and whole. */

import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestsOf } from './customers.ts';
import { serveClerk } from './endpoint.ts';
import { settle } from './rules.ts';
import { tools } from './tools.ts';

let served: Awaited<ReturnType<typeof serveClerk>>;
let client: OpenAI;
beforeAll(async () => {
  served = await serveClerk();
  client = new OpenAI({ baseURL: served.url, apiKey: 'any', maxRetries: 0 });
});
afterAll(() => served.close());

const task = requestsOf('test').find(({ kind, items }) => kind === 'refund' && items.length === 1)!;
const offered = tools.map(({ name }) => ({ type: 'function' as const, function: { name, parameters: {} } }));
const opening = { role: 'user' as const, content: task.opening };

test('files the request in the form that is asked for', async () => {
  const { choices } = await client.chat.completions.create({ model: 'clerk', messages: [opening] });
  expect(JSON.parse(choices[0]!.message.content!)).toEqual({ kind: 'refund' });
});

test('looks up, settles and says so, streamed', async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { ...opening, content: `${task.opening} it is the ${task.item}` },
  ];
  const called: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const stream = client.chat.completions.stream({ model: 'clerk', messages, tools: offered });
    const { message } = (await stream.finalChatCompletion()).choices[0]!;
    messages.push(message);
    for (const call of message.tool_calls ?? []) {
      if (call.type !== 'function') continue;
      called.push(call.function.name);
      messages.push({ role: 'tool', tool_call_id: call.id, content: 'as it was' });
    }
  }
  expect(called).toEqual(['find_order', settle(task).name]);
  expect(messages.at(-1)).toMatchObject({ content: expect.stringMatching(/done|colleague/) });
});

test('does not know people who are no customers', async () => {
  const messages = [{ role: 'user' as const, content: 'hello' }];
  const { choices } = await client.chat.completions.create({ model: 'clerk', messages });
  expect(choices[0]!.message.content).toBe('who are you');
});
