/** A Tinker server over a model small enough for tests, on a free port of this machine. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { createEmbeddedEngine, type EmbeddedEngine } from '../../../engine/embedded/embedded-engine.ts';
import { tiny } from '../../../engine/embedded/testing/tiny-engine.ts';
import { createTinkerEngine } from '../../../engine/tinker/create-tinker-engine.ts';
import type { TinkerEngine, TinkerEngineOptions } from '../../../engine/tinker/tinker-engine.ts';
import { type Listening, type ListenOptions, listenTinker } from '../listen.ts';
import type { ModelSource } from '../model-source.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** The base model: every copy has its weights. */
export async function baseEngine(): Promise<EmbeddedEngine> {
  const engine = await createEmbeddedEngine({
    shape: tiny,
    seed: 7,
    threads: 1,
    tokenBudget: 64,
    inProcess: true,
  });
  closing.push(() => engine.close());
  return engine;
}

export const tinySource: ModelSource = {
  name: 'tiny',
  vocabulary: tiny.vocabulary,
  contextLength: tiny.contextLength,
  isLora: false,
  stopIds: [0],
  decode: (ids) => ids.map((id) => 'abcdefghijk'[id]).join(''),
  create: () => createEmbeddedEngine({ shape: tiny, seed: 7, threads: 1, tokenBudget: 64, inProcess: true }),
};

export async function tinyServer(options: Partial<ListenOptions> = {}): Promise<Listening> {
  const folder = await mkdtemp(join(tmpdir(), 'turnwise-tinker-'));
  const listening = await listenTinker({
    source: tinySource,
    folder,
    port: 0,
    host: '127.0.0.1',
    ...options,
  });
  closing.push(async () => {
    await listening.close();
    await rm(folder, { recursive: true, force: true });
  });
  return listening;
}

/** Short pauses, so that tests of waiting do not wait. */
export const hasty = {
  pauseMs: 1,
  longestPauseMs: 4,
  patienceMs: 200,
  paymentPauseMs: 1,
  paymentPatienceMs: 20,
};

export const clientOptions = (url: string): TinkerEngineOptions => ({
  baseUrl: url,
  baseModel: 'tiny',
  loraRank: 4,
  seed: 1,
  vocabulary: tiny.vocabulary,
  apiKey: 'tml-secret',
  policy: hasty,
});

export async function tinyClient(
  url: string,
  options: Partial<TinkerEngineOptions> = {},
): Promise<TinkerEngine> {
  const engine = await createTinkerEngine({ ...clientOptions(url), ...options });
  closing.push(() => engine.close());
  return engine;
}

/** Any request, as JSON. */
export async function call(
  url: string,
  route: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/api/v1/${route}`, {
    ...(body === undefined
      ? {}
      : {
          method: 'POST',
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
        }),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** Asks for work and waits for its result. */
export async function work(url: string, route: string, body: unknown): Promise<Record<string, unknown>> {
  const { body: answer } = await call(url, route, body);
  if (typeof answer.request_id !== 'string') return answer;
  return (await call(url, 'retrieve_future', { request_id: answer.request_id })).body;
}
