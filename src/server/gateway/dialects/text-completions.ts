/** OpenAI's `/completions`: text in, text out, without messages. */

import { z } from 'zod';
import { openaiError } from '../api-error.ts';
import type { AnsweredChoice } from '../call-recorder.ts';
import type { TextCall } from '../call-request.ts';
import { type Coming, openingOf } from './coming.ts';
import { completionHead, completionsBase, finishReason, harmless, readBase, usageOf } from './completions.ts';
import {
  type Answer,
  type Dialect,
  type Exchange,
  FIRST_READING,
  type Reading,
  type StreamEvent,
} from './dialect.ts';
import { type ParameterRules, penalties, readParameters, topLogprobs } from './parameters.ts';
import { pieces } from './pieces.ts';

const schema = z.object({
  ...completionsBase,
  prompt: z.union([z.string(), z.array(z.int().min(0)).min(1)]),
  logprobs: topLogprobs,
});
const rules: ParameterRules<typeof schema> = {
  schema,
  harmless,
  noted: [],
  neutral: {
    ...penalties,
    echo: (value) => value === false,
    suffix: (value) => value === '',
    best_of: (value) => value === 1,
  },
  absent: {},
};
type Given = z.output<typeof schema>;

export const textCompletions: Dialect = {
  read,
  error: openaiError,
  errorEvent: (error) => ({ data: openaiError(error) }),
};

/** The inner form of a body that stands alone. @throws ApiError 400 */
export const readTextCall = (body: unknown): TextCall => read(body, FIRST_READING).call as TextCall;

function read(body: unknown, reading: Reading): Exchange {
  const given = readParameters(body, rules, reading);
  const call: TextCall = {
    kind: 'text',
    ...readBase(given),
    // The API's own default.
    maxTokens: given.max_tokens ?? 16,
    logprobs: given.logprobs !== null && given.logprobs !== undefined,
    topLogprobs: given.logprobs ?? 0,
    prompt: given.prompt,
  };
  return {
    call,
    stream: given.stream ?? false,
    whole: (answer) => whole(answer, call, given),
    events: (coming) => events(coming, call, given),
  };
}

function whole(answer: Answer, call: TextCall, given: Given): object {
  return {
    ...completionHead(openingOf(answer), call.model, 'cmpl', 'text_completion'),
    choices: answer.choices.map((choice, index) => ({
      index,
      text: choice.message.content,
      ...ending(choice, call, given),
      ...(given.return_token_ids && { prompt_token_ids: [...choice.answer.promptIds] }),
    })),
    usage: usageOf(answer.choices),
  };
}

async function* events(coming: Coming, call: TextCall, given: Given): AsyncGenerator<StreamEvent> {
  let frame = completionHead(await coming.opening, call.model, 'cmpl', 'text_completion');
  const usage = given.stream_options?.include_usage ? { usage: null } : {};
  const chunk = (index: number, text: string): StreamEvent => ({
    data: { ...frame, ...usage, choices: [{ index, text, logprobs: null, finish_reason: null }] },
  });
  for await (const piece of coming.content) yield chunk(0, piece);
  const answer = await coming.answer;
  frame = completionHead(openingOf(answer), call.model, 'cmpl', 'text_completion');
  for (const [index, choice] of answer.choices.entries()) {
    if (index > 0) for (const text of pieces(choice.message.content)) yield chunk(index, text);
    yield { data: { ...frame, ...usage, choices: [{ index, text: '', ...ending(choice, call, given) }] } };
  }
  if (given.stream_options?.include_usage) {
    yield { data: { ...frame, choices: [], usage: usageOf(answer.choices) } };
  }
  yield { data: '[DONE]' };
}

const ending = (choice: AnsweredChoice, call: TextCall, given: Given): object => ({
  logprobs: call.logprobs ? logprobsOf(choice) : null,
  finish_reason: finishReason(choice),
  ...(given.return_token_ids && { token_ids: [...choice.call.ids] }),
});

function logprobsOf({ answer: { told = [] } }: AnsweredChoice): object {
  const tops = told.map(({ top = [] }) =>
    Object.fromEntries(top.map(({ token, logprob }) => [token, logprob])),
  );
  return {
    tokens: told.map(({ token }) => token),
    token_logprobs: told.map(({ logprob }) => logprob),
    top_logprobs: told.some(({ top }) => top !== undefined) ? tops : null,
    text_offset: null,
  };
}
