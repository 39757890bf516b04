/** A gateway whose policy writes calls with words around them and thinks, and one way to ask it in each dialect: for tests. */

import { pretrainedConversation } from '../../../model/chat/pretrained-conversation.ts';
import { parityLanguage } from '../../../model/testing/parity-data.ts';
import type { PromptRequest } from '../../../policy/policy.ts';
import { Gateway, type GatewayOptions } from '../gateway.ts';
import { type PolicyModelOptions, policyModel } from '../policy-model.ts';
import type { GatewaySession } from '../session/session.ts';
import type { SessionOptions } from '../session/session-options.ts';
import { eventsIn, type SentEvent, wholeOf } from './read-stream.ts';
import { type ScriptedTokens, scriptedTokens } from './scripted-policy.ts';

export const renderer = pretrainedConversation(await parityLanguage('tokenizer-qwen'), {
  maxTurnTokens: 256,
});

/** How a model of this family writes a call. */
export const callText = (name: string, given: string): string =>
  `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here.
export type Body = any;

export const PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'number' } },
  required: ['city'],
};

/** The same request in each dialect. */
export const DIALECTS = {
  '/chat/completions': (more: object = {}): object => ({
    model: 'policy',
    messages: [{ role: 'user', content: 'how warm is it' }],
    tools: [{ type: 'function', function: { name: 'weather', parameters: PARAMETERS } }],
    ...more,
  }),
  '/responses': (more: object = {}): object => ({
    model: 'policy',
    input: 'how warm is it',
    tools: [{ type: 'function', name: 'weather', parameters: PARAMETERS }],
    ...more,
  }),
  '/messages': (more: object = {}): object => ({
    model: 'policy',
    max_tokens: 200,
    messages: [{ role: 'user', content: 'how warm is it' }],
    tools: [{ name: 'weather', input_schema: PARAMETERS }],
    ...more,
  }),
} as const;
export type Path = keyof typeof DIALECTS;
export const PATHS = Object.keys(DIALECTS) as Path[];

export interface Asking {
  readonly gateway: Gateway;
  readonly session: GatewaySession;
  readonly policy: ScriptedTokens;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Told>;
}
export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  /** Of a stream. */
  readonly events: readonly SentEvent[];
}

let latest: Gateway | undefined;
export const stopGateway = async (): Promise<void> => latest?.stop();

export async function asking(
  say: (request: PromptRequest) => string | Promise<string>,
  {
    gateway: gatewayOptions = {},
    session: sessionOptions = {},
    model: modelOptions = {},
  }: {
    readonly gateway?: GatewayOptions;
    readonly session?: Partial<SessionOptions>;
    readonly model?: Partial<PolicyModelOptions>;
  } = {},
): Promise<Asking> {
  const policy = scriptedTokens(renderer, say);
  const model = policyModel({ policy, renderer, contextLength: 4096, ...modelOptions });
  const gateway = await new Gateway(gatewayOptions).start();
  latest = gateway;
  const session = gateway.open({ name: 'episode', seed: 1, model, maxCalls: 100, ...sessionOptions });
  return {
    gateway,
    session,
    policy,
    post: async (path, body, headers) => {
      const response = await fetch(`${gateway.baseURL(session)}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${session.key}`, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
      return {
        status: response.status,
        headers: response.headers,
        body: streamed ? wholeOf(path, text) : JSON.parse(text),
        events: streamed ? eventsIn(text) : [],
      };
    },
  };
}
