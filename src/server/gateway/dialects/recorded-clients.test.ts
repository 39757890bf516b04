/** What real clients sent, sent again: every body is accepted, finds the calls that it goes on from, and loses no token. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewPath } from '../../../core/episode.ts';
import { pretrainedConversation } from '../../../model/chat/pretrained-conversation.ts';
import { parityLanguage } from '../../../model/testing/parity-data.ts';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { wholeOf } from '../testing/read-stream.ts';
import { pathsOf, promptsOf } from '../testing/rebuild.ts';
import { scriptedTokens } from '../testing/scripted-policy.ts';

// biome-ignore lint/suspicious/noExplicitAny: recorded bodies are looked into freely here.
type Body = any;

interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly answer: Body;
}
interface Case {
  readonly variant: string;
  readonly scenario: string;
  readonly requests: readonly Recorded[];
}

const folder = resolve(import.meta.dirname, '../../../../../shared/data/client-exchanges');
const recorded = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
const renderer = pretrainedConversation(await parityLanguage('tokenizer-qwen'), { maxTurnTokens: 512 });

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

/** What the policy would have sampled to be answered so. */
function sampledText(path: string, answer: Body): string {
  const call = (name: string, given: string): string =>
    `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`;
  const thought = (text: string): string => `<think>\n${text}\n</think>\n\n`;
  const parts: string[] = path.endsWith('/responses')
    ? answer.output.map((item: Body) => {
        if (item.type === 'reasoning') return thought((item.summary[0] ?? item.content[0]).text.trim());
        return item.type === 'message' ? item.content[0].text : call(item.name, item.arguments);
      })
    : path.endsWith('/messages')
      ? answer.content.map((block: Body) => {
          if (block.type === 'thinking') return thought(block.thinking.trim());
          return block.type === 'text'
            ? block.text
            : call(block.name, block.streamed_json ?? JSON.stringify(block.input));
        })
      : [answer.choices[0].message].flatMap(
          ({ content, reasoning_content: thinking, tool_calls: calls }: Body) => [
            ...(thinking ? [thought(thinking.trim())] : []),
            content ?? '',
            ...(calls ?? []).map(({ function: made }: Body) => call(made.name, made.arguments)),
          ],
        );
  return parts.join('');
}

/** What is sampled after a forced beginning: the first call, without it and without words before. */
function afterForced(body: Body, text: string): string {
  const choice = body.tool_choice;
  const name = choice?.name ?? choice?.function?.name;
  const forced = name !== undefined || ['required', 'any'].includes(choice?.type ?? choice);
  if (!forced) return text;
  const begun = renderer.text(renderer.forcedIds!({ ...(name && { name }) }));
  const from = text.indexOf(begun);
  return from < 0 ? `get_weather", "arguments": {}}\n</tool_call>` : text.slice(from + begun.length);
}

/** Ids in the order in which an answer has them, by their kind. */
function idsOf(path: string, answer: Body): string[][] {
  const items: Body[] = answer.output ?? answer.content ?? [];
  const of = (type: string, key = 'id'): string[] =>
    items.filter((item) => item.type === type).map((item) => item[key]);
  if (path.endsWith('/chat/completions'))
    return [(answer.choices[0].message.tool_calls ?? []).map(({ id }: Body) => id)];
  return [
    [answer.id],
    of('message'),
    of('reasoning'),
    of('function_call'),
    of('function_call', 'call_id'),
    of('tool_use'),
  ];
}

async function replay({ requests }: Case) {
  const answers = requests.filter(({ path }) => !path.endsWith('count_tokens'));
  let next = 0;
  const policy = scriptedTokens(renderer, () => {
    const { path, body, answer } = answers[next++]!;
    // Where an error was answered, the client never saw whatever is said now.
    return answer.error ? 'so' : afterForced(body, sampledText(path, answer));
  });
  const model = policyModel({ policy, renderer, contextLength: 200_000 });
  const session = gateway.open({ name: 'replay', seed: 1, model, maxCalls: 20 });
  const renamed = new Map<string, string>();
  const statuses: string[] = [];
  for (const { path, headers, body, answer } of requests) {
    let text = JSON.stringify(body);
    for (const [from, to] of renamed) text = text.replaceAll(from, to);
    const key =
      'x-api-key' in headers ? { 'x-api-key': session.key } : { authorization: `Bearer ${session.key}` };
    const response = await fetch(gateway.anthropicBaseURL(session) + path, {
      method: 'POST',
      headers: { ...headers, ...key, 'content-type': 'application/json' },
      body: text,
    });
    const told = await response.text();
    statuses.push(response.ok ? 'ok' : told);
    if (!response.ok || path.endsWith('count_tokens') || answer.error) continue;
    const whole = body.stream ? wholeOf(path, told) : JSON.parse(told);
    for (const [kind, ids] of idsOf(path, answer).entries()) {
      const given = idsOf(path, whole)[kind]!;
      for (const [index, id] of ids.entries()) if (given[index]) renamed.set(id, given[index]);
    }
  }
  const record = session.record();
  gateway.end(session.id);
  return { statuses, record, policy, asked: answers.length };
}

/** Clients that change what was said: how many paths, and why each that goes on from another begins. */
const EDITS: Readonly<Record<string, readonly [paths: number, ...why: NewPath[]]>> = {
  // The answer in a tool called "json" comes back as words.
  'ai-anthropic struct onestruct': [2, 'foreign-words'],
  // AI SDK 7 keeps the messages of the last step alone.
  'ai-openai.node22 oldidiom one': [2, 'dropped'],
  // The tool of the answer has another name in every call.
  'langchain-anthropic-js createAgentStruct onestruct': [3, 'tools-changed', 'tools-changed'],
  'langchain-openai-js createAgentStruct onestruct': [3, 'tools-changed', 'tools-changed'],
  // Asked once more for the answer's form, without tools; the next turn goes on from the call before.
  'langchain-openai-js struct onestruct': [3, 'tools-changed', 'tools-changed'],
  // Recorded words before a call that is forced, and so has none here.
  'langchain-anthropic-py struct onestruct': [2, 'rewritten'],
  'langchain-openai-py struct onestruct': [2, 'rewritten'],
  // Calls after words are lost.
  'litellm bridge one': [2, 'foreign-words'],
  // Every step is told anew, calls as words.
  smolagents: [3, 'foreign-words', 'foreign-words'],
  'smolagents plan one': [4, 'foreign-words'],
  // Sent again after an error that is none here: a second answer to one question.
  'anthropic-js runner against a server that answers thread: thread_unsupported_request par': [2],
  'anthropic-js runner against a server that answers thread: thread_not_found par': [2],
};

function expectedOf(file: string, variant: string, scenario: string): readonly [number, ...NewPath[]] {
  const client = file.split('.')[0]!;
  const edited = [file, client].flatMap((name) => EDITS[`${name} ${variant} ${scenario}`] ?? []);
  if (edited.length > 0) return edited as unknown as readonly [number, ...NewPath[]];
  // The template leaves out what was thought in earlier turns.
  if (scenario.endsWith('think')) return [2, 'rewritten'];
  return EDITS[client] ?? [1];
}

describe.skipIf(recorded.length === 0)(`recorded clients, where ${folder} is there`, () => {
  const cases = recorded.flatMap((file) => {
    const { cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { cases: Case[] };
    return cases.map((one) => [file.replace('.json', ''), one.variant, one.scenario, one] as const);
  });

  test.each(cases)('%s, %s, %s', async (client, variant, scenario, one) => {
    const { statuses, record, policy, asked } = await replay(one);
    expect(statuses).toEqual(one.requests.map(() => 'ok'));
    const { calls, untrainable } = record;
    expect(calls).toHaveLength(asked);
    expect(untrainable).toEqual({});
    const prompts = promptsOf(calls);
    for (const [index, { id, ids }] of calls.entries()) {
      expect(prompts.get(id)).toEqual([...policy.requests[index]!.append]);
      expect(ids.length).toBeGreaterThan(0);
    }
    const reasons = calls.flatMap(({ newPath }) => (newPath ? [newPath] : []));
    // What the stub answered there cannot be said here: a call that cannot be read stays words.
    if (scenario.endsWith('badargs')) return;
    const [paths, ...why] = expectedOf(client, variant, scenario);
    expect([pathsOf(calls).length, ...reasons]).toEqual([paths, ...why]);
  });
});
