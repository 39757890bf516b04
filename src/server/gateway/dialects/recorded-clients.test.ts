/** What real clients sent, sent again: every body is accepted, finds the calls that it goes on from, and loses no token. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewPath } from '../../../core/episode.ts';
import { pretrainedConversation } from '../../../model/pretrained-conversation.ts';
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
          return block.type === 'text' ? block.text : call(block.name, block.streamed_json ?? JSON.stringify(block.input));
        })
      : [answer.choices[0].message].flatMap(({ content, reasoning_content: thinking, tool_calls: calls }: Body) => [
          ...(thinking ? [thought(thinking.trim())] : []),
          content ?? '',
          ...(calls ?? []).map(({ function: made }: Body) => call(made.name, made.arguments)),
        ]);
  return parts.join('');
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
    const { path, answer } = answers[next++]!;
    // An error was answered: whatever is said now, the client never saw it.
    return answer.error ? 'so' : sampledText(path, answer);
  });
  const model = policyModel({ policy, renderer, contextLength: 200_000 });
  const session = gateway.open({ name: 'replay', seed: 1, model, maxCalls: 20 });
  const renamed = new Map<string, string>();
  const statuses: string[] = [];
  for (const { path, headers, body, answer } of requests) {
    let text = JSON.stringify(body);
    for (const [from, to] of renamed) text = text.replaceAll(from, to);
    const key = 'x-api-key' in headers ? { 'x-api-key': session.key } : { authorization: `Bearer ${session.key}` };
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
      expect(prompts.get(id)).toEqual([...policy.requests[index]!.promptIds]);
      expect(ids.length).toBeGreaterThan(0);
    }
    const reasons = calls.flatMap(({ newPath }): NewPath[] => newPath ?? []);
    if (process.env.SHOW) {
      const { appendFileSync } = await import('node:fs');
      appendFileSync(process.env.SHOW, `${[client, variant, scenario, pathsOf(calls).length, reasons.join(' ')].join(' | ')}\n`);
    }
  });
});
