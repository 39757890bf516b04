/** Adds the events of a stream up to the answer that they tell, as clients do: for tests. */

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here.
type Body = any;

export interface SentEvent {
  readonly event?: string;
  readonly data: string;
}

export function eventsIn(text: string): SentEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.trim() !== '' && !block.startsWith(':'))
    .map((block) => {
      const lines = block.split('\n');
      const fieldOf = (field: string): string | undefined =>
        lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
      const event = fieldOf('event');
      return { ...(event !== undefined && { event }), data: fieldOf('data')! };
    });
}

/** @param path of the route that was asked */
export function wholeOf(path: string, text: string): Body {
  const sent = eventsIn(text).filter(({ data }) => data !== '[DONE]');
  const events: Body[] = sent.map(({ data }) => JSON.parse(data));
  if (path.endsWith('/responses')) return response(events);
  return path.endsWith('/messages') ? message(events) : completion(events);
}

/** From the deltas alone; the last event has it all, which must be the same. */
function response(events: Body[]): Body {
  const output: Body[] = [];
  for (const event of events) {
    const item = output[event.output_index];
    if (event.type === 'response.output_item.added') output.push(structuredClone(event.item));
    if (event.type === 'response.content_part.added') item.content.push(structuredClone(event.part));
    if (event.type === 'response.output_text.delta') item.content[event.content_index].text += event.delta;
    if (event.type === 'response.output_text.done')
      item.content[event.content_index].logprobs = event.logprobs;
    if (event.type === 'response.reasoning_summary_part.added') item.summary.push({ ...event.part });
    if (event.type === 'response.reasoning_summary_text.delta')
      item.summary[event.summary_index].text += event.delta;
    if (event.type === 'response.function_call_arguments.delta') item.arguments += event.delta;
    if (event.type === 'response.output_item.done') item.status = event.item.status;
  }
  return { ...events.at(-1).response, output };
}

function message(events: Body[]): Body {
  const whole = structuredClone(events[0].message);
  const json: string[] = [];
  for (const event of events) {
    if (event.type === 'content_block_start') {
      whole.content[event.index] = { ...event.content_block };
      json[event.index] = '';
    }
    if (event.type === 'content_block_delta') {
      const block = whole.content[event.index];
      const { delta } = event;
      if (delta.type === 'text_delta') block.text += delta.text;
      if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
      if (delta.type === 'signature_delta') block.signature += delta.signature;
      if (delta.type === 'input_json_delta') json[event.index] += delta.partial_json;
    }
    if (event.type === 'content_block_stop' && whole.content[event.index].type === 'tool_use')
      whole.content[event.index].input = JSON.parse(json[event.index]!);
    if (event.type === 'message_delta')
      Object.assign(whole, event.delta, { usage: event.usage, turnwise: event.turnwise });
  }
  return whole;
}

function completion(events: Body[]): Body {
  const { choices: _, ...head } = events[0];
  const choices: Body[] = [];
  for (const event of events) {
    for (const { index, delta, text, finish_reason: finish, logprobs } of event.choices) {
      choices[index] ??= {
        index,
        ...(delta ? { message: { role: 'assistant', content: '' } } : { text: '' }),
      };
      const choice = choices[index];
      if (text) choice.text += text;
      if (delta?.content) choice.message.content += delta.content;
      if (delta?.reasoning_content)
        choice.message.reasoning_content = (choice.message.reasoning_content ?? '') + delta.reasoning_content;
      for (const call of delta?.tool_calls ?? []) {
        choice.message.tool_calls ??= [];
        const { index: at, ...begun } = call;
        if (call.id) choice.message.tool_calls[at] = structuredClone(begun);
        else choice.message.tool_calls[at].function.arguments += call.function.arguments;
      }
      if (finish) Object.assign(choice, { finish_reason: finish, logprobs });
    }
  }
  const usage = events.at(-1).usage;
  // Events before the end of sampling do not know whether the answer is valid.
  const { turnwise } = events.at(-1);
  return { ...head, turnwise, choices, ...(usage && { usage }) };
}
