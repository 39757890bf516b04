/** Thousands of requests to each server, which is weighed on the way, after twice as many in which it settles. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createTinkerEngine } from '../../src/engine/tinker/create-tinker-engine.ts';
import { batchOf, type TokenRow } from '../../src/engine/token-batch.ts';
import { ppoClip } from '../../src/objective/policy-gradient/ppo-clip.ts';
import { sampleAll } from '../../src/policy/sampler.ts';
import { Child } from './child.ts';
import { type Growth, growthOf } from './growth.ts';

/** Weighings of a server that has settled. */
const WEIGHINGS = 200;
/** Requests before the first weighing, in multiples of those that are weighed: code is compiled, caches fill. */
const SETTLING = 2;

interface Soaked extends Growth {
  readonly requests: number;
  readonly seconds: number;
}

/** @param run one of an agent, below `folder`: the gateway serves its policy */
export async function soakServers(folder: string, run: string, requests: number): Promise<object> {
  return {
    environments: await soakEnvironments(folder, requests),
    gateway: await soakGateway(folder, run, requests),
    tinker: await soakTinker(folder, requests),
  };
}

/** Episodes of eight steps, opened and closed. */
async function soakEnvironments(folder: string, requests: number): Promise<Soaked> {
  const child = Child.collected(['env', 'serve', 'maze', '--port', '0', '--json'], folder);
  const [, address] = await child.says(/"turnwise":"turnwise:([^"]+)"/);
  return await soak(child, requests, async (round) => {
    const { session } = await post(`${address}/v1/sessions`, { index: round % 25, seed: round });
    for (let step = 0; step < 8; step++)
      await post(`${address}/v1/sessions/${session}/step`, { step, action: step % 2 ? 'left' : 'up' });
    await fetch(`${address}/v1/sessions/${session}`, { method: 'DELETE' });
  });
}

/** Conversations of eight calls, opened and closed with a reward. */
async function soakGateway(folder: string, run: string, requests: number): Promise<Soaked> {
  const child = Child.collected(['gateway', run, '--port', '0', '--threads', '1'], folder);
  const [, address, key] = await child.says(/Listening at (\S+)\s+key\s+(\S+)/);
  const question = { role: 'user', content: 'who is the manager of eva' };
  return await soak(child, requests, async () => {
    const session = await post(`${address}/sessions`, {}, key);
    let messages: object[] = [question];
    for (let call = 0; call < 8; call++) {
      const body = { model: 'policy', messages, max_tokens: 8 };
      const answer = await post(`${session.base_url}/chat/completions`, body, String(session.api_key));
      const [{ message }] = answer.choices as [{ message: object }];
      messages = call % 2 === 0 ? [question, message, question] : [question];
    }
    await post(`${address}/sessions/${session.id}/close`, { reward: 1 }, key);
  });
}

/** Steps of training; sessions come and go, as those of many clients do. */
async function soakTinker(folder: string, requests: number): Promise<Soaked> {
  const child = Child.collected(['serve', '--port', '0', '--threads', '1'], folder);
  const [, address] = await child.says(/ at (http\S+)/);
  const [, key] = await child.says(/Key: (\S+)/);
  return await soak(child, requests, async (round, weigh) => {
    const engine = await createTinkerEngine({
      ...{ baseUrl: address!, apiKey: key!, baseModel: 'small', loraRank: 0, seed: round, vocabulary: 256 },
      lossScale: 'sum',
    });
    for (let step = 0; step < 12; step++) {
      const results = await sampleAll(
        engine,
        Array.from({ length: 4 }, (_, index) => ({
          conversation: `${step}/${index}`,
          keep: 0,
          append: Int32Array.from([1, 2, 3, 4]),
          sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 4 },
          stopIds: [],
          seed: `${step}/${index}`,
        })),
      );
      const rows = results.map(({ ids, logprobs }): TokenRow => {
        const tail = (values: readonly number[]): Float32Array => Float32Array.from([0, 0, 0, 0, ...values]);
        return {
          ids_T: Int32Array.from([1, 2, 3, 4, ...ids]),
          channels: {
            weight: tail([...ids].map(() => 1 / 16)),
            advantages: tail([...ids].map((id) => (id % 2 ? 1 : -1))),
            oldLogprobs: tail([...logprobs]),
          },
        };
      });
      await engine.forwardBackward(batchOf(rows), ppoClip(), { temperature: 1 });
      const adam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, clipNorm: 1 };
      await engine.optimStep({ learningRate: 1e-4, ...adam });
      await engine.publish();
      weigh();
    }
    await engine.close();
  });
}

/** Rounds until the server has had its requests, counted as they leave this process. */
async function soak(
  child: Child,
  requests: number,
  round: (index: number, weigh: () => void) => Promise<void>,
): Promise<Soaked> {
  let made = 0;
  const count = (): void => {
    made++;
  };
  const megabytes_N: number[] = [];
  const began = performance.now();
  subscribe('undici:request:create', count);
  try {
    const weigh = (): void => {
      const settled = made - SETTLING * requests;
      if (settled >= (requests * megabytes_N.length) / WEIGHINGS) megabytes_N.push(child.megabytes);
    };
    for (let index = 0; made < (SETTLING + 1) * requests; index++) {
      await round(index, weigh);
      weigh();
    }
  } finally {
    unsubscribe('undici:request:create', count);
    await child.stop();
  }
  return {
    requests: made,
    seconds: Math.round((performance.now() - began) / 1000),
    ...growthOf(megabytes_N),
  };
}

async function post(url: string, body: object, key?: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as Readonly<Record<string, unknown>>;
  if (!response.ok) throw new Error(`${url} answers ${response.status}: ${JSON.stringify(answer)}`);
  return answer;
}
