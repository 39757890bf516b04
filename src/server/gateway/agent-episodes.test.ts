/** Episodes of agents: what they become, and whose fault it is when they fail. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { TurnwiseError } from '../../core/errors.ts';
import { buildSamples } from '../../core/sample.ts';
import type { Trajectory } from '../../core/trajectory.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../env/agent.ts';
import { fromAgent } from '../../env/from-agent.ts';
import type { PromptRequest } from '../../policy/policy.ts';
import { fullContext } from '../../rollout/context.ts';
import { unwatched } from '../../rollout/watchdog.ts';
import { agentEpisodes } from './agent-episodes.ts';
import { Gateway } from './gateway.ts';
import { policyModel } from './policy-model.ts';
import { rendererOf, scriptedTokens } from './testing/scripted-policy.ts';

const renderer = rendererOf('who is ada one two three');
let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

async function ask(episode: AgentEpisode, content: string, before: object[] = []): Promise<string> {
  const response = await fetch(`${episode.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${episode.apiKey}` },
    body: JSON.stringify({ model: episode.model, messages: [...before, { role: 'user', content }] }),
    signal: episode.signal,
  });
  const body = (await response.json()) as {
    choices: { message: { content: string } }[];
    error?: { message: string };
  };
  if (!response.ok) throw new Error(body.error?.message);
  return body.choices[0]!.message.content;
}

async function play(
  run: AgentDefinition['run'],
  options: {
    readonly say?: (request: PromptRequest) => string | Promise<string>;
    readonly maxTurns?: number;
    readonly turnTimeoutMs?: number;
    readonly contextLength?: number;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Trajectory> {
  const agent = defineAgent({ name: 'tested', tasks: () => [1], run });
  const policy = scriptedTokens(renderer, options.say ?? (() => 'one two'));
  const episode = agentEpisodes({
    agent,
    gateway,
    model: (_request, { contextLength, sampling }) =>
      policyModel({ policy, renderer, contextLength, sampling }),
  });
  const [trajectory] = await episode(
    { id: '0/0/0', groupId: '0/0', task: 1 },
    {
      world: fromAgent(agent),
      policy,
      renderer,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: options.maxTurns ?? 8,
      contextLength: options.contextLength ?? 64,
      turnTimeoutMs: options.turnTimeoutMs ?? 5000,
      seed: 1,
      signal: options.signal ?? new AbortController().signal,
      watch: unwatched,
    },
  );
  expect(gateway.sessions).toEqual([]);
  return trajectory!;
}

describe('an episode', () => {
  test('is one trajectory: its conversations are its samples, and its reward comes last', async () => {
    const trajectory = await play(async (episode) => {
      const first = await ask(episode, 'who');
      await ask(episode, 'is', [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: first },
      ]);
      await ask(episode, 'ada');
      return { reward: 0.5, success: true, info: { note: 'fine' } };
    });
    expect(trajectory).toMatchObject({ stop: 'done', outcome: 0.5, success: true, policyVersion: 7 });
    expect(trajectory.turns.map(({ reward }) => reward)).toEqual([0, 0, 0.5]);
    expect(trajectory.turns.at(-1)!.info).toMatchObject({ result: { note: 'fine' } });
    const samples = buildSamples(trajectory);
    expect(samples.map(({ mask_T }) => mask_T.reduce((sum, mark) => sum + mark, 0))).toEqual([6, 3]);
    for (const { ids_T, mask_T, logprobs_T } of samples) {
      for (const [token, mark] of mask_T.entries()) expect(logprobs_T[token] !== 0).toBe(mark === 1);
      expect(renderer.text([...ids_T])).toContain('<user>');
    }
  });

  test('samples as the run says, whatever the agent’s code says', async () => {
    const seen: PromptRequest[] = [];
    await play(
      async ({ baseURL, apiKey, model }) => {
        await fetch(`${baseURL}/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}` },
          body: JSON.stringify({
            model,
            temperature: 0,
            seed: 3,
            messages: [{ role: 'user', content: 'who' }],
          }),
        });
        return { reward: 0 };
      },
      {
        say: (request) => {
          seen.push(request);
          return 'one';
        },
      },
    );
    expect(seen[0]!.sampling.temperature).toBe(1);
    expect(seen[0]!.seedKey).not.toContain('request');
  });

  test('succeeds by default when its reward is above 0', async () => {
    expect((await play(async () => ({ reward: 0.1 }))).success).toBe(true);
    expect((await play(async () => ({ reward: 0 }))).success).toBe(false);
  });
});

describe('failures are typed, and never rewards', () => {
  test.each<[string, AgentDefinition['run'], Parameters<typeof play>[1], string]>([
    ['the agent throws', () => Promise.reject(new Error('oops')), {}, 'failed:environment'],
    [
      'it throws at once',
      () => {
        throw new Error('oops');
      },
      {},
      'failed:environment',
    ],
    [
      'its tool says that it is the tool',
      () => Promise.reject(new TurnwiseError('sandbox-lost', { what: 'x', fields: { origin: 'tool' } })),
      {},
      'failed:tool',
    ],
    ['it returns nothing', async () => undefined as never, {}, 'failed:environment'],
    ['its reward is not a number', async () => ({ reward: Number.NaN }), {}, 'failed:environment'],
    [
      'its info is not JSON',
      async () => ({ reward: 1, info: { at: new Date() } as never }),
      {},
      'failed:environment',
    ],
    ['it does nothing for too long', () => new Promise(() => {}), { turnTimeoutMs: 40 }, 'timeout'],
    [
      'the policy fails',
      async (episode) => ({ reward: (await ask(episode, 'who')).length }),
      { say: () => Promise.reject(new Error('no weights')) },
      'failed:policy',
    ],
    [
      'the policy fails and the agent hides it',
      async (episode) => ({
        reward: await ask(episode, 'who').then(
          () => 1,
          () => 1,
        ),
      }),
      { say: () => Promise.reject(new Error('no weights')) },
      'failed:policy',
    ],
    [
      'the context is full',
      async (episode) => ({ reward: (await ask(episode, 'who '.repeat(50).trim())).length }),
      { contextLength: 20 },
      'context-overflow',
    ],
    [
      'there are too many calls',
      async (episode) => {
        for (;;) await ask(episode, 'who');
      },
      { maxTurns: 2 },
      'turn-limit',
    ],
  ])('%s', async (_case, run, options, stop) => {
    const trajectory = await play(run, options);
    expect(trajectory.stop).toBe(stop);
    expect(trajectory.outcome).toBe(0);
    expect(trajectory.failure).toBeTruthy();
  });

  test('waiting for the policy is not doing nothing', async () => {
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('one'), 120));
    const run = async (episode: AgentEpisode) => ({ reward: (await ask(episode, 'who')).length });
    expect((await play(run, { say: slow, turnTimeoutMs: 60 })).stop).toBe('done');
  });

  test('an engine that fails ends the run', async () => {
    const say = () => Promise.reject(new TurnwiseError('engine-failed', { what: 'The engine stopped' }));
    await expect(
      play(async (episode) => ({ reward: (await ask(episode, 'who')).length }), { say }),
    ).rejects.toMatchObject({ code: 'engine-failed' });
    expect(gateway.sessions).toEqual([]);
  });

  test('Ctrl-C reaches the agent', async () => {
    const interrupt = new AbortController();
    const heard = vi.fn();
    const playing = play(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            heard();
            reject(new Error('aborted'));
          });
          setTimeout(() => interrupt.abort(), 10);
        }),
      { signal: interrupt.signal },
    );
    expect((await playing).stop).toBe('cancelled');
    expect(heard).toHaveBeenCalled();
  });

  test('calls after the end are refused', async () => {
    let late: (() => Promise<string>) | undefined;
    await play(async (episode) => {
      late = () => ask({ ...episode, signal: new AbortController().signal }, 'who');
      return { reward: 1 };
    });
    await expect(late!()).rejects.toThrow('was closed');
  });
});

test.each([
  [{ name: 'Bad Name' }, 'its name'],
  [{ maxCalls: 0 }, 'maxCalls'],
  [{ tasks: [1] as never }, 'tasks'],
  [{ run: 'x' as never }, 'run'],
])('an agent that cannot be used: %o', (wrong, part) => {
  const definition = { name: 'fine', tasks: () => [1], run: async () => ({ reward: 1 }), ...wrong };
  expect(() => defineAgent(definition)).toThrow(part);
});
