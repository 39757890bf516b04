/** A gateway with one session and a policy that says what it is told to, for tests. */

import type { PromptRequest } from '../../../policy/policy.ts';
import { Gateway, type GatewayOptions } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import type { GatewaySession } from '../session/session.ts';
import type { SessionOptions } from '../session/session-options.ts';
import { rendererOf, type ScriptedTokens, scriptedTokens } from './scripted-policy.ts';

export const renderer = rendererOf(
  'hello there who is ada person: look one two three stop {"a":1} {"a":"x"} [1]',
);
export const LOOK = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { person: { type: 'string' } } } },
};

let latest: Gateway | undefined;
export const gateway = (): Gateway => latest!;
export const stopGateway = async (): Promise<void> => latest?.stop();

export interface Setup {
  readonly session: GatewaySession;
  readonly policy: ScriptedTokens;
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Body }>;
}
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here.
export type Body = any;

export async function setUp(
  say: (request: PromptRequest) => string | Promise<string> = () => 'hello there',
  options: GatewayOptions = {},
  sessionOptions: Partial<SessionOptions> = {},
): Promise<Setup> {
  const policy = scriptedTokens(renderer, say);
  const model = policyModel({ policy, renderer, contextLength: 64 });
  const started = await new Gateway({
    newSession: () => ({ name: 'over-http', seed: 1, model, maxCalls: 100, ...sessionOptions }),
    ...options,
  }).start();
  latest = started;
  const session = started.open({ name: 'episode', seed: 1, model, maxCalls: 100, ...sessionOptions });
  return {
    session,
    policy,
    post: async (path, body, headers) => {
      const response = await fetch(`${started.baseURL(session)}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.key}`, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

export const chat = (content: string, more: object = {}): object => ({
  model: 'policy',
  messages: [{ role: 'user', content }],
  ...more,
});
