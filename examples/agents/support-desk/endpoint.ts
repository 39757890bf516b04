/**
 * A clerk behind an address, in place of a model that you rent: an endpoint of chat completions that answers as the scripted
 * teacher does. `node endpoint.ts` (Node 22.18 and later; before, `npx tsx endpoint.ts`) serves it at 127.0.0.1:8123, or at PORT.
 */

import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import { type JsonObject, type Message, Rng, z } from 'turnwise';
import { requestsOf } from './customers.ts';
import { teach } from './teacher.ts';

const body = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: z.unknown(),
      tool_calls: z
        .array(
          z.looseObject({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }),
        )
        .optional(),
    }),
  ),
  tools: z.array(z.unknown()).optional(),
  stream: z.boolean().optional(),
});

const everybody = (['train', 'validation', 'test'] as const).flatMap(requestsOf);

/** What the clerk says to a request, as a message of chat completions. */
export function answerTo(request: unknown, rng: Rng): JsonObject {
  const { messages, tools = [] } = body.parse(request);
  const heard = messages.map(({ role, content, tool_calls = [] }) => ({
    role: role as Message['role'],
    content: typeof content === 'string' ? content : JSON.stringify(content ?? ''),
    toolCalls: tool_calls.map(({ id, function: { name, arguments: given } }) => ({
      ...{ id, name },
      arguments: JSON.parse(given) as JsonObject,
    })),
  }));
  const words = heard.find(({ role }) => role === 'user')?.content ?? '';
  const task = everybody.find(({ opening }) => words.includes(opening));
  if (task === undefined) return { role: 'assistant', content: 'who are you' };
  const { content = '', toolCalls = [] } = teach({
    ...{ task, role: 'agent', messages: heard as readonly Message[], player: 'expert', rng },
    tools: tools.map(() => 'tool'),
  });
  return {
    ...{ role: 'assistant', content },
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ name, arguments: given }, index) => ({
        ...{ index, id: `call_${Math.floor(rng.next() * 1e9)}`, type: 'function' },
        function: { name, arguments: JSON.stringify(given) },
      })),
    }),
  };
}

/** @returns the address of the endpoint, and what closes it */
export async function serveClerk(port = 0): Promise<{ readonly url: string; close(): void }> {
  const rng = Rng.of('clerk');
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const asked = JSON.parse(text) as { readonly model?: string; readonly stream?: boolean };
    const message = answerTo(asked, rng);
    const finish = message.tool_calls ? 'tool_calls' : 'stop';
    const common = { id: 'chatcmpl-clerk', created: 0, model: asked.model ?? 'clerk' };
    const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    if (asked.stream !== true) {
      response.setHeader('content-type', 'application/json');
      const choices = [{ index: 0, message, finish_reason: finish }];
      response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    const chunk = (delta: JsonObject, reason: string | null): string =>
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    response.end(`${chunk(message, null)}${chunk({}, finish)}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as { readonly port: number };
  return { url: `http://127.0.0.1:${address.port}/v1`, close: () => server.close() };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { url } = await serveClerk(Number(process.env.PORT ?? 8123));
  console.log(url);
}
