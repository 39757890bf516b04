/** An agent of the AI SDK: it looks facts up with three tools, one after another. `turnwise train examples/agents/ai-sdk.ts` */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, tool } from 'ai';
import { defineAgent } from 'turnwise';
import { z } from 'zod';
import { lookUp, type Question, questionsOf, teach } from './knowledge.ts';

const tools = {
  manager: tool({
    description: 'Who manages a person.',
    inputSchema: z.object({ person: z.string() }),
    execute: async ({ person }) => lookUp.manager(person),
  }),
  office: tool({
    description: 'The city in which a person works.',
    inputSchema: z.object({ person: z.string() }),
    execute: async ({ person }) => lookUp.office(person),
  }),
  country: tool({
    description: 'The country of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => lookUp.country(city),
  }),
};

export const agent = defineAgent<Question>({
  name: 'company-facts',
  description: 'Answers questions about a company by calling one to three tools (AI SDK).',
  tasks: questionsOf,
  async run({ task, baseURL, apiKey, model, signal }) {
    const provider = createOpenAICompatible({ name: 'turnwise', baseURL, apiKey });
    const { text } = await generateText({
      model: provider(model),
      prompt: task.question,
      tools,
      stopWhen: stepCountIs(6),
      abortSignal: signal,
      maxRetries: 0,
    });
    const success = text === task.answer;
    return { reward: success ? 1 : 0, success, info: { answered: text } };
  },
  demonstrate: teach,
  settings: {
    steps: 70,
    clone: { demonstrations: 600, beginnerShare: 0.75, steps: 300 },
    tasks: { name: 'revisit', share: 0.5 },
    rollout: { tasks: 16, group: 8, concurrency: 128 },
    evaluation: { every: 10, tasks: 48, finalTasks: 192 },
  },
});
