/** The support desk on the `openai` package's Responses API: each request names the response before it and sends only what is new. */

import OpenAI from 'openai';
import { z } from 'turnwise';
import { deskAgent, filing, MOST_STEPS } from './desk.ts';
import { FILING, RULES } from './rules.ts';
import { schemaOf, tools, use } from './tools.ts';

const offered: OpenAI.Responses.FunctionTool[] = tools.map((tool) => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  parameters: schemaOf(tool),
  strict: true,
}));
const format: OpenAI.Responses.ResponseFormatTextJSONSchemaConfig = {
  type: 'json_schema',
  name: 'filing',
  schema: z.toJSONSchema(filing),
};

export const agent = deskAgent(
  'support-desk-responses',
  'Settles requests of customers with four tools over a database (openai, Responses API).',
  ({ baseURL, apiKey, model, signal }, desk) => {
    const { responses } = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
    let before: string | undefined;
    /** Results that no response has read yet. */
    let results: OpenAI.Responses.ResponseInputItem[] = [];
    return {
      async file(words) {
        const body = { model, instructions: FILING, input: words, text: { format } };
        return (await responses.create(body, { signal })).output_text;
      },
      async answer(words) {
        let input: OpenAI.Responses.ResponseInputItem[] = [...results, { role: 'user', content: words }];
        for (let step = 0; step < MOST_STEPS; step++) {
          const continued = before !== undefined && { previous_response_id: before };
          const body = { model, instructions: RULES, input, tools: offered, ...continued };
          const told = await responses.stream(body, { signal }).finalResponse();
          before = told.id;
          results = await Promise.all(
            told.output
              .filter((item) => item.type === 'function_call')
              .map(async ({ call_id, name, arguments: given }) => ({
                type: 'function_call_output' as const,
                call_id,
                output: await use(desk, name, given),
              })),
          );
          if (results.length === 0) return told.output_text;
          input = results;
        }
        return '';
      },
    };
  },
);
