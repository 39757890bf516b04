/** The AI SDK with its own providers: `openai()`, which is `/responses`, `openai.chat()` and `anthropic()`. */

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import {
  generateText,
  type LanguageModel,
  type ModelMessage,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';
import type { Desk } from '../desk.ts';
import { REWRITTEN, type Row, type Talk } from '../row.ts';

const form = z.object({ city: z.string(), degrees: z.number() });

async function talk(desk: Desk, wanted: Talk, model: LanguageModel): Promise<string> {
  const { system, questions, tools, stream, structured, previous, rewrite } = wanted;
  let messages: ModelMessage[] = [];
  let before: string | undefined;
  let words = '';
  for (const content of questions) {
    if (rewrite && words !== '') messages[messages.length - 1] = { role: 'assistant', content: REWRITTEN };
    messages.push({ role: 'user', content });
    const options = {
      model,
      system,
      messages,
      maxRetries: 0,
      ...(tools && {
        tools: {
          get_weather: tool({
            description: 'Weather of a city',
            inputSchema: z.object({ city: z.string(), days: z.number().optional() }),
            execute: async (given) => desk.weather(given),
          }),
        },
        stopWhen: stepCountIs(4),
      }),
      ...(structured && { output: Output.object({ schema: form }) }),
      ...(previous &&
        before !== undefined && { providerOptions: { openai: { previousResponseId: before } } }),
    };
    const result = stream ? streamText(options) : await generateText(options);
    if ('consumeStream' in result) await result.consumeStream();
    words = structured ? JSON.stringify(await result.output) : await result.text;
    before = (await result.providerMetadata)?.openai?.responseId as string | undefined;
    const response = await result.response;
    // AI SDK 7 has the messages of all steps there.
    const said = 'responseMessages' in result ? await result.responseMessages : response.messages;
    messages = previous ? [] : [...messages, ...(said as ModelMessage[])];
  }
  return words;
}

export const aiSdkOpenai: Row = {
  name: 'AI SDK, openai()',
  packages: ['ai', '@ai-sdk/openai'],
  talk: (desk, wanted) => talk(desk, wanted, createOpenAI(desk)('policy')),
};
export const aiSdkOpenaiChat: Row = {
  name: 'AI SDK, openai.chat()',
  packages: ['ai', '@ai-sdk/openai'],
  without: ['previous id'],
  talk: (desk, wanted) => talk(desk, wanted, createOpenAI(desk).chat('policy')),
};
export const aiSdkAnthropic: Row = {
  name: 'AI SDK, anthropic()',
  packages: ['ai', '@ai-sdk/anthropic'],
  without: ['previous id'],
  talk: (desk, wanted) => talk(desk, wanted, createAnthropic(desk)('policy')),
  // The answer is a call of a tool named "json", which comes back as words.
  edits: { structured: { paths: 2, reasons: ['foreign-words'] } },
};
