/** The same agent, streaming: `streamText` with tools and several steps, read to its end. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { stepCountIs, streamText, tool } from 'ai';
import { defineAgent } from 'turnwise';
import { z } from 'zod';
import { argumentOf, lookUp, type Question, questionsOf, type Tool, teach } from './knowledge.ts';

const tools = Object.fromEntries(
  (Object.keys(lookUp) as Tool[]).map((name) => [
    name,
    tool({
      description: `Looks up: ${name}.`,
      inputSchema: z.object({ [argumentOf(name)]: z.string() }),
      execute: async (given) => lookUp[name](given[argumentOf(name)]!),
    }),
  ]),
);

export const agent = defineAgent<Question>({
  name: 'company-facts-streamed',
  description: 'Answers questions about a company, streaming (AI SDK).',
  tasks: questionsOf,
  async run({ task, baseURL, apiKey, model, signal }) {
    const provider = createOpenAICompatible({ name: 'turnwise', baseURL, apiKey, includeUsage: true });
    const stream = streamText({
      model: provider(model),
      system: 'answer in one word',
      prompt: task.question,
      tools,
      stopWhen: stepCountIs(6),
      abortSignal: signal,
      maxRetries: 0,
      onError: () => {},
    });
    const words: string[] = [];
    for await (const part of stream.fullStream) {
      if (part.type === 'start-step') words.length = 0;
      if (part.type === 'text-delta') words.push(part.text);
      if (part.type === 'error') throw part.error;
    }
    const success = words.join('') === task.answer;
    return { reward: success ? 1 : 0, success };
  },
  demonstrate: teach,
});
