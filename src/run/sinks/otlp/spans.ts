/** Episodes as traces, by the conventions for generative AI: an agent's invocation, its chats, and what they did. */

import { createHash } from 'node:crypto';
import type { Call, Episode, Transition } from '../../../core/episode.ts';
import { exactJson } from '../../../core/json/exact-json.ts';
import type { JsonObject } from '../../../core/json/json.ts';
import type { StoredEpisodes } from '../sink.ts';
import type { AttributeValue, Span } from './messages.ts';

export interface TracedRun {
  readonly run: string;
  readonly generation: number;
  readonly environment: string;
  /** Whether conversations are sent, and not only their numbers. */
  readonly content: boolean;
}

/**
 * @param began when the episodes of this step began (milliseconds since 1970): the record has times since an episode's start
 */
export function spansOf(
  run: TracedRun,
  { step, label }: StoredEpisodes,
  episode: Episode,
  began: number,
): Span[] {
  const { calls, transitions, key } = episode;
  const identity = [run.run, run.generation, label, key.step, key.group, key.member, key.split, key.task];
  const digest = createHash('sha256').update(identity.join(' ')).digest();
  const trace = new Uint8Array(digest.subarray(0, 16));
  const spanId = (what: string): Uint8Array =>
    new Uint8Array(createHash('sha256').update(digest).update(what).digest().subarray(0, 8));
  const root = spanId('root');
  const ends = [
    ...calls.map(({ at, waitMs, policyMs }) => at + waitMs + policyMs),
    ...transitions.map(({ at, environmentMs }) => at + environmentMs),
  ];
  const roles = Object.keys(episode.outcome);
  const perRole = (name: string, values: Readonly<Record<string, AttributeValue>>) =>
    roles.map((role) => [roles.length === 1 ? name : `${name}.${role}`, values[role]] as const);
  const broken = episode.stop.startsWith('failed:') || episode.stop === 'timeout';
  const invocation: Span = {
    trace,
    id: root,
    name: `invoke_agent ${run.environment}`,
    kind: 'internal',
    from: began,
    to: began + Math.max(0, ...ends),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': run.environment,
      'gen_ai.conversation.id': digest.toString('hex', 16, 24),
      'turnwise.step': step,
      'turnwise.label': label,
      'turnwise.split': key.split,
      'turnwise.task': key.task,
      'turnwise.group': key.group,
      'turnwise.member': key.member,
      'turnwise.stop': episode.stop,
      'turnwise.policy_version': Math.max(...Object.values(episode.seats).map(({ version }) => version)),
      ...Object.fromEntries(perRole('turnwise.reward', episode.outcome)),
      ...Object.fromEntries(perRole('turnwise.success', episode.success)),
    },
    ...(broken && { error: episode.failure ?? episode.stop }),
  };
  const under = { trace, parent: root };
  return [
    invocation,
    ...calls.map((call) => ({ ...under, id: spanId(`call ${call.id}`), ...chat(call, began, run.content) })),
    ...transitions.map((transition, index) => ({
      ...under,
      parent: transition.call === undefined ? root : spanId(`call ${transition.call}`),
      id: spanId(`transition ${index}`),
      ...tool(transition, began, run),
    })),
  ];
}

type Part = Omit<Span, 'trace' | 'id' | 'parent'>;

function chat(call: Call, began: number, content: boolean): Part {
  const model = call.by.name;
  const { temperature, topP, maxTokens } = call.sampling;
  return {
    name: `chat ${model}`,
    kind: call.by.kind === 'model' ? 'client' : 'internal',
    from: began + call.at,
    to: began + call.at + call.waitMs + call.policyMs,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'turnwise',
      'gen_ai.request.model': model,
      'gen_ai.request.temperature': temperature,
      'gen_ai.request.top_p': topP,
      'gen_ai.request.max_tokens': maxTokens,
      'gen_ai.usage.input_tokens': call.context.length,
      'gen_ai.usage.output_tokens': call.ids.length,
      'gen_ai.response.finish_reasons': [call.finish],
      'turnwise.role': call.role,
      'turnwise.purpose': call.purpose,
      'turnwise.policy_version': call.by.version,
      'turnwise.wait_ms': call.waitMs,
      ...(content && {
        'gen_ai.input.messages': exactJson(
          call.messages.map((message) => ({ role: message.role, parts: partsOf(message) })),
        ),
        'gen_ai.output.messages': exactJson([outputOf(call)]),
      }),
    },
  };
}

function tool(
  { role, action, valid, rewards, at, environmentMs }: Transition,
  began: number,
  run: TracedRun,
): Part {
  return {
    name: `execute_tool ${run.environment}`,
    kind: 'internal',
    from: began + at,
    to: began + at + environmentMs,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': run.environment,
      'gen_ai.tool.type': 'function',
      'turnwise.role': role,
      'turnwise.valid': valid,
      'turnwise.reward': rewards[role],
      ...(run.content && { 'gen_ai.tool.call.arguments': action }),
    },
  };
}

interface Said {
  readonly content: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: JsonObject }[];
}

function partsOf({ content, toolCalls = [] }: Said) {
  return [
    { type: 'text', content },
    ...toolCalls.map((one) => ({ type: 'tool_call', name: one.name, arguments: one.arguments })),
  ];
}

function outputOf({ text, reply, finish }: Call) {
  return { role: 'assistant', parts: partsOf(reply ?? { content: text }), finish_reason: finish };
}
