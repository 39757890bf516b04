/** The support desk on the AI SDK: streamed text with tools in several steps, and a structured answer. */

import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  type ModelMessage,
  NoObjectGeneratedError,
  Output,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { deskAgent, filing, MOST_STEPS } from './desk.ts';
import { FILING, RULES } from './rules.ts';
import { tools, use } from './tools.ts';

export const agent = deskAgent(
  'support-desk',
  'Settles requests of customers with four tools over a database (AI SDK).',
  ({ baseURL, apiKey, model: name, signal }, desk) => {
    const model = createOpenAICompatible({
      name: 'turnwise',
      baseURL,
      apiKey,
      supportsStructuredOutputs: true,
    })(name);
    const common = { model, abortSignal: signal, maxRetries: 0 };
    const offered = Object.fromEntries(
      tools.map(({ name, description, parameters }) => [
        name,
        tool({ description, inputSchema: parameters, execute: (given) => use(desk, name, given) }),
      ]),
    );
    const messages: ModelMessage[] = [];
    return {
      async file(words) {
        const output = Output.object({ schema: filing });
        try {
          return (await generateText({ ...common, system: FILING, prompt: words, output })).text;
        } catch (error) {
          // An answer of another form is the policy's doing, and is filed as it is.
          if (NoObjectGeneratedError.isInstance(error)) return error.text ?? '';
          throw error;
        }
      },
      async answer(words) {
        messages.push({ role: 'user', content: words });
        const stream = streamText({
          ...common,
          system: RULES,
          messages,
          tools: offered,
          stopWhen: stepCountIs(MOST_STEPS),
          onError: () => {},
        });
        const said: string[] = [];
        for await (const part of stream.fullStream) {
          if (part.type === 'start-step') said.length = 0;
          if (part.type === 'text-delta') said.push(part.text);
          if (part.type === 'error') throw part.error;
        }
        messages.push(...(await stream.response).messages);
        return said.join('');
      },
    };
  },
);
