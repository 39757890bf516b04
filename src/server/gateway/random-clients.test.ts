/** Whatever clients do to their histories: the record says exactly which tokens were read and which were sampled. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { Rng } from '../../core/rng.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import { pretrainedConversation } from '../../model/chat/pretrained-conversation.ts';
import { CHAT_WORDS, wordChatRenderer } from '../../model/chat/word-chat.ts';
import { parityLanguage } from '../../model/testing/parity-data.ts';
import { WordTokenizer } from '../../model/tokenizer/word-tokenizer.ts';
import type { PromptPolicy } from '../../policy/policy.ts';
import { readChatCall } from './call-request.ts';
import { readTextCall } from './dialects/text-completions.ts';
import { policyModel } from './policy-model.ts';
import { GatewaySession } from './session/session.ts';
import { pathsOf, promptsOf } from './testing/rebuild.ts';

const WORDS = Array.from({ length: 400 }, (_, index) => `w${index}`);
const words = WordTokenizer.fromTexts([...CHAT_WORDS, ...WORDS, 'be kind', 'do well']);
const pretrained = pretrainedConversation(await parityLanguage('tokenizer-qwen'), { maxTurnTokens: 64 });
const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };

interface Sampled {
  readonly prompt: readonly number[];
  readonly ids: readonly number[];
}

const author = { kind: 'policy', name: 'learner', version: 1 } as const;

/** Says another word each time (so that tokens tell where they come from), or one of two (so that answers are equal). */
function randomPolicy(
  renderer: ConversationRenderer,
  rng: Rng,
  distinct: boolean,
  sampled: Sampled[],
): PromptPolicy {
  let count = 0;
  return {
    author,
    complete: async ({ append, sampling }) => {
      const word = WORDS[distinct ? count++ % WORDS.length : rng.int(2)]!;
      const thought = rng.chance(0.2) && renderer === pretrained ? '<think>\nhm\n</think>\n\n' : '';
      const all = renderer.completionIds(`${thought}${word} ${word}`);
      const ids = all.slice(0, Math.min(sampling.maxTokens, rng.chance(0.1) ? all.length - 1 : all.length));
      for (let wait = rng.int(4); wait > 0; wait--) await new Promise(setImmediate);
      sampled.push({ prompt: [...append], ids });
      return {
        ids: Int32Array.from(ids),
        logprobs: new Float32Array(ids.length).fill(-1),
        text: renderer.text(ids),
        finish: 'stop',
        by: author,
        trainable: true,
      };
    },
  };
}

interface Told {
  readonly call: Call;
  readonly messages: readonly Message[];
}

const DOINGS = [
  'extend',
  'extend',
  'branch',
  'edit',
  'edit words',
  'drop',
  'system',
  'tools',
  'begin',
  'insert',
  'text',
] as const;

/** A client with several conversations at once, each of which is extended, edited, cut or told to others. */
class RandomClient {
  readonly told: Told[] = [];
  readonly #session: GatewaySession;
  readonly #rng: Rng;
  #chats: Message[][] = [];
  #texts: string[] = [];
  #words = 0;

  constructor(session: GatewaySession, rng: Rng) {
    this.#session = session;
    this.#rng = rng;
  }

  async act(doing: (typeof DOINGS)[number], choices: number): Promise<void> {
    if (doing === 'text') return this.#text(choices);
    const chat = [...(this.#chats[this.#rng.int(Math.max(1, this.#chats.length))] ?? this.#opening())];
    const at = this.#rng.int(chat.length);
    const own = chat[0]?.role === 'system' ? 1 : 0;
    if (doing === 'begin') chat.splice(0, chat.length, ...this.#opening());
    if (doing === 'branch') chat.splice(at + 1);
    if (doing === 'edit') chat[at] = { ...chat[at]!, content: `${chat[at]!.content} ${this.#word()}` };
    if (doing === 'edit words') {
      const answer = chat.findIndex(({ role }) => role === 'assistant');
      if (answer >= 0) chat[answer] = { role: 'assistant', content: this.#word() };
    }
    if (doing === 'drop') chat.splice(own, this.#rng.int(chat.length));
    if (doing === 'system') chat.splice(0, own, { role: 'system', content: 'do well' });
    if (doing === 'insert') chat.push({ role: 'assistant', content: this.#word() });
    chat.push({ role: 'user', content: this.#word() });
    const tools = doing === 'tools' ? [look] : [];
    const request = readChatCall({
      model: 'policy',
      messages: chat.map(({ role, content }) => ({ role, content })),
      n: choices,
      tools,
    });
    const answers = await this.#session.answer(request, new AbortController().signal);
    for (const { call } of answers) this.told.push({ call, messages: request.messages });
    for (const { message } of answers) this.#chats.push([...chat, message]);
    this.#chats = this.#chats.slice(-6);
  }

  async #text(choices: number): Promise<void> {
    const before = this.#rng.chance(0.7) ? (this.#texts.at(-1) ?? '') : '';
    const prompt = `${before} ${this.#word()}`.trim();
    const request = readTextCall({ model: 'policy', prompt, n: choices, max_tokens: 8 });
    const answers = await this.#session.answer(request, new AbortController().signal);
    for (const { answer } of answers) this.#texts.push(`${prompt}${answer.text}`);
  }

  #opening(): Message[] {
    const system: Message = { role: 'system', content: 'be kind' };
    return [...(this.#rng.chance(0.5) ? [system] : []), { role: 'user', content: this.#word() }];
  }

  #word(): string {
    return this.#rng.chance(0.3) ? WORDS[0]! : WORDS[200 + (this.#words++ % 200)]!;
  }
}

/** The messages of each call's prompt, worked out from the record alone. */
function messagesOf(calls: readonly Call[]): Map<number, readonly Message[]> {
  const after = new Map<number, readonly Message[]>();
  const shown = new Map<number, readonly Message[]>();
  for (const call of calls) {
    const before = call.parent === undefined ? [] : after.get(call.parent)!;
    const messages = call.parts?.flatMap((part): readonly Message[] => {
      if ('content' in part) return [part];
      if ('call' in part) return after.get(part.call)!.slice(-1);
      return calls.find(({ id }) => id === part.shown)!.messages;
    }) ?? [...before, ...call.messages];
    shown.set(call.id, messages);
    after.set(call.id, [...messages, { role: 'assistant', content: call.reply!.content }]);
  }
  return shown;
}

const wording = (messages: readonly Message[]): string[] =>
  messages.map(({ role, content }) => `${role}: ${content.trim()}`);
const asText = ({ prompt, ids }: Sampled): string => `${prompt.join(' ')} > ${ids.join(' ')}`;

describe.each<[string, ConversationRenderer]>([
  ['words', wordChatRenderer(words, 16)],
  ['a chat template', pretrained],
])('random clients of a model that reads %s', (_name, renderer) => {
  const doings = fc.array(
    fc.array(fc.tuple(fc.constantFrom(...DOINGS), fc.constantFrom(1, 1, 1, 2, 3)), {
      minLength: 1,
      maxLength: 3,
    }),
    { minLength: 1, maxLength: 12 },
  );

  test('prompts are what the sampler was given, and each sampled token is in one call', async () => {
    const reasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(doings, fc.nat(), fc.boolean(), async (rounds, seed, distinct) => {
        const rng = Rng.of('clients', seed);
        const sampled: Sampled[] = [];
        const policy = randomPolicy(renderer, rng, distinct, sampled);
        const model = policyModel({ policy, renderer, contextLength: 1e6 });
        const session = new GatewaySession({ name: 'random', seed: 1, model, maxCalls: 1e6 });
        const client = new RandomClient(session, rng);
        for (const parallel of rounds) {
          await Promise.all(parallel.map(([doing, choices]) => client.act(doing, choices)));
        }
        session.close({ reward: 1 });
        const { calls, transitions, untrainable } = session.record();

        const prompts = promptsOf(calls);
        const recorded = calls.map(({ id, ids }) => asText({ prompt: prompts.get(id)!, ids: [...ids] }));
        expect(recorded.sort()).toEqual(sampled.map(asText).sort());
        expect(calls.map(({ id }) => id)).toEqual(calls.map((_, index) => index));
        expect(untrainable).toEqual({});

        const byId = new Map(calls.map((call) => [call.id, call]));
        for (const { id, parent, kept, newPath, conversation } of calls) {
          expect(kept === undefined).toBe(newPath === undefined);
          if (newPath !== undefined) reasons.add(newPath);
          if (parent === undefined) continue;
          expect(parent).toBeLessThan(id);
          const whole = prompts.get(parent)!.length + byId.get(parent)!.ids.length;
          if (kept !== undefined) expect(kept).toBeLessThan(whole);
          // Two calls that go on from one never share a cache.
          const siblings = calls.filter(
            (other) => other.parent === parent && other.conversation === conversation,
          );
          expect(siblings).toHaveLength(1);
        }
        expect(new Set(pathsOf(calls).flat()).size).toBe(calls.length);

        const shown = messagesOf(calls);
        for (const { call, messages } of client.told) {
          expect(wording(shown.get(call.id)!)).toEqual(wording(messages));
        }
        expect(transitions.map(({ call }) => call).sort()).toEqual(calls.map(({ id }) => id).sort());
        expect(transitions.map(({ rewards }) => rewards.agent)).toEqual([
          ...new Array<number>(calls.length - 1).fill(0),
          1,
        ]);
      }),
      { numRuns: 30, seed: 11 },
    );
    for (const reason of ['rewritten', 'dropped', 'system-changed', 'foreign-words']) {
      expect([...reasons]).toContain(reason);
    }
  });
});
