/** Episodes of agents: what they become, and whose fault it is when they fail. */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Episode } from '../../../core/episode.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import type { PromptRequest } from '../../../policy/policy.ts';
import { Gateway } from '../gateway.ts';
import { pathsOf } from '../testing/rebuild.ts';
import { ask, key, playAgent } from './played-agent.test-helper.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

const play = (...given: Given): Promise<Episode> => playAgent(gateway, ...given);
type Given = Parameters<typeof playAgent> extends [Gateway, ...infer Rest] ? Rest : never;

describe('an episode', () => {
  test('is its calls and a transition for each act, and its reward comes last', async () => {
    const episode = await play(async (episode) => {
      const first = await ask(episode, 'who');
      await ask(episode, 'is', [
        { role: 'user', content: 'who' },
        { role: 'assistant', content: first },
      ]);
      await ask(episode, 'ada');
      return { reward: 0.5, success: true, info: { note: 'fine' } };
    });
    expect(episode).toMatchObject({
      key,
      task: 1,
      stop: 'done',
      seats: { agent: { player: 'learner', version: 7 } },
      outcome: { agent: 0.5 },
      success: { agent: true },
    });
    expect(episode).not.toHaveProperty('failure');
    expect(pathsOf(episode.calls)).toEqual([[0, 1], [2]]);
    expect(episode.calls.map(({ conversation }) => conversation)).toEqual(['1/2/3/0', '1/2/3/0', '1/2/3/1']);
    expect(episode.transitions.map(({ call, rewards }) => [call, rewards.agent])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0.5],
    ]);
    expect(episode.transitions[2]).toMatchObject({
      role: 'agent',
      action: 'one two',
      valid: true,
      notes: { info: { note: 'fine' } },
    });
    expect(new Set(episode.transitions.map(({ anchor }) => anchor)).size).toBe(3);
  });

  test('closes its transitions in the order of time, whatever conversation they belong to', async () => {
    const said = ['one', 'two', 'three', 'one two'];
    const [ada, is] = [signal(), signal()];
    const episode = await play(
      async (episode) => {
        const first = await ask(episode, 'who');
        const before = [
          { role: 'user', content: 'who' },
          { role: 'assistant', content: first },
        ];
        await Promise.all([ask(episode, 'ada'), ada.given.then(() => ask(episode, 'is')).then(is.give)]);
        await ask(episode, 'three', before);
        return { reward: 1 };
      },
      {
        // The second answer is given after the third, which is asked for while the second is awaited.
        say: async () => {
          const text = said.shift()!;
          if (text === 'two') {
            ada.give();
            await is.given;
          }
          return text;
        },
      },
    );
    expect(episode.calls.map(({ id, parent }) => [id, parent])).toEqual([
      [0, undefined],
      [1, undefined],
      [2, undefined],
      [3, 0],
    ]);
    expect(episode.transitions.map(({ call, rewards }) => [call, rewards.agent])).toEqual([
      [0, 0],
      [2, 0],
      [1, 0],
      [3, 1],
    ]);
    const times = episode.transitions.map(({ at }) => at);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(episode.transitions.every(({ environmentMs }) => environmentMs >= 0)).toBe(true);
  });

  test('has a transition of its own for its reward, where the agent asked nothing', async () => {
    const { calls, transitions, outcome } = await play(async () => ({ reward: 2 }));
    expect(calls).toEqual([]);
    expect(outcome).toEqual({ agent: 2 });
    expect(transitions).toMatchObject([{ rewards: { agent: 2 } }]);
    expect(transitions[0]).not.toHaveProperty('call');
    expect((await play(async () => ({ reward: 0 }))).transitions).toEqual([]);
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
    expect((await play(async () => ({ reward: 0.1 }))).success).toEqual({ agent: true });
    expect((await play(async () => ({ reward: 0 }))).success).toEqual({ agent: false });
  });
});

describe('failures are typed, and never rewards', () => {
  test.each<[string, AgentDefinition['run'], Given[1], string]>([
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
    const episode = await play(run, options);
    expect(episode.stop).toBe(stop);
    expect(episode.outcome).toEqual({ agent: 0 });
    expect(episode.failure).toBeTruthy();
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

describe('what the policy said and the agent could not go on with', () => {
  const strict = async (episode: AgentEpisode, more: object = {}): Promise<{ reward: number }> => {
    const answer = await ask(episode, 'who', [], more);
    throw new Error(`cannot read ${answer}`);
  };
  const json = { response_format: { type: 'json_object' } };

  test.each<[string, AgentDefinition['run'], string]>([
    ['was cut', (episode) => strict(episode, { max_tokens: 1 }), 'it was cut by its length limit'],
    ['has not the form that was asked for', (episode) => strict(episode, json), 'the answer is not JSON'],
    [
      'is a call that cannot be read',
      (episode) => strict(episode, { tools: [{ type: 'function', function: { name: 'look' } }] }),
      'there is no tool "one"',
    ],
  ])('%s: an invalid action, which counts and is learned from', async (_case, run, problem) => {
    const episode = await play(run, { say: () => '<call> one' });
    expect(episode).toMatchObject({
      stop: 'invalid-action',
      outcome: { agent: 0 },
      success: { agent: false },
    });
    expect(episode.failure).toMatch(`call 0: ${problem}; the agent threw: cannot read`);
    expect(episode.calls).toHaveLength(1);
    expect(episode.transitions).toMatchObject([{ call: 0, rewards: { agent: 0 } }]);
  });

  test('the error may name the reward', async () => {
    const episode = await play(async (episode) => {
      await ask(episode, 'who', [], json);
      throw Object.assign(new Error('no'), { reward: -0.5 });
    });
    expect(episode).toMatchObject({ stop: 'invalid-action', outcome: { agent: -0.5 } });
    expect(episode.transitions).toMatchObject([{ rewards: { agent: -0.5 } }]);
  });

  test.each<[string, AgentDefinition['run'], string]>([
    ['a well-formed answer', (episode) => strict(episode), 'failed:environment'],
    [
      'an answer after which it asked again',
      async (episode) => {
        await ask(episode, 'who', [], json);
        return strict(episode);
      },
      'failed:environment',
    ],
    [
      'a malformed answer, where its error names another origin',
      async (episode) => {
        await ask(episode, 'who', [], json);
        throw new TurnwiseError('sandbox-lost', { what: 'x', fields: { origin: 'tool' } });
      },
      'failed:tool',
    ],
    [
      'a malformed answer, where it returns no reward',
      async (episode) => {
        await ask(episode, 'who', [], json);
        return { reward: Number.NaN };
      },
      'failed:environment',
    ],
  ])('not %s', async (_case, run, stop) => {
    expect((await play(run)).stop).toBe(stop);
  });

  test('nor a call of the model that failed', async () => {
    const said = [async () => 'one', () => Promise.reject(new Error('no weights'))];
    const run = async (episode: AgentEpisode) => {
      await ask(episode, 'who', [], json);
      return strict(episode);
    };
    expect((await play(run, { say: () => said.shift()!() })).stop).toBe('failed:policy');
  });
});

test.each([
  [{ name: 'Bad Name' }, 'its name'],
  [{ maxCalls: 0 }, 'maxCalls'],
  [{ tasks: 7 as never }, 'tasks'],
  [{ run: 'x' as never }, 'run'],
])('an agent that cannot be used: %o', (wrong, part) => {
  const definition = { name: 'fine', tasks: () => [1], run: async () => ({ reward: 1 }), ...wrong };
  expect(() => defineAgent(definition)).toThrow(part);
});

/** Something that is waited for. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}
