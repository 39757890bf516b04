/**
 * What the gateway adds to a completion of 32 tokens, beside the engine alone in the same run: one call at a time, and 200
 * episodes at once with clients in this process and in another; and what is left when a tenth of the clients hang up.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createEmbeddedEngine } from '../src/engine/embedded/embedded-engine.ts';
import { CHAT_WORDS, wordChatRenderer } from '../src/model/chat/word-chat.ts';
import type { DecoderShape } from '../src/model/decoder/decoder.ts';
import { WordTokenizer } from '../src/model/tokenizer/word-tokenizer.ts';
import { continuous } from '../src/policy/batching.ts';
import { enginePolicy } from '../src/policy/engine-policy.ts';
import type { PromptPolicy } from '../src/policy/policy.ts';
import { Gateway } from '../src/server/gateway/gateway.ts';
import { policyModel } from '../src/server/gateway/policy-model.ts';
import type { GatewaySession } from '../src/server/gateway/session/session.ts';
import { median } from './engine/sampling.ts';
import { demo, small } from './engine/shapes.ts';

const TOKENS = 32;
const ALONE = 200;
const EPISODES = 200;
const CALLS = 4;
const HANG_UPS = 20;
const SAMPLING = { temperature: 1, topP: 1, topK: 0 } as const;
const PROMPT = 'one two three four five six seven eight nine ten '.repeat(2).trim();

const models: readonly (readonly [string, DecoderShape])[] = [
  ['0.6M parameters', demo],
  ['3.4M parameters', small],
];

export async function benchGateway(): Promise<object> {
  const figures: Record<string, object> = {};
  for (const [name, shape] of models) figures[name] = await benchModel(shape);
  return { tokens: TOKENS, episodes: EPISODES, callsOfAnEpisode: CALLS, ...figures };
}

async function benchModel(shape: DecoderShape): Promise<object> {
  const tokenizer = WordTokenizer.fromTexts([...CHAT_WORDS, PROMPT]);
  // Nothing ends a completion but its length, so that all are equally long.
  const renderer = { ...wordChatRenderer(tokenizer, TOKENS - 1), stopIds: [] };
  const engine = await createEmbeddedEngine({
    shape: { ...shape, vocabulary: tokenizer.size },
    seed: 'bench',
    threads: 2,
    tokenBudget: 512,
  });
  const policy = enginePolicy(engine, renderer, continuous);
  const { contextLength } = engine.capabilities;
  const model = policyModel({ policy, renderer, contextLength, sampling: SAMPLING });
  const gateway = await new Gateway({ limits: { callsPerSecond: 1e6, callBurst: 1e6 } }).start();
  let opened = 0;
  const open = (): GatewaySession =>
    gateway.open({ name: `bench/${opened++}`, seed: 1, model, maxCalls: 1e6 });
  const promptIds = Int32Array.from(tokenizer.encode(`<user> ${PROMPT}`));
  try {
    const direct = engineCalls(policy, promptIds);
    const through = await sessionCalls(gateway, open());
    for (let call = 0; call < 20; call++) await Promise.all([direct(), through()]);
    // One after the other in turns, so that both have the same machine.
    const alone: number[] = [];
    const added: number[] = [];
    for (let call = 0; call < ALONE; call++) {
      alone.push(await timed(direct));
      added.push(await timed(through));
    }
    const engineMs = median(alone);
    const gatewayMs = median(added);
    const together = await timed(() => each(EPISODES, () => repeated(direct)));
    const sessions = Array.from({ length: EPISODES }, open);
    const here = await timed(() =>
      each(EPISODES, async (index) => repeated(await sessionCalls(gateway, sessions[index]!))),
    );
    const elsewhere = await otherProcess(gateway, sessions);
    return {
      oneAtATime: {
        engineMs: round(engineMs),
        gatewayMs: round(gatewayMs),
        addedMs: round(gatewayMs - engineMs),
        addedShareOfACompletion: round((gatewayMs - engineMs) / engineMs),
      },
      allAtOnce: {
        engineSeconds: round(together / 1000),
        gatewaySeconds: round(here / 1000),
        clientsElsewhereSeconds: round(elsewhere.seconds),
        answeredElsewhere: elsewhere.answered,
        addedMsOfACall: round((elsewhere.seconds * 1000 - together) / (EPISODES * CALLS)),
        addedShareOfACall: round((elsewhere.seconds * 1000 - together) / together),
      },
      hangingUp: await hangUps(gateway, sessions),
    };
  } finally {
    await gateway.stop();
    await engine.close();
  }
}

/** Completions of the engine, each of a conversation of its own. */
function engineCalls(policy: PromptPolicy, promptIds: Int32Array): () => Promise<unknown> {
  let call = 0;
  return async () => {
    const conversation = `alone/${call++}`;
    await policy.complete({
      conversation,
      seedKey: conversation,
      messages: [],
      keep: 0,
      append: promptIds,
      sampling: { ...SAMPLING, maxTokens: TOKENS },
      signal: new AbortController().signal,
    });
    policy.release?.(conversation);
  };
}

async function sessionCalls(gateway: Gateway, session: GatewaySession): Promise<() => Promise<unknown>> {
  const url = `${gateway.baseURL(session)}/chat/completions`;
  const headers = { authorization: `Bearer ${session.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: PROMPT }] });
  return async () => {
    const response = await fetch(url, { method: 'POST', headers, body });
    const { usage } = (await response.json()) as { usage: { completion_tokens: number } };
    if (usage.completion_tokens !== TOKENS) throw new Error(`${usage.completion_tokens} tokens`);
  };
}

async function repeated(call: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < CALLS; index++) await call();
}

const each = (count: number, work: (index: number) => Promise<unknown>): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));

/** The clients of all episodes, in a process of their own. */
const CLIENTS = `
const { urls, body, calls } = JSON.parse(await new Response(process.stdin).text());
const started = performance.now();
let answered = 0;
await Promise.all(urls.map(async ([url, key]) => {
  for (let call = 0; call < calls; call++) {
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    if ((await response.json()).choices) answered++;
  }
}));
console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, answered }));`;

async function otherProcess(
  gateway: Gateway,
  sessions: readonly GatewaySession[],
): Promise<{ readonly seconds: number; readonly answered: number }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CLIENTS], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const urls = sessions.map((session) => [`${gateway.baseURL(session)}/chat/completions`, session.key]);
  const body = JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: PROMPT }] });
  child.stdin.end(JSON.stringify({ urls, body, calls: CALLS }));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return JSON.parse(line.toString());
}

/** A tenth of the clients hang up while their calls are under way; the others are answered, and nothing stays behind. */
async function hangUps(gateway: Gateway, sessions: readonly GatewaySession[]): Promise<object> {
  let answered = 0;
  let gone = 0;
  await each(EPISODES, async (index) => {
    const session = sessions[index]!;
    const leaves = new AbortController();
    if (index < HANG_UPS) setTimeout(() => leaves.abort(), 50);
    try {
      const response = await fetch(`${gateway.baseURL(session)}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'policy', messages: [{ role: 'user', content: PROMPT }] }),
        signal: leaves.signal,
      });
      await response.json();
      answered++;
    } catch {
      gone++;
    }
  });
  const began = performance.now();
  while (gateway.state.running > 0 && performance.now() - began < 10_000)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return { clients: EPISODES, hungUp: gone, answered, callsLeftRunning: gateway.state.running };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const round = (figure: number): number => Math.round(1000 * figure) / 1000;
