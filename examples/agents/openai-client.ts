/** An agent on the official `openai` client: a loop of its own, and a second opinion asked for at the same time. */

import OpenAI from 'openai';
import { defineAgent } from 'turnwise';
import { argumentOf, lookUp, type Question, questionsOf, type Tool, teach } from './knowledge.ts';

const tools: OpenAI.ChatCompletionFunctionTool[] = (Object.keys(lookUp) as Tool[]).map((name) => ({
  type: 'function',
  function: {
    name,
    description: `Looks up: ${name}.`,
    parameters: { type: 'object', properties: { [argumentOf(name)]: { type: 'string' } } },
  },
}));

/** Calls tools until it answers. */
async function solve(client: OpenAI, model: string, question: string, signal: AbortSignal): Promise<string> {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }];
  for (let step = 0; step < 6; step++) {
    const { choices } = await client.chat.completions.create({ model, messages, tools }, { signal });
    const { message } = choices[0]!;
    messages.push(message);
    if (!message.tool_calls) return message.content ?? '';
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const name = call.function.name as Tool;
      const given = JSON.parse(call.function.arguments) as Record<string, string>;
      messages.push({
        role: 'tool',
        tool_call_id: call.id,
        content: lookUp[name](given[argumentOf(name)] ?? ''),
      });
    }
  }
  return '';
}

export const agent = defineAgent<Question>({
  name: 'company-facts-openai',
  description:
    'Answers questions about a company twice at once, and is sure when both agree (openai client).',
  tasks: questionsOf,
  async run({ task, baseURL, apiKey, model, signal }) {
    const client = new OpenAI({ baseURL, apiKey });
    const answers = await Promise.all([1, 2].map(() => solve(client, model, task.question, signal)));
    const right = answers.filter((answer) => answer === task.answer).length;
    return { reward: right / 2, success: right === 2, info: { answers } };
  },
  demonstrate: teach,
});
