/** Simulated users in an agent's episodes: recorded as other players, counted, and at fault for their own failures alone. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Episode } from '../../../core/episode.ts';
import { samplesOf } from '../../../core/sample.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import { simulateUser, type UserScript } from '../../../env/user/simulate-user.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import { unwatched } from '../../../rollout/watch.ts';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { SpendMeter } from '../spend.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { agentEpisodes } from './agent-episodes.ts';
import { userModels } from './user-model.ts';

interface Trip {
  readonly to: string;
}

const renderer = rendererOf('where to rome oslo');
let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Asks the policy with the user's words, tells the user its answer, until the user has gone. */
async function chat({ user, task, baseURL, apiKey, model }: AgentEpisode<Trip>): Promise<{ reward: number }> {
  const heard: string[] = [];
  for (let words = await user('guest').reply(); words !== undefined; ) {
    heard.push(words);
    const messages = [{ role: 'user', content: words }];
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model, messages }),
    });
    const body = (await response.json()) as {
      choices: { message: { content: string } }[];
      error?: { message: string };
    };
    if (!response.ok) throw new Error(body.error?.message);
    words = await user('guest').reply(body.choices[0]!.message.content);
  }
  return { reward: heard.includes(task.to) ? 1 : 0 };
}

async function play(
  policy: string | UserScript<Trip>,
  {
    meter,
    run = chat,
    ...more
  }: Partial<AgentDefinition<Trip>> & { readonly meter?: SpendMeter; readonly temperature?: number } = {},
): Promise<Episode> {
  const { temperature, ...rest } = more;
  const guest = simulateUser<Trip>({
    persona: 'You travel.',
    facts: ({ to }) => ({ to }),
    policy,
    ...(temperature !== undefined && { temperature }),
  });
  const agent = defineAgent<Trip>({
    name: 'travel',
    tasks: [{ to: 'rome' }],
    users: { guest },
    run,
    ...rest,
  });
  const learner = scriptedTokens(renderer, () => 'where to');
  const episode = agentEpisodes({
    agent: agent as never,
    gateway,
    model: () => policyModel({ policy: learner, renderer, contextLength: 64 }),
    ...(meter && { users: userModels(agent as never, meter) }),
  });
  return episode(
    {
      key: { step: 1, environment: 'travel', split: 'train', task: 0, group: 0, member: 0 },
      task: { to: 'rome' },
    },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: agent.maxCalls,
      contextLength: 64,
      turnTimeoutMs: 5000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

/** A server that answers with these statuses and words, one after the other. */
async function endpoint(
  ...answers: readonly (readonly [number, string])[]
): Promise<{ url: string; bodies: unknown[] }> {
  const bodies: unknown[] = [];
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += String(part);
    const [status, content] = answers[Math.min(bodies.length, answers.length - 1)]!;
    bodies.push(JSON.parse(text));
    response.writeHead(status, { 'content-type': 'application/json' });
    const usage = { prompt_tokens: 10, completion_tokens: 2 };
    const choices = [{ message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.end(JSON.stringify(status === 200 ? { choices, usage } : { error: { message: content } }));
  });
  await new Promise<void>((done) => server!.listen(0, '127.0.0.1', done));
  return { url: `openai:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#guest`, bodies };
}

const script: UserScript<Trip> = ({ said, task, facts }) => {
  expect(facts).toEqual({ to: 'rome' });
  if (said === undefined) return 'oslo';
  return said === 'where to' ? task.to : undefined;
};
const twice: UserScript<Trip> = (turn) => (turn.turn > 1 ? undefined : script(turn));

describe('a scripted user', () => {
  test('is another player of the episode, from whom nothing is learned', async () => {
    const episode = await play(twice);
    expect(episode).toMatchObject({ stop: 'done', outcome: { agent: 1 } });
    expect(
      episode.calls.map(({ by, purpose, text, trainable }) => [by.name, purpose, text, trainable]),
    ).toEqual([
      ['guest', 'consult', 'oslo', 'other-model'],
      ['learner', 'act', 'where to', true],
      ['guest', 'consult', 'rome', 'other-model'],
      ['learner', 'act', 'where to', true],
      ['guest', 'consult', '[END]', 'other-model'],
    ]);
    expect(episode.transitions.map(({ call }) => call)).toEqual([1, 3]);
    const samples = samplesOf({ step: 1, group: 0, members: [episode] }, 'learner');
    const trained = samples.flatMap(({ mask_T }) => [...mask_T]).filter((one) => one > 0).length;
    expect(trained).toBe(
      episode.calls.flatMap(({ trainable, ids }) => (trainable === true ? [...ids] : [])).length,
    );
  });

  test('has one conversation, each call of which goes on from the one before', async () => {
    const { calls } = await play(twice);
    const own = calls.filter(({ purpose }) => purpose === 'consult');
    expect(own.map(({ id, parent }) => [id, parent])).toEqual([
      [0, undefined],
      [2, 0],
      [4, 2],
    ]);
  });

  test.each<[string, UserScript<Trip>, string]>([
    ['throws', () => Promise.reject(new Error('no memory')), 'no memory'],
    ['says what is no text', (() => 7) as never, 'not a text'],
    ['says nothing', () => '  ', 'an empty answer'],
  ])('that %s fails the environment, and labels nothing', async (_case, policy, seen) => {
    const episode = await play(policy);
    expect(episode).toMatchObject({ stop: 'failed:environment', outcome: { agent: 0 } });
    expect(episode.failure).toContain('The simulated user "guest" did not answer');
    expect(episode.failure).toContain(seen);
  });

  test('fails the environment also where the agent hides it', async () => {
    const run = async (episode: AgentEpisode<Trip>) => ({
      reward: await chat(episode).then(
        () => 1,
        () => 1,
      ),
    });
    expect((await play(() => Promise.reject(new Error('no')), { run })).stop).toBe('failed:environment');
  });

  test('counts among the calls of the episode, so that no conversation is without end', async () => {
    expect((await play(() => 'oslo', { maxCalls: 6 })).stop).toBe('turn-limit');
  });

  test('draws its chance from the episode', async () => {
    const drawn: number[] = [];
    const random: UserScript<Trip> = ({ rng, turn }) => {
      drawn.push(rng.int(1e9));
      return turn === 1 ? undefined : 'oslo';
    };
    await play(random);
    await play(random);
    expect(drawn).toHaveLength(4);
    expect(drawn.slice(2)).toEqual(drawn.slice(0, 2));
    expect(drawn[0]).not.toBe(drawn[1]);
  });
});

describe('a user that is a model elsewhere', () => {
  test('reads its persona and facts, and is counted', async () => {
    const meter = new SpendMeter({});
    const { url, bodies } = await endpoint([200, 'rome'], [200, '[END]']);
    const episode = await play(url, { meter, temperature: 0.5 });
    expect(episode).toMatchObject({ stop: 'done', outcome: { agent: 1 } });
    const [first] = bodies as { model: string; temperature: number; messages: { content: string }[] }[];
    expect(first).toMatchObject({ model: 'guest', temperature: 0.5 });
    expect(first!.messages[0]!.content).toContain('- to: rome');
    expect(meter.spent).toMatchObject({ calls: 2, promptTokens: 20, completionTokens: 4 });
    const { by } = episode.calls.find(({ purpose }) => purpose === 'consult')!;
    expect(by).toMatchObject({ kind: 'model', name: expect.stringMatching(/^guest@127\.0\.0\.1:/) });
  });

  test('that fails fails the environment', async () => {
    const { url } = await endpoint([200, 'rome'], [404, 'no such model']);
    const episode = await play(url);
    expect(episode.stop).toBe('failed:environment');
    expect(episode.failure).toContain('no such model');
  });

  test('whose context is full fails the environment: the policy’s own is not', async () => {
    const { url } = await endpoint([400, 'maximum context length is 10 tokens']);
    expect((await play(url)).stop).toBe('failed:environment');
  });

  test('is not asked beyond the limit of what it may cost', async () => {
    const { url, bodies } = await endpoint([200, 'oslo']);
    const meter = new SpendMeter({ maxCalls: 2 });
    expect((await play(url, { meter })).failure).toContain('The limit of what models elsewhere may cost');
    expect([bodies.length, meter.limited.aborted]).toEqual([2, true]);
  });
});

test('an agent names the users that it has', async () => {
  const run = async ({ user }: AgentEpisode<Trip>) => ({ reward: (await user('host').reply()) ? 1 : 0 });
  const { stop, failure } = await play(twice, { run });
  expect(stop).toBe('failed:environment');
  expect(failure).toContain('no simulated user of this name. Seen: host. Allowed: guest.');
});

test.each(['policy', 'judge'])('a user may not be called %s where that is a model', (name) => {
  const user = simulateUser({ persona: 'You are Ada.', policy: () => 'hello' });
  const models = { judge: 'openai:http://localhost/v1' };
  const run = async () => ({ reward: 1 });
  expect(() => defineAgent({ name: 'fine', tasks: [1], models, users: { [name]: user }, run })).toThrow(
    'the name of a simulated user',
  );
});
