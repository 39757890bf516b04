/** What every cell of the matrix runs against: a gateway, a session of its own, and a policy that answers by a script. */

import { pretrainedConversation } from '../../src/model/chat/pretrained-conversation.ts';
import { parityLanguage } from '../../src/model/testing/parity-data.ts';
import type { PromptRequest } from '../../src/policy/policy.ts';
import { Gateway } from '../../src/server/gateway/gateway.ts';
import { policyModel } from '../../src/server/gateway/policy-model.ts';
import { pathsOf, promptsOf } from '../../src/server/gateway/testing/rebuild.ts';
import { scriptedTokens } from '../../src/server/gateway/testing/scripted-policy.ts';

const language = await parityLanguage('tokenizer-qwen');
const renderer = pretrainedConversation(language, { maxTurnTokens: 512 });
/** With what a call begins that the client demands. */
const FORCED = language.tokenizer.decode(renderer.forcedIds!({}));

export const SYSTEM = 'You are a weather agent.\n';
export const QUESTION = 'What is the weather in Zürich?';
export const AGAIN = 'Thanks. Say it again.';

/** What a client is handed, as an agent of a run would be. */
export interface Desk {
  readonly baseURL: string;
  readonly anthropicBaseURL: string;
  readonly apiKey: string;
  /** The tool. */
  readonly weather: (given: { readonly city: string }) => string;
}

export interface Cell {
  readonly calls: number;
  readonly paths: number;
  /** Why each path began that goes on from another. */
  readonly reasons: readonly string[];
  /** Sampled tokens that are in no trained call, or in one with another prompt. */
  readonly lost: number;
  /** Cities that the tool was asked for. */
  readonly cities: readonly string[];
}

export class Desks {
  readonly #gateway: Gateway;

  private constructor(gateway: Gateway) {
    this.#gateway = gateway;
  }

  static async open(): Promise<Desks> {
    return new Desks(await new Gateway().start());
  }

  close(): Promise<void> {
    return this.#gateway.stop();
  }

  /** @param cities that the policy asks the tool for, at once */
  async run(cities: readonly string[], use: (desk: Desk) => Promise<void>): Promise<Cell> {
    const policy = scriptedTokens(renderer, (request) => said(request, cities));
    const model = policyModel({ policy, renderer, contextLength: 32_768 });
    const session = this.#gateway.open({ name: 'cell', seed: 1, model, maxCalls: 24 });
    const asked: string[] = [];
    await use({
      baseURL: this.#gateway.baseURL(session),
      anthropicBaseURL: this.#gateway.anthropicBaseURL(session),
      apiKey: session.key,
      weather: ({ city }) => {
        asked.push(city);
        return JSON.stringify({ city, degrees: 21 });
      },
    });
    const { calls } = this.#gateway.end(session.id);
    const prompts = promptsOf(calls);
    const trained = new Map(
      calls
        .filter(({ trainable }) => trainable === true)
        .map(({ id, ids }) => [`${prompts.get(id)!.join()}>${[...ids].join()}`, ids.length]),
    );
    let lost = 0;
    for (const request of policy.requests) {
      const ids = policy.sampled.get(request)!;
      if (!trained.has(`${request.append.join()}>${ids.join()}`)) lost += ids.length;
    }
    const reasons = calls.flatMap(({ newPath }) => (newPath ? [newPath] : []));
    return { calls: calls.length, paths: pathsOf(calls).length, reasons, lost, cities: asked };
  }
}

/** Looks, then tells; in the form that was asked for, where one was. Spaces and numbers are as no client would write them. */
function said({ messages, append }: PromptRequest, cities: readonly string[]): string {
  const prompt = language.tokenizer.decode([...append]);
  const forced = prompt.endsWith(FORCED);
  const call = (name: string, given: string): string =>
    `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`;
  const begun = (text: string): string => (forced ? text.slice(text.indexOf(FORCED) + FORCED.length) : text);
  const [, tools = ''] = /<tools>([\s\S]*?)<\/tools>/.exec(prompt) ?? [];
  const names = [...tools.matchAll(/"function": \{"name": "([^"]+)"/g)].map(([, name]) => name!);
  const last = messages.at(-1)!;
  const structured = /STRUCTURED/.test(messages[0]!.content);
  const isQuestion = last.role === 'user' && !last.content.startsWith('Observation');
  if (isQuestion && names.includes('get_weather') && last.content.includes('Zürich')) {
    const looks = cities.map((city) => call('get_weather', `{"city": "${city}",  "days": 1.0}`));
    return begun(`${structured ? '' : ' Let me look.\n'}${looks.join('')}`);
  }
  // smolagents takes words by a tool of its own.
  if (names.includes('final_answer')) {
    return begun(call('final_answer', '{"answer": " It is 21 degrees\u00a0there.  "}'));
  }
  if (!structured) return ' It is 21 degrees\u00a0there.  \n';
  const form = '{"city": "Zürich",  "degrees": 21.0}';
  const answering = names.find((name) => name !== 'get_weather');
  return answering === undefined ? form : begun(call(answering, form));
}
