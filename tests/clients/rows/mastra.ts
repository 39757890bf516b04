/** Mastra: a model by its URL, and on Node 22 the AI SDK's providers, which its older major refuses. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

const form = z.object({ city: z.string(), degrees: z.number() });

interface Input {
  readonly city: string;
}

/** The older major hands the input in `context`. */
function inputOf(given: object): Input {
  return ('context' in given ? given.context : given) as Input;
}

/** Models, messages and inputs of tools have other types in each of its majors, so none is named here. */
async function talk(desk: Desk, wanted: Talk, model: object): Promise<string> {
  const { system, questions, tools, stream, structured, rewrite } = wanted;
  const look = createTool({
    id: 'get_weather',
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
    execute: async (given) => desk.weather(inputOf(given)),
  });
  const agent = new Agent({
    id: 'weather',
    name: 'weather',
    instructions: system,
    model: model as never,
    tools: tools ? { get_weather: look } : {},
    maxRetries: 0,
  });
  let messages: object[] = [];
  let words = '';
  for (const content of questions) {
    if (rewrite && words !== '') messages[messages.length - 1] = { role: 'assistant', content: REWRITTEN };
    messages.push({ role: 'user', content });
    const options = { maxSteps: 4, ...(structured && { structuredOutput: { schema: form } }) };
    const result = stream
      ? await agent.stream(messages as never, options)
      : await agent.generate(messages as never, options);
    if ('consumeStream' in result) await result.consumeStream();
    words = structured ? JSON.stringify(await result.object) : await result.text;
    const { messages: said } = (await result.response) as { messages: object[] };
    messages = [...messages, ...said];
  }
  return words;
}

const node22 = Number(process.versions.node.split('.')[0]) >= 22;

export const mastraUrl: Row = {
  name: 'Mastra, a model by its URL',
  packages: ['@mastra/core'],
  without: ['previous id'],
  talk: (desk, wanted) =>
    talk(desk, wanted, { id: 'turnwise/policy', url: desk.baseURL, apiKey: desk.apiKey }),
};
const providers: Row[] = [
  {
    name: 'Mastra, openai()',
    packages: ['@mastra/core', '@ai-sdk/openai'],
    without: ['previous id'],
    talk: (desk, wanted) => talk(desk, wanted, createOpenAI(desk)('policy')),
  },
  {
    name: 'Mastra, anthropic()',
    packages: ['@mastra/core', '@ai-sdk/anthropic'],
    without: ['previous id'],
    talk: (desk, wanted) => talk(desk, wanted, createAnthropic(desk)('policy')),
    // As with the AI SDK: a call of a tool named "json" comes back as words.
    edits: { structured: { paths: 2, reasons: ['foreign-words'] } },
  },
];
export const mastraRows: readonly Row[] = [mastraUrl, ...(node22 ? providers : [])];
