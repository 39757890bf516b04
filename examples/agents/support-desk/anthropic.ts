/** The support desk on `@anthropic-ai/sdk`: streamed messages, several tools at once, and a structured answer. */

import Anthropic from '@anthropic-ai/sdk';
import { z } from 'turnwise';
import { deskAgent, filing, MOST_STEPS } from './desk.ts';
import { FILING, RULES } from './rules.ts';
import { schemaOf, tools, use } from './tools.ts';

const MOST_TOKENS = 256;

const offered: Anthropic.Tool[] = tools.map((tool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: schemaOf(tool),
}));
const textOf = (content: readonly Anthropic.ContentBlock[]): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

export const agent = deskAgent(
  'support-desk-anthropic',
  'Settles requests of customers with four tools over a database (@anthropic-ai/sdk).',
  ({ anthropicBaseURL: baseURL, apiKey, model, signal }, desk) => {
    const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
    const common = { model, max_tokens: MOST_TOKENS };
    const messages: Anthropic.MessageParam[] = [];
    return {
      async file(words) {
        const format = { type: 'json_schema' as const, schema: z.toJSONSchema(filing) };
        const asked = [{ role: 'user' as const, content: words }];
        const body = { ...common, system: FILING, messages: asked, output_config: { format } };
        return textOf((await client.messages.create(body, { signal })).content);
      },
      async answer(words) {
        messages.push({ role: 'user', content: words });
        for (let step = 0; step < MOST_STEPS; step++) {
          const body = { ...common, system: RULES, messages, tools: offered };
          const { content } = await client.messages.stream(body, { signal }).finalMessage();
          // An empty answer is no message that the API takes back.
          if (content.length > 0) messages.push({ role: 'assistant', content });
          const calls = content.filter((block) => block.type === 'tool_use');
          if (calls.length === 0) return textOf(content);
          const results = await Promise.all(
            calls.map(async ({ id, name, input }) => ({
              type: 'tool_result' as const,
              tool_use_id: id,
              content: await use(desk, name, input),
            })),
          );
          messages.push({ role: 'user', content: results });
        }
        return '';
      },
    };
  },
);
