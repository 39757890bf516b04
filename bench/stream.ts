/** `npm run bench -- stream MODEL`: time to the first byte of an answer, streamed and whole, through the gateway in this process. */

import { openChatEngine } from '../src/run/model/chat-engine.ts';
import { Gateway } from '../src/server/gateway/gateway.ts';
import { policyModel } from '../src/server/gateway/policy-model.ts';
import { median } from './engine/sampling.ts';

const runs = 5;
const tokens = 64;

interface Answer {
  readonly firstByteMs: number;
  readonly firstWordMs: number;
  readonly wholeMs: number;
}

/** Medians over the runs; requests of both kinds take turns. */
export async function benchStream([model]: readonly string[], threads: number): Promise<object> {
  if (model === undefined) throw new Error('Name a model: npm run bench -- stream FILE.gguf');
  const { close, ...talks } = await openChatEngine({
    model,
    runs: 'runs',
    threads,
    signal: new AbortController().signal,
  });
  const gateway = await new Gateway().start();
  const session = gateway.open({
    name: 'bench',
    seed: 1,
    model: policyModel(talks),
    maxCalls: Number.POSITIVE_INFINITY,
  });
  const ask = async (stream: boolean, seed: number, more: object): Promise<Answer> => {
    const began = performance.now();
    const response = await fetch(`${gateway.baseURL(session)}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session.key}` },
      body: JSON.stringify({
        model: 'policy',
        messages: [{ role: 'user', content: `Tell me about the number ${seed}.` }],
        max_tokens: tokens,
        seed,
        stream,
        ...more,
      }),
    });
    let firstByteMs = Number.NaN;
    let firstWordMs = Number.NaN;
    const decoder = new TextDecoder();
    for await (const part of response.body!) {
      const now = performance.now() - began;
      if (Number.isNaN(firstByteMs)) firstByteMs = now;
      if (Number.isNaN(firstWordMs) && /"content":\s?"[^"]/.test(decoder.decode(part))) firstWordMs = now;
    }
    return { firstByteMs, firstWordMs, wholeMs: performance.now() - began };
  };
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 12 },
      number: { type: 'integer' },
      sure: { type: 'boolean' },
    },
    required: ['name', 'number', 'sure'],
    additionalProperties: false,
  };
  const format = { type: 'json_schema', json_schema: { name: 'fact', schema } };
  const works = {
    streamed: [true, {}],
    whole: [false, {}],
    constrained: [true, { response_format: format }],
  } as const;
  const answers = new Map<string, Answer[]>();
  for (let run = -1; run < runs; run++) {
    for (const [name, [stream, more]] of Object.entries(works)) {
      const answer = await ask(stream, run, more);
      // The first of each is a warm-up; of the constrained one it compiles the grammar.
      if (run === -1) answers.set(`${name}, first`, [answer]);
      else answers.set(name, [...(answers.get(name) ?? []), answer]);
    }
  }
  await gateway.stop();
  await close();
  const middle = (of: readonly Answer[], key: keyof Answer): number =>
    Math.round(median(of.map((one) => one[key])));
  return Object.fromEntries(
    [...answers].map(([name, of]) => [
      name,
      {
        firstByteMs: middle(of, 'firstByteMs'),
        firstWordMs: middle(of, 'firstWordMs'),
        wholeMs: middle(of, 'wholeMs'),
      },
    ]),
  );
}
