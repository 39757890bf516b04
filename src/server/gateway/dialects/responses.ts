/** OpenAI's `/responses`. Its state is the session's: responses by their ids, and items by theirs. */

import type { JsonObject } from '../../../core/json/json.ts';
import { badRequest, openaiError } from '../api-error.ts';
import type { AnsweredChoice } from '../call-recorder.ts';
import { type ChatCall, type ResponseFormat, type ToolChoice, UNSAMPLED } from '../call-request.ts';
import { type Opening, openingOf } from './coming.ts';
import {
  type Answer,
  type CountedPrompt,
  type Dialect,
  type Exchange,
  type Reading,
  refOf,
} from './dialect.ts';
import { checkChoice, declared, readParameters, strictIn, unsupported } from './parameters.ts';
import { readItems, wireItems } from './responses-items.ts';
import { type OutputItem, outputOf, streamOf } from './responses-output.ts';
import { countRules, type Given, type GivenPrompt, rules } from './responses-request.ts';
import { Transcript } from './transcript.ts';

export const responses: Dialect = {
  read,
  error: openaiError,
  errorEvent: ({ code, message, param }) => ({
    event: 'error',
    data: { type: 'error', sequence_number: 0, code, message, param: param ?? null },
  }),
};

function read(body: unknown, reading: Reading): Exchange {
  const given = readParameters(body, rules, reading);
  if (given.truncation === 'auto') {
    throw unsupported('truncation', 'it would edit the history; leave items out yourself');
  }
  if (given.text?.verbosity) reading.ignore('text.verbosity');
  const include = given.include ?? [];
  const call: ChatCall = {
    ...readPrompt(given, reading),
    temperature: given.temperature ?? undefined,
    topP: given.top_p ?? undefined,
    topK: given.top_k === -1 ? 0 : (given.top_k ?? undefined),
    maxTokens: given.max_output_tokens ?? undefined,
    seed: given.seed ?? undefined,
    stop: given.stop === null || given.stop === undefined ? [] : [given.stop].flat(),
    logprobs: include.includes('message.output_text.logprobs') || (given.top_logprobs ?? 0) > 0,
    topLogprobs: given.top_logprobs ?? 0,
  };
  const encrypted = include.includes('reasoning.encrypted_content');
  const output = (answer: Answer): OutputItem[] => outputOf(answer.choices[0]!, { call, encrypted });
  const whole = (answer: Answer): object => {
    const items = output(answer);
    return responseOf(
      openingOf(answer),
      given,
      call,
      statusOf(answer),
      items,
      answer.choices[0]!.answer.tokens,
    );
  };
  return {
    call,
    stream: given.stream ?? false,
    keeps: 'response',
    instructed: Boolean(given.instructions),
    whole,
    events: (coming) =>
      streamOf({
        coming,
        encrypted,
        items: output,
        begun: (opening) => responseOf(opening, given, call, 'in_progress', []),
        ended: (answer) => ({ type: `response.${statusOf(answer)}`, response: whole(answer) }),
      }),
  };
}

/** What is asked, without how it is sampled. */
function readPrompt(given: GivenPrompt, reading: Reading): ChatCall {
  const { tool_choice: choice } = given;
  const tools = (given.tools ?? []).map(({ type, name, description, parameters }, index) => {
    if (type !== 'function') {
      throw unsupported(
        `tools.${index}`,
        `tools of type "${type}" run on the vendor’s servers; declare a function`,
      );
    }
    if (name === undefined) throw badRequest('invalid_value', `tools.${index}.name is missing.`, 'tools');
    return declared(name, description, parameters);
  });
  const callable =
    typeof choice === 'object' && choice?.type === 'allowed_tools'
      ? choice.tools.map(({ name }) => name)
      : undefined;
  for (const name of callable ?? []) checkChoice({ name }, tools);
  const { messages, refs } = transcriptOf(given, reading);
  if (messages.length === 0) {
    throw badRequest('invalid_value', 'There is nothing to answer: "input" is empty.', 'input');
  }
  return {
    ...UNSAMPLED,
    model: given.model,
    messages,
    refs,
    tools,
    toolChoice: checkChoice(readToolChoice(choice), tools),
    strictTools: strictIn(given.tools ?? []),
    ...(callable && { callable }),
    parallelToolCalls: given.parallel_tool_calls ?? true,
    callIdPrefix: 'call',
    responseFormat: readFormat(given.text),
  };
}

function transcriptOf(given: GivenPrompt, reading: Reading): Transcript {
  const { instructions, previous_response_id: previous, input } = given;
  const transcript = new Transcript(reading);
  if (instructions) transcript.add({ role: 'system', content: instructions });
  if (previous) {
    const kept = reading.kept(refOf(previous));
    if (!previous.startsWith('resp_') || kept?.exchange.keeps !== 'response') {
      throw badRequest(
        'previous_response_not_found',
        `There is no response "${previous}" in this session.`,
        'previous_response_id',
      );
    }
    const [choice] = kept.answer.choices;
    // Everything but its instructions, which every request brings anew.
    transcript.addAll(kept.exchange.call as ChatCall, kept.exchange.instructed ? 1 : 0);
    transcript.addAnswer(choice!.message, choice!.ref);
  }
  if (typeof input === 'string') transcript.add({ role: 'user', content: input });
  else readItems(input ?? [], transcript, reading);
  return transcript;
}

function readToolChoice(choice: Given['tool_choice']): ToolChoice {
  if (choice === null || choice === undefined) return 'auto';
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.mode : { name: choice.name };
}

function readFormat(given: Given['text']): ResponseFormat {
  const wanted = given?.format ?? { type: 'text' };
  return wanted.type === 'json_schema'
    ? { type: 'json_schema', schema: wanted.schema as JsonObject }
    : wanted;
}

/** `/responses/input_tokens`: the call whose prompt is counted, and what its client is told. */
export function readInputTokens(body: unknown, reading: Reading): CountedPrompt {
  const call = readPrompt(readParameters(body, countRules, reading), reading);
  return {
    call,
    told: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  };
}

/** `/responses/{id}/input_items`: all that stood before the answer. */
export function inputItems({ call, instructed }: Exchange): object {
  const data = wireItems((call as ChatCall).messages.slice(instructed ? 1 : 0));
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: false,
  };
}

const statusOf = ({ choices }: Answer): string =>
  choices[0]!.call.finish === 'length' ? 'incomplete' : 'completed';

/** @param tokens absent where it is in progress */
function responseOf(
  { ref, created, told }: Opening,
  given: Given,
  call: ChatCall,
  status: string,
  output: readonly object[],
  tokens?: AnsweredChoice['answer']['tokens'],
): object {
  return {
    id: `resp_${ref}`,
    object: 'response',
    created_at: created,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: given.instructions ?? null,
    max_output_tokens: given.max_output_tokens ?? null,
    model: given.model,
    output,
    parallel_tool_calls: call.parallelToolCalls,
    previous_response_id: given.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: given.store ?? true,
    temperature: given.temperature ?? 1,
    text: { format: given.text?.format ?? { type: 'text' } },
    tool_choice: given.tool_choice ?? 'auto',
    tools: given.tools ?? [],
    top_p: given.top_p ?? 1,
    truncation: 'disabled',
    usage: tokens
      ? {
          input_tokens: tokens.prompt,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: tokens.completion,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: tokens.prompt + tokens.completion,
        }
      : null,
    metadata: given.metadata ?? {},
    turnwise: told,
  };
}
