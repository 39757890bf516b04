/** The `openai` package, by hand: a loop over `create`, `stream` and `parse`, in both of its dialects. */

import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

const form = z.object({ city: z.string(), degrees: z.number() });
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const about = { name: 'get_weather', description: 'Weather of a city', parameters, strict: true };
const clientOf = ({ baseURL, apiKey }: Desk): OpenAI => new OpenAI({ baseURL, apiKey, maxRetries: 0 });

export const openaiChat: Row = {
  name: 'openai, chat completions',
  packages: ['openai'],
  without: ['previous id'],
  async talk(desk, { system, questions, tools, stream, structured, rewrite }: Talk) {
    const { completions } = clientOf(desk).chat;
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: system }];
    let words = '';
    for (const content of questions) {
      if (rewrite && words !== '') messages[messages.length - 1] = { role: 'assistant', content: REWRITTEN };
      messages.push({ role: 'user', content });
      for (;;) {
        const body = {
          model: 'policy',
          messages,
          ...(tools && { tools: [{ type: 'function' as const, function: about }] }),
          ...(structured && { response_format: zodResponseFormat(form, 'weather') }),
        };
        const message = stream
          ? await completions.stream({ ...body, stream_options: { include_usage: true } }).finalMessage()
          : (await (structured ? completions.parse(body) : completions.create(body))).choices[0]!.message;
        messages.push(message);
        words = message.content ?? '';
        const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function');
        if (calls.length === 0) break;
        for (const { id, function: made } of calls) {
          messages.push({
            role: 'tool',
            tool_call_id: id,
            content: desk.weather(JSON.parse(made.arguments)),
          });
        }
      }
    }
    return words;
  },
};

export const openaiResponses: Row = {
  name: 'openai, responses',
  packages: ['openai'],
  async talk(desk, { system, questions, tools, stream, structured, previous, rewrite }: Talk) {
    const { responses } = clientOf(desk);
    let input: OpenAI.Responses.ResponseInputItem[] = [];
    let before: string | undefined;
    let words = '';
    for (const content of questions) {
      if (rewrite && words !== '') input[input.length - 1] = { role: 'assistant', content: REWRITTEN };
      input.push({ role: 'user', content });
      for (;;) {
        const body = {
          model: 'policy',
          instructions: system,
          input,
          ...(previous && before !== undefined && { previous_response_id: before }),
          ...(tools && { tools: [{ type: 'function' as const, ...about }] }),
          ...(structured && { text: { format: zodTextFormat(form, 'weather') } }),
        };
        const told = stream
          ? await responses.stream(body).finalResponse()
          : await (structured ? responses.parse(body) : responses.create(body));
        before = told.id;
        words = told.output_text;
        input = previous ? [] : [...input, ...(told.output as OpenAI.Responses.ResponseInputItem[])];
        const calls = told.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) break;
        for (const { call_id, arguments: given } of calls) {
          input.push({ type: 'function_call_output', call_id, output: desk.weather(JSON.parse(given)) });
        }
      }
    }
    return words;
  },
};
