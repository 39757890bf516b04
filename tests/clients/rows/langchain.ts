/** LangChain JS: `createAgent` over its models of both vendors. */

import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { AIMessage, createAgent, HumanMessage } from 'langchain';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

interface State {
  readonly messages: BaseMessage[];
  readonly structuredResponse?: unknown;
}

const form = z.object({ city: z.string(), degrees: z.number() });

async function talk(desk: Desk, wanted: Talk, model: ChatOpenAI | ChatAnthropic): Promise<string> {
  const { system, questions, tools, stream, structured, rewrite } = wanted;
  const look = tool(async (given) => desk.weather(given as { city: string }), {
    name: 'get_weather',
    description: 'Weather of a city',
    schema: z.object({ city: z.string(), days: z.number().optional() }),
  });
  const agent = createAgent({
    model,
    tools: tools ? [look] : [],
    systemPrompt: system,
    ...(structured && { responseFormat: form }),
  });
  let messages: BaseMessage[] = [];
  let words = '';
  for (const content of questions) {
    if (rewrite && words !== '') messages[messages.length - 1] = new AIMessage(REWRITTEN);
    messages.push(new HumanMessage(content));
    let state: State = { messages };
    if (stream) {
      // Asking for the messages makes it stream them from the model; the last state has them whole.
      const streamMode: ('values' | 'messages')[] = ['values', 'messages'];
      for await (const [mode, part] of await agent.stream({ messages }, { streamMode })) {
        if (mode === 'values') state = part;
      }
    } else state = await agent.invoke({ messages });
    messages = state.messages;
    words = structured ? JSON.stringify(state.structuredResponse) : messages.at(-1)!.text;
  }
  return words;
}

const openai = ({ baseURL, apiKey }: Desk, useResponsesApi: boolean): ChatOpenAI =>
  new ChatOpenAI({ model: 'policy', apiKey, configuration: { baseURL }, maxRetries: 0, useResponsesApi });

/** Its tool for the answer has another name in every call. */
const structured = { paths: 3, reasons: ['tools-changed', 'tools-changed'] };

export const langchainChat: Row = {
  name: 'LangChain, ChatOpenAI',
  packages: ['langchain', '@langchain/openai'],
  without: ['previous id'],
  talk: (desk, wanted) => talk(desk, wanted, openai(desk, false)),
  edits: { structured },
};
export const langchainResponses: Row = {
  name: 'LangChain, ChatOpenAI, responses',
  packages: ['langchain', '@langchain/openai'],
  without: ['previous id'],
  talk: (desk, wanted) => talk(desk, wanted, openai(desk, true)),
  edits: { structured },
};
export const langchainAnthropic: Row = {
  name: 'LangChain, ChatAnthropic',
  packages: ['langchain', '@langchain/anthropic'],
  without: ['previous id'],
  talk: (desk, wanted) =>
    talk(
      desk,
      wanted,
      new ChatAnthropic({
        model: 'policy',
        apiKey: desk.apiKey,
        anthropicApiUrl: desk.anthropicBaseURL,
        maxRetries: 0,
      }),
    ),
  edits: { structured },
};
