/** One inner form in every dialect: whole and streamed answers are the same, and no wording touches a token. */

import { afterEach, describe, expect, test } from 'vitest';
import { policyModel } from '../policy-model.ts';
import {
  asking,
  type Body,
  callText,
  DIALECTS,
  PATHS,
  type Path,
  renderer,
  stopGateway,
} from '../testing/dialect-client.ts';
import { pathsOf } from '../testing/rebuild.ts';
import { scriptedTokens } from '../testing/scripted-policy.ts';

afterEach(stopGateway);

const ZURICH = '{"city": "Zürich",  "days": 1.0}';
const PARIS = '{"city": "Paris"}';

interface Said {
  readonly thought: string;
  readonly words: string;
  readonly calls: readonly { readonly name: string; readonly given: unknown }[];
  readonly ending: 'stop' | 'calls' | 'cut';
}

/** What an answer says, in whatever dialect. */
function read(path: Path, body: Body): Said {
  if (path === '/chat/completions') {
    const [{ message, finish_reason: finish }] = body.choices;
    return {
      thought: message.reasoning_content ?? '',
      words: message.content ?? '',
      calls: (message.tool_calls ?? []).map(({ function: { name, arguments: given } }: Body) => ({
        name,
        given: JSON.parse(given),
      })),
      ending: ({ stop: 'stop', tool_calls: 'calls', length: 'cut' } as const)[finish as 'stop'],
    };
  }
  if (path === '/messages') {
    const of = (type: string): Body[] => body.content.filter((block: Body) => block.type === type);
    return {
      thought: of('thinking')[0]?.thinking ?? '',
      words: of('text')[0]?.text ?? '',
      calls: of('tool_use').map(({ name, input }) => ({ name, given: input })),
      ending: ({ end_turn: 'stop', tool_use: 'calls', max_tokens: 'cut' } as const)[
        body.stop_reason as 'end_turn'
      ],
    };
  }
  const of = (type: string): Body[] => body.output.filter((item: Body) => item.type === type);
  const calls = of('function_call').map(({ name, arguments: given }) => ({ name, given: JSON.parse(given) }));
  return {
    thought: of('reasoning')[0]?.summary[0].text ?? '',
    words: of('message')[0]?.content[0].text ?? '',
    calls,
    ending: body.status === 'incomplete' ? 'cut' : calls.length > 0 ? 'calls' : 'stop',
  };
}

/** Everything but what differs between two answers. */
const comparable = (body: Body): string =>
  JSON.stringify(body, (key, value) =>
    [
      'id',
      'call_id',
      'created',
      'created_at',
      'object',
      'signature',
      'refusal',
      'system_fingerprint',
    ].includes(key)
      ? undefined
      : value,
  );

const zurich = { name: 'weather', given: { city: 'Zürich', days: 1 } };
const paris = { name: 'weather', given: { city: 'Paris' } };
const cutCall = '<tool_call>\n{"name": "weather", "arguments": {"city": "Zür';
const ANSWERS: [string, string, Partial<Said>, number?][] = [
  ['text', ' It is 21\u00a0degrees.  \n', { words: ' It is 21\u00a0degrees.  \n', ending: 'stop' }],
  ['one call', callText('weather', ZURICH), { calls: [zurich], ending: 'calls' }],
  [
    'two calls',
    callText('weather', ZURICH) + callText('weather', PARIS),
    { calls: [zurich, paris], ending: 'calls' },
  ],
  [
    'thought, words and a call',
    `<think>\nhm well\n</think>\n\nLet me look. ${callText('weather', PARIS)}`,
    { thought: 'hm well', words: 'Let me look.', calls: [paris], ending: 'calls' },
  ],
  ['nothing', '', { ending: 'stop' }],
  [
    'cut',
    'one two three four five',
    { words: 'one two three', ending: 'cut' },
    renderer.completionIds('one two three').length - 1,
  ],
  ['a cut call', cutCall, { words: cutCall, ending: 'cut' }, renderer.completionIds(cutCall).length - 1],
  [
    'a call, cut after it',
    `${callText('weather', PARIS)} and`,
    { words: callText('weather', PARIS), ending: 'cut' },
    renderer.completionIds(callText('weather', PARIS)).length - 1,
  ],
  [
    'arguments that are not JSON',
    callText('weather', '{"city": Zür}'),
    { words: callText('weather', '{"city": Zür}'), ending: 'stop' },
  ],
];

describe.each(PATHS)('%s', (path) => {
  const limit = path === '/responses' ? 'max_output_tokens' : 'max_tokens';

  test.each(ANSWERS)('says %s', async (_case, text, expected, cutAt) => {
    const { post, session, policy } = await asking(() => text);
    const more = cutAt === undefined ? {} : { [limit]: cutAt };
    const whole = await post(path, DIALECTS[path](more));
    policy.tells = true;
    expect(whole.status).toBe(200);
    expect(read(path, whole.body)).toEqual({ thought: '', words: '', calls: [], ...expected });
    const streamed = await post(
      path,
      DIALECTS[path]({
        ...more,
        stream: true,
        ...(path === '/chat/completions' && { stream_options: { include_usage: true } }),
      }),
    );
    expect(read(path, streamed.body)).toEqual(read(path, whole.body));
    if (path !== '/chat/completions') expect(comparable(streamed.body)).toEqual(comparable(whole.body));
    expect(streamed.body.usage).toEqual(whole.body.usage);
    const { calls } = session.record();
    const ids = renderer.completionIds(text).slice(0, cutAt);
    expect(calls.map((call) => [...call.ids])).toEqual([ids, ids]);
  });

  test('answers go on from what the client sends back, one path in all', async () => {
    const answers = [callText('weather', ZURICH), 'It is 21 degrees.', 'As I said.'];
    const { post, session } = await asking(() => answers.shift()!);
    const first = await post(path, DIALECTS[path]());
    const history = [
      ...historyOf(path, DIALECTS[path]()),
      ...saidIn(path, first.body),
      ...resultOf(path, first.body),
    ];
    const second = await post(path, DIALECTS[path](withHistory(path, history)));
    const next = [...history, ...saidIn(path, second.body), { role: 'user', content: 'again' }];
    await post(path, DIALECTS[path](withHistory(path, next)));
    const { calls, untrainable } = session.record();
    expect(pathsOf(calls)).toEqual([[0, 1, 2]]);
    expect(untrainable).toEqual({});
  });

  test('an unknown key is refused in serving, and set aside in training with its name told', async () => {
    const serving = await asking(() => 'so');
    const unknown = await serving.post(path, DIALECTS[path]({ temprature: 1 }));
    expect(unknown.status).toBe(400);
    expect(unknown.body.error.message).toContain('Did you mean "temperature"?');
    await stopGateway();
    const training = await asking(() => 'so', { model: { sampling: { temperature: 1, topP: 1, topK: 0 } } });
    const { status, headers } = await training.post(path, DIALECTS[path]({ temprature: 1, temperature: 0 }));
    expect(status).toBe(200);
    expect(headers.get('x-turnwise-ignored')).toBe('temprature, temperature');
    await training.post(path, DIALECTS[path]({ temprature: 1, 'odd key\n': 1 }));
    expect(training.gateway.ignored).toEqual({ temprature: 2, temperature: 1, other: 1 });
    expect(training.session.record().ignored).toEqual({ temprature: 2, temperature: 1, other: 1 });
  });

  test('the only model answers to any name, and says the name back', async () => {
    const warned: string[] = [];
    const { post } = await asking(() => 'so', { gateway: { onIgnored: (key) => warned.push(key) } });
    for (const model of ['gpt-5.6-luna', 'claude-sonnet-4-5']) {
      const { body, headers } = await post(path, DIALECTS[path]({ model }));
      expect(body.model).toBe(model);
      expect(headers.get('x-turnwise-ignored')).toBe('model');
    }
    expect(warned).toEqual(['model']);
  });

  test('a stream that has to wait says so, and one that fails then ends with an error, not as if it were complete', async () => {
    let answer = (_text?: string): void => {};
    const { gateway, session } = await asking(
      () =>
        new Promise((resolve, reject) => {
          answer = (text) => (text === undefined ? reject(new Error('no weights')) : resolve(text));
        }),
      { gateway: { limits: { silenceMs: 10 } } },
    );
    const stream = async (text?: string): Promise<string> => {
      const response = await fetch(`${gateway.baseURL(session)}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': session.key },
        body: JSON.stringify(DIALECTS[path]({ stream: true })),
      });
      expect(response.status).toBe(200);
      let told = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        told += chunk;
        if (told.includes(': wait')) answer(text);
      }
      return told;
    };
    expect(await stream('so')).toMatch(/^(: wait\n\n)+(event|data): /);
    const failed = await stream();
    expect(failed).toMatch(/^(: wait\n\n)+(event: error\n)?data: [^\n]*no weights[^\n]*\n\n$/);
    expect(failed).not.toMatch(/completed|message_stop|\[DONE\]/);
  });

  test('a stream whose client goes leaves nothing running', async () => {
    const { gateway, session } = await asking(() => new Promise(() => {}), {
      gateway: { limits: { silenceMs: 10 } },
    });
    const hangUp = new AbortController();
    const response = await fetch(`${gateway.baseURL(session)}${path}`, {
      method: 'POST',
      headers: { 'x-api-key': session.key },
      body: JSON.stringify(DIALECTS[path]({ stream: true })),
      signal: hangUp.signal,
    });
    expect(response.status).toBe(200);
    await expect.poll(() => session.running).toBe(1);
    hangUp.abort();
    await expect.poll(() => session.running).toBe(0);
    expect(session.record().calls).toEqual([]);
  });

  test('errors have the shape of the dialect', async () => {
    const { post, gateway, session } = await asking(() => {
      throw new Error('no weights');
    });
    const typeOf = (body: Body): string => {
      if (path === '/messages') expect(body.type).toBe('error');
      else expect(body.error).toHaveProperty('param');
      return body.error.type;
    };
    const ours = path !== '/messages';
    const wrong = await post(path, DIALECTS[path](), { authorization: 'Bearer no' });
    expect([wrong.status, typeOf(wrong.body)]).toEqual([401, 'authentication_error']);
    const failed = await post(path, DIALECTS[path]());
    expect([failed.status, typeOf(failed.body)]).toEqual([500, ours ? 'server_error' : 'api_error']);
    expect(failed.headers.get('x-should-retry')).toBe('false');
    const large = await post(path, DIALECTS[path]({ temperature: 'warm' }));
    expect([large.status, typeOf(large.body)]).toEqual([400, 'invalid_request_error']);
    gateway.end(session.id);
    const over = await post(path, DIALECTS[path]());
    expect([over.status, typeOf(over.body)]).toEqual([404, 'not_found_error']);
  });
});

type Items = readonly object[];
const historyOf = (path: Path, body: Body): Items =>
  path === '/responses' ? [{ role: 'user', content: body.input }] : body.messages;
const withHistory = (path: Path, items: Items): object =>
  path === '/responses' ? { input: items } : { messages: items };
function saidIn(path: Path, body: Body): Items {
  if (path === '/responses') return body.output;
  return path === '/messages' ? [{ role: 'assistant', content: body.content }] : [body.choices[0].message];
}
function resultOf(path: Path, body: Body): Items {
  const output = '21';
  if (path === '/responses') {
    const { call_id } = body.output.find(({ type }: Body) => type === 'function_call');
    return [{ type: 'function_call_output', call_id, output }];
  }
  if (path === '/messages') {
    const { id } = body.content.find(({ type }: Body) => type === 'tool_use');
    return [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }] }];
  }
  return [{ role: 'tool', tool_call_id: body.choices[0].message.tool_calls[0].id, content: output }];
}

test('the same conversation in three dialects is the same tokens', async () => {
  const { post, session } = await asking(() => 'so');
  for (const path of PATHS) await post(path, DIALECTS[path]());
  const prompts = session.record().calls.map(({ context }) => [...context].join());
  expect(new Set(prompts).size).toBe(1);
});

test('where there are several models, a name that none has is refused', async () => {
  const judge = policyModel({ policy: scriptedTokens(renderer, () => 'no'), renderer, contextLength: 64 });
  const { post } = await asking(() => 'so', { session: { foreign: [{ ...judge, name: 'judge' }] } });
  for (const path of PATHS) {
    expect((await post(path, DIALECTS[path]({ model: 'gpt-4o' }))).status).toBe(404);
    expect((await post(path, DIALECTS[path]({ model: 'policy' }))).status).toBe(200);
  }
});
