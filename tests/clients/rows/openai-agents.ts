/** `@openai/agents` in both dialects, with its own loop. Tracing is off: it would send keys and prompts to its vendor. */

import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents';
import OpenAI from 'openai';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

const form = z.object({ city: z.string(), degrees: z.number() });

async function talk(desk: Desk, wanted: Talk, useResponses: boolean): Promise<string> {
  const { system, questions, tools, stream, structured, previous, rewrite } = wanted;
  const openAIClient = new OpenAI({ baseURL: desk.baseURL, apiKey: desk.apiKey, maxRetries: 0 });
  const runner = new Runner({
    // Its own copy of `openai` may be another major.
    modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never, useResponses }),
    tracingDisabled: true,
  });
  const look = tool({
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: z.object({ city: z.string(), days: z.number().nullable() }),
    execute: async (given) => desk.weather(given),
  });
  const agent = new Agent({
    name: 'weather',
    instructions: system,
    model: 'policy',
    tools: tools ? [look] : [],
    ...(structured && { outputType: form }),
  });
  let history: AgentInputItem[] = [];
  let before: string | undefined;
  let words = '';
  for (const content of questions) {
    if (rewrite && words !== '') {
      history[history.length - 1] = {
        ...{ type: 'message', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: REWRITTEN }],
      };
    }
    const input: AgentInputItem[] = [...(previous ? [] : history), { role: 'user', content }];
    const options = previous && before !== undefined ? { previousResponseId: before } : {};
    const result = stream
      ? await runner.run(agent, input, { ...options, stream: true })
      : await runner.run(agent, input, options);
    if ('completed' in result) await result.completed;
    history = result.history;
    before = result.lastResponseId;
    words = structured ? JSON.stringify(result.finalOutput) : String(result.finalOutput);
  }
  return words;
}

export const agentsResponses: Row = {
  name: '@openai/agents, responses',
  packages: ['@openai/agents'],
  talk: (desk, wanted) => talk(desk, wanted, true),
};
export const agentsChat: Row = {
  name: '@openai/agents, chat completions',
  packages: ['@openai/agents'],
  without: ['previous id'],
  talk: (desk, wanted) => talk(desk, wanted, false),
};
