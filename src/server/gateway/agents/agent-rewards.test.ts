/** Rewards along the way: which turn they belong to, what learns from them, and whose fault wrong ones are. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Episode, EpisodeKey } from '../../../core/episode.ts';
import { roleGroups } from '../../../core/trajectory.ts';
import { creditView } from '../../../credit/contract/view.ts';
import { findCreditMethod } from '../../../credit/methods.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import { unwatched } from '../../../rollout/watch.ts';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { agentEpisodes } from './agent-episodes.ts';

const renderer = rendererOf('who is ada one two three');
let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

const key: EpisodeKey = { step: 1, environment: 'paid', split: 'train', task: 0, group: 0, member: 0 };

interface Answered {
  readonly id: string;
}

async function post(
  { baseURL, apiKey }: AgentEpisode,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  const response = await fetch(`${baseURL}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answered;
}
const chat = (episode: AgentEpisode, content: string, more: object = {}, headers = {}): Promise<Answered> =>
  post(
    episode,
    '/chat/completions',
    { model: episode.model, messages: [{ role: 'user', content }], ...more },
    headers,
  );

async function play(run: AgentDefinition['run'], maxTurns = 8): Promise<Episode> {
  const agent = defineAgent({ name: 'paid', tasks: () => [1], run });
  const policy = scriptedTokens(renderer, () => 'one two');
  const model = policyModel({ policy, renderer, contextLength: 64 });
  const other = { ...model, name: 'critic', author: { kind: 'model' as const, name: 'critic' } };
  return agentEpisodes({ agent, gateway, model: () => model, foreign: [other] })(
    { key, task: 1 },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns,
      contextLength: 64,
      turnTimeoutMs: 5000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

const rewardsOf = ({ transitions }: Episode): (number | undefined)[] =>
  transitions.map(({ rewards }) => rewards.agent);

describe('a reward along the way', () => {
  test('goes to the turn of the call that it names, in every dialect, and is a part of the outcome', async () => {
    const episode = await play(async (episode) => {
      const first = await chat(episode, 'who');
      const second = await post(episode, '/responses', { model: episode.model, input: 'is' });
      const third = await post(episode, '/messages', {
        model: episode.model,
        max_tokens: 9,
        messages: [{ role: 'user', content: 'ada' }],
      });
      const last = await post(episode, '/completions', { model: episode.model, prompt: 'who is' });
      expect([first, second, third, last].map(({ id }) => id.split(/[-_]/)[0])).toEqual([
        'chatcmpl',
        'resp',
        'msg',
        'cmpl',
      ]);
      episode.reward(0.25, { call: third.id });
      episode.reward(0.5, { call: first.id });
      episode.reward(-1, { call: second.id });
      episode.reward(0.25, { call: first.id });
      return { reward: 2 };
    });
    expect(rewardsOf(episode)).toEqual([0.75, -1, 0.25, 2]);
    expect(episode.outcome).toEqual({ agent: 2 });
    expect(episode.success).toEqual({ agent: true });
  });

  test('goes to the last answer where it names none', async () => {
    const episode = await play(async (episode) => {
      await chat(episode, 'who');
      episode.reward(1);
      await chat(episode, 'is');
      await chat(episode, 'ada');
      episode.reward(3);
      return { reward: 0 };
    });
    expect(rewardsOf(episode)).toEqual([1, 0, 3]);
    expect([episode.outcome, episode.success]).toEqual([{ agent: 4 }, { agent: false }]);
  });

  test('goes to the turn with which a call that is no act is trained', async () => {
    const episode = await play(async (episode) => {
      await chat(episode, 'who');
      const plan = await chat(episode, 'is', {}, { 'x-turnwise-purpose': 'plan' });
      await chat(episode, 'ada');
      await chat(episode, 'two');
      const late = await chat(episode, 'three', {}, { 'x-turnwise-purpose': 'summarize' });
      episode.reward(0.5, { call: plan.id });
      episode.reward(0.25, { call: late.id });
      return { reward: 1 };
    });
    expect(rewardsOf(episode)).toEqual([0, 0.5, 1.25]);
    // The same turns have their tokens.
    const [{ members } = { members: [] }] = roleGroups([{ step: 1, group: 0, members: [episode] }]);
    expect(members[0]?.turns.map(({ calls, reward }) => [calls.map(({ id }) => id), reward])).toEqual([
      [[0], 0],
      [[1, 2], 0.5],
      [[3, 4], 1.25],
    ]);
  });

  test('is what turn-level credit compares: of two equal outcomes, turns that were paid are worth more', async () => {
    const paid = (turn: number) =>
      play(async (episode) => {
        for (const call of [0, 1]) {
          await chat(episode, 'who');
          if (call === turn) episode.reward(1);
        }
        return { reward: 0 };
      });
    const members = [await paid(0), await paid(1)].map((one, member) => ({
      ...one,
      key: { ...key, member },
    }));
    const view = creditView({ step: 1, group: 0, members }, 'agent');
    const advantagesBy = (method: string): (readonly number[])[] =>
      findCreditMethod(method)
        .create({})
        .credit(view, {})
        .credits.map(({ turnAdvantages_K }) => [...turnAdvantages_K]);
    const [early, late] = advantagesBy('mars');
    expect(early![0]).toBe(late![0]);
    expect(early![1]).toBeLessThan(late![1]!);
    expect(advantagesBy('rloo')).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test('counts where the episode ends before the agent does', async () => {
    const episode = await play(async (episode) => {
      for (;;) {
        await chat(episode, 'who');
        episode.reward(1);
      }
    }, 2);
    expect(episode).toMatchObject({ stop: 'turn-limit', outcome: { agent: 2 } });
    expect(rewardsOf(episode)).toEqual([1, 1]);
    const invalid = await play(async (episode) => {
      await chat(episode, 'who');
      episode.reward(1);
      await chat(episode, 'is', { max_tokens: 1 });
      throw Object.assign(new Error('cut'), { reward: -2 });
    });
    expect(invalid).toMatchObject({ stop: 'invalid-action', outcome: { agent: -1 } });
    expect(rewardsOf(invalid)).toEqual([1, -2]);
  });

  test.each<[string, (episode: AgentEpisode) => Promise<void>, string]>([
    [
      'before the first answer',
      async ({ reward }) => reward(1),
      'has no turn to go to. Seen: no call answered yet',
    ],
    [
      'of an unknown id',
      async (episode) => {
        await chat(episode, 'who');
        episode.reward(1, { call: 'chatcmpl-other_0' });
      },
      'names a call that this episode does not have. Seen: "chatcmpl-other_0"',
    ],
    [
      'of the id of a tool call',
      async (episode) => {
        const { id } = await chat(episode, 'who');
        episode.reward(1, { call: id.replace('chatcmpl-', 'call_') });
      },
      'names a call that this episode does not have',
    ],
    [
      'of another model’s call',
      async (episode) => {
        const { id } = await chat(episode, 'who', { model: 'critic' });
        episode.reward(1, { call: id });
      },
      'names a call that is not trained',
    ],
    [
      'that is no number',
      async (episode) => {
        await chat(episode, 'who');
        episode.reward('much' as never);
      },
      'is no number that can be added up. Seen: "much"',
    ],
    [
      'that is not finite',
      async (episode) => {
        await chat(episode, 'who');
        episode.reward(Number.NaN);
      },
      'is no number that can be added up. Seen: NaN',
    ],
    [
      'that is wrong after an answer that was cut: the policy is not to blame',
      async (episode) => {
        await chat(episode, 'who', { max_tokens: 1 });
        episode.reward(1, { call: 'no' });
      },
      'names a call that this episode does not have. Seen: "no"',
    ],
  ])('%s fails the episode as one of the agent’s code', async (_case, wrong, message) => {
    const episode = await play(async (episode) => {
      await wrong(episode);
      return { reward: 1 };
    });
    expect(episode.stop).toBe('failed:environment');
    expect(episode.failure).toContain(message);
    expect(episode.outcome).toEqual({ agent: 0 });
  });

  test('is refused after the end', async () => {
    let late: (() => void) | undefined;
    const episode = await play(async (episode) => {
      await chat(episode, 'who');
      late = () => episode.reward(5);
      return { reward: 1 };
    });
    expect(late).toThrow('came after the end of its episode');
    expect(rewardsOf(episode)).toEqual([1]);
  });
});

test('the agent’s key neither ends its episode nor says what it was worth', async () => {
  const episode = await play(async (episode) => {
    await chat(episode, 'who');
    const session = episode.baseURL.replace(/\/v1$/, '');
    const told = async (method: string, path: string, body: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${episode.apiKey}` };
      const response = await fetch(`${session}${path}`, { method, headers, body: JSON.stringify(body) });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    expect(await told('DELETE', '', { reward: 9 })).toEqual([409, 'session_of_run']);
    expect(await told('POST', '/close', { reward: 9 })).toEqual([409, 'session_of_run']);
    expect(await told('POST', '/rewards', { value: 9 })).toEqual([409, 'session_of_run']);
    return { reward: 0.5 };
  });
  expect(episode).toMatchObject({ stop: 'done', outcome: { agent: 0.5 } });
});
