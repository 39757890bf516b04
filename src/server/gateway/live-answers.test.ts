/** Streams tell words as they are sampled, in every dialect, and nothing that the answer does not have. */

import { afterEach, describe, expect, test } from 'vitest';
import type { PromptPolicy, PromptRequest } from '../../policy/policy.ts';
import { Gateway } from './gateway.ts';
import { type PolicyModelOptions, policyModel } from './policy-model.ts';
import type { SessionOptions } from './session/session-options.ts';
import { callText, DIALECTS, PATHS, type Path, renderer } from './testing/dialect-client.ts';
import { wholeOf } from './testing/read-stream.ts';

let open: Gateway | undefined;
afterEach(async () => open?.stop());

/** A policy that writes a token whenever it is let, until its text or the wish for more ends. */
function slowPolicy(text: string) {
  const steps: (() => void)[] = [];
  const requests: PromptRequest[] = [];
  let failure: Error | undefined;
  const policy: PromptPolicy = {
    author: { kind: 'policy', name: 'learner', version: 7 },
    complete: async (request) => {
      requests.push(request);
      const ids: number[] = [];
      let goesOn = true;
      for (const id of renderer.completionIds(text).slice(0, request.sampling.maxTokens)) {
        await new Promise<void>((resolve) => steps.push(resolve));
        if (failure) throw failure;
        ids.push(id);
        goesOn = request.heard?.(id) !== false;
        if (!goesOn) break;
      }
      const stopped = !goesOn || renderer.stopIds.includes(ids.at(-1)!);
      return {
        ids: Int32Array.from(ids),
        logprobs: new Float32Array(ids.length),
        text: renderer.text(ids),
        finish: stopped ? 'stop' : 'length',
        by: policy.author,
        trainable: true,
      };
    },
  };
  return {
    policy,
    requests,
    /** Lets it write this number of tokens, or as many as it wants. */
    write: async (tokens = Number.POSITIVE_INFINITY) => {
      for (let token = 0; token < tokens; token++) {
        // It asks for the next one soon after, or never again.
        for (let patience = 0; steps.length === 0 && patience < 100; patience++)
          await new Promise((resolve) => setTimeout(resolve, 1));
        const step = steps.shift();
        if (step === undefined) return;
        step();
      }
    },
    fail: (error: Error) => {
      failure = error;
    },
  };
}

async function serve(
  policy: PromptPolicy,
  session: Partial<SessionOptions> = {},
  model: Partial<PolicyModelOptions> = {},
) {
  const gateway = await new Gateway().start();
  open = gateway;
  const opened = gateway.open({
    name: 'episode',
    seed: 1,
    model: policyModel({ policy, renderer, contextLength: 4096, ...model }),
    maxCalls: 10,
    ...session,
  });
  return (path: string, body: object): Promise<Response> =>
    fetch(`${gateway.baseURL(opened)}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${opened.key}` },
      body: JSON.stringify(body),
    });
}

/** Reads a response as it comes. */
function reader(response: Response) {
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    /** All that came up to the first time that it has this. */
    until: async (wanted: string): Promise<string> => {
      while (!text.includes(wanted)) {
        const { value, done } = await chunks.read();
        if (done) throw new Error(`it ended before "${wanted}": ${text}`);
        text += value;
      }
      return text;
    },
    rest: async (): Promise<string> => {
      for (let part = await chunks.read(); !part.done; part = await chunks.read()) text += part.value;
      return text;
    },
  };
}

/** What a client has of an answer. */
const wordsOf = (path: Path, body: ReturnType<typeof wholeOf>): string => {
  if (path === '/chat/completions') return body.choices[0].message.content;
  if (path === '/messages')
    return body.content.find(({ type }: { type: string }) => type === 'text')?.text ?? '';
  return body.output.find(({ type }: { type: string }) => type === 'message')?.content[0].text ?? '';
};

/** Signs that stand in nothing else of a stream. */
const WORDS = 'one @ word and then # another';

describe.each(PATHS)('%s', (path) => {
  const body = (more: object = {}): object => DIALECTS[path]({ stream: true, ...more });

  test('the first words come before the last are sampled', async () => {
    const { policy, write } = slowPolicy(WORDS);
    const ask = await serve(policy);
    const answered = ask(path, body());
    await write(10);
    const stream = reader(await answered);
    const early = await stream.until('@');
    expect(early).not.toContain('#');
    const [, rest] = await Promise.all([write(), stream.rest()]);
    expect(wordsOf(path, wholeOf(path, rest))).toBe(WORDS);
    expect(JSON.stringify(wholeOf(path, rest).turnwise)).toContain('"valid":true');
  });

  test('thoughts come before them', async () => {
    const { policy, write } = slowPolicy(`<think>\nso ~ is\n</think>\n\n${WORDS}`);
    const ask = await serve(policy);
    const answered = ask(path, body());
    const [response] = await Promise.all([answered, write()]);
    const text = await response.text();
    expect(text.indexOf('~')).toBeGreaterThan(0);
    expect(text.indexOf('~')).toBeLessThan(text.indexOf('@'));
    expect(JSON.stringify(wholeOf(path, text))).toContain('so ~ is');
    expect(wordsOf(path, wholeOf(path, text))).toBe(WORDS);
  });

  test('a call is told when it is whole, and never where it was cut', async () => {
    const call = callText('weather', '{"city": "Oslo"}');
    for (const [text, maxTokens] of [
      [`words first ${call}`, undefined],
      [`words first ${call}`, renderer.completionIds(`words first ${call.slice(0, -14)}`).length - 1],
    ] as const) {
      const { policy, write } = slowPolicy(text);
      const ask = await serve(policy);
      const limit = path === '/responses' ? 'max_output_tokens' : 'max_tokens';
      const answered = ask(path, body(maxTokens === undefined ? {} : { [limit]: maxTokens }));
      const [response] = await Promise.all([answered, write()]);
      const told = JSON.stringify(wholeOf(path, await response.text()));
      if (maxTokens === undefined) {
        expect(told).toContain('weather');
        expect(told).not.toContain('tool_call>');
        expect(wordsOf(path, JSON.parse(told))).toBe('words first');
      } else {
        expect(told).not.toMatch(/"tool_calls"|"tool_use"|"function_call"/);
        expect(wordsOf(path, JSON.parse(told))).toMatch(/^words first <tool_call>/);
      }
      await open?.stop();
    }
  });

  test('fails with an event once words were told, and with a status before', async () => {
    const { policy, write, fail } = slowPolicy(WORDS);
    const ask = await serve(policy);
    const answered = ask(path, body());
    await write(10);
    const stream = reader(await answered);
    await stream.until('@');
    fail(new Error('the weights are gone'));
    const [, rest] = await Promise.all([write(1), stream.rest()]);
    expect(rest).toContain('the weights are gone');
    const [again] = await Promise.all([ask(path, body()), write(1)]);
    expect(again.status).toBe(500);
    await again.body?.cancel();
  });
});

describe('stop strings', () => {
  test.each([true, false])('end the sampling where they are complete (streamed: %s)', async (stream) => {
    const { policy, write } = slowPolicy('one two END three four five six seven eight');
    const ask = await serve(policy);
    const answered = ask(
      '/chat/completions',
      DIALECTS['/chat/completions']({ stream, stop: 'END', tools: [] }),
    );
    const [response] = await Promise.all([answered, write()]);
    const text = await response.text();
    const told = stream ? wholeOf('/chat/completions', text) : JSON.parse(text);
    expect(told.choices[0]).toMatchObject({ message: { content: 'one two' }, finish_reason: 'stop' });
    expect(text).not.toMatch(/EN|three/);
    const { calls } = open!.find(open!.sessions[0]!).record();
    expect(renderer.text(calls[0]!.ids)).toMatch(/END$/);
  });
});

test('text completions are told as they come, too', async () => {
  const { policy, write } = slowPolicy(WORDS);
  const ask = await serve(policy);
  const answered = ask('/completions', { model: 'policy', prompt: 'say', max_tokens: 100, stream: true });
  await write(10);
  const stream = reader(await answered);
  expect(await stream.until('@')).not.toContain('#');
  const [, rest] = await Promise.all([write(), stream.rest()]);
  expect(wholeOf('/completions', rest).choices[0].text).toBe(WORDS);
});

test('letters of several tokens come whole', async () => {
  const { policy, write } = slowPolicy('Zürich – 東京 🙂 end');
  const ask = await serve(policy);
  const answered = ask('/chat/completions', DIALECTS['/chat/completions']({ stream: true }));
  const [response] = await Promise.all([answered, write()]);
  const text = await response.text();
  expect(text).not.toContain('\uFFFD');
  expect(wholeOf('/chat/completions', text).choices[0].message.content).toBe('Zürich – 東京 🙂 end');
});

test('several answers are told when all are there', async () => {
  const { policy, write, requests } = slowPolicy(WORDS);
  const ask = await serve(policy);
  const answered = ask('/chat/completions', DIALECTS['/chat/completions']({ stream: true, n: 2 }));
  const [response] = await Promise.all([answered, write()]);
  const { choices } = wholeOf('/chat/completions', await response.text());
  expect(choices.map(({ message }: { message: { content: string } }) => message.content)).toEqual([
    WORDS,
    WORDS,
  ]);
  expect(requests.every(({ heard }) => heard === undefined)).toBe(true);
});
