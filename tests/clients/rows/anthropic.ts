/** `@anthropic-ai/sdk`: a loop by hand, and its own tool runner, whose threads send only what is new. */

import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import { z } from 'zod';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

const form = z.object({ city: z.string(), degrees: z.number() });
const input_schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
};
const about = { name: 'get_weather', description: 'Weather of a city', input_schema };

export const anthropicSdk: Row = {
  name: '@anthropic-ai/sdk',
  packages: ['@anthropic-ai/sdk'],
  async talk(desk, wanted: Talk) {
    const { system, questions, tools, stream, structured, previous, rewrite } = wanted;
    const client = new Anthropic({ baseURL: desk.anthropicBaseURL, apiKey: desk.apiKey, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [];
    let words = '';
    for (const content of questions) {
      if (rewrite && words !== '') messages[messages.length - 1] = { role: 'assistant', content: REWRITTEN };
      messages.push({ role: 'user', content });
      if (previous) {
        const runner = client.beta.messages.toolRunner({
          model: 'policy',
          max_tokens: 256,
          system,
          messages: messages as Anthropic.Beta.BetaMessageParam[],
          tools: [
            {
              ...about,
              run: async (given: unknown) => desk.weather(given as { city: string }),
              parse: (given: unknown) => given,
            },
          ],
        });
        const last = await runner.runUntilDone();
        return last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      }
      for (;;) {
        const body = {
          model: 'policy',
          max_tokens: 256,
          system,
          messages,
          ...(tools && { tools: [about] }),
          ...(structured && { output_config: { format: zodOutputFormat(form) } }),
        };
        const message = stream
          ? await client.messages.stream(body).finalMessage()
          : await (structured ? client.messages.parse(body) : client.messages.create(body));
        messages.push({ role: 'assistant', content: message.content as Anthropic.ContentBlockParam[] });
        words = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
        const uses = message.content.filter((block) => block.type === 'tool_use');
        if (uses.length === 0) break;
        messages.push({
          role: 'user',
          content: uses.map(({ id, input }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: desk.weather(input as { city: string }),
          })),
        });
      }
    }
    return words;
  },
  // A runner is one turn: the call of the tool, and the answer.
  edits: { 'previous id': { calls: 2, paths: 1, reasons: [] } },
};
