/** Turn controls of agents: what their code reads, is refused and earns when something else decides after its turns. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Episode, EpisodeKey } from '../../../core/episode.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { type Message, user } from '../../../core/messages.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import {
  type DefinedTurns,
  defineTurns,
  type TurnView,
  turnRules,
} from '../../../rollout/turns/turn-control.ts';
import { untilVoid } from '../../../rollout/turns/turn-controls.ts';
import { unwatched } from '../../../rollout/watch.ts';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { pathsOf, promptsOf } from '../testing/rebuild.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { agentEpisodes } from './agent-episodes.ts';

const renderer = rendererOf('who is ada one two three hurry');
const key: EpisodeKey = { step: 1, environment: 'tested', split: 'train', task: 0, group: 2, member: 3 };
let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

/** Ask the policy; throws what the gateway says against it. */
async function ask(
  episode: AgentEpisode,
  messages: readonly Message[],
  purpose = 'act',
  more: object = {},
): Promise<Message> {
  const response = await fetch(`${episode.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${episode.apiKey}`, 'x-turnwise-purpose': purpose },
    body: JSON.stringify({ model: episode.model, messages, ...more }),
  });
  const body = (await response.json()) as {
    choices: { message: { content: string } }[];
    error?: { code: string };
  };
  if (!response.ok) throw new Error(body.error?.code);
  return { role: 'assistant', content: body.choices[0]!.message.content };
}

/** Say these one after another in one conversation. */
async function chat(episode: AgentEpisode, ...said: readonly string[]): Promise<readonly Message[]> {
  const messages: Message[] = [];
  for (const content of said) {
    messages.push(user(content));
    messages.push(await ask(episode, messages));
  }
  return messages;
}

async function play(
  run: AgentDefinition['run'],
  control: DefinedTurns,
  more: { readonly say?: readonly Message[] } = {},
): Promise<{ readonly episode: Episode; readonly prompts: readonly string[] }> {
  const policy = scriptedTokens(renderer, () => 'one two');
  const agent = defineAgent({ name: 'tested', tasks: () => [1], run });
  const start = agentEpisodes({
    agent,
    gateway,
    model: (_request, { contextLength, sampling }) =>
      policyModel({ policy, renderer, contextLength, sampling }),
  });
  const episode = await start(
    { key, task: 1, ...(more.say && { say: more.say }) },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 8,
      turns: turnRules(control.create(), { step: 1, memory: null, seed: 1, usual: 8 }),
      contextLength: 128,
      turnTimeoutMs: 5000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
  expect(gateway.sessions).toEqual([]);
  return { episode, prompts: policy.requests.map(({ append }) => renderer.text(Array.from(append))) };
}

const hurry = defineTurns({
  name: 'hurry',
  after: (view) => (view.turn === 1 ? { say: user('hurry') } : 'go on'),
});
const stopAt = (turn: number) =>
  defineTurns({
    name: 'stop',
    after: (view) => (view.turn === turn ? { stop: 'early-stop' } : 'go on'),
  });

test('a message is read in the next prompt, stays in the conversation, and keeps its path in one piece', async () => {
  const { episode, prompts } = await play(async (given) => {
    await chat(given, 'who', 'is', 'ada');
    return { reward: 1 };
  }, hurry);
  expect(prompts.map((prompt) => prompt.split('hurry').length - 1)).toEqual([0, 1, 1]);
  expect(prompts[1]!.indexOf('hurry')).toBeGreaterThan(prompts[1]!.indexOf('is'));
  expect(pathsOf(episode.calls)).toEqual([[0, 1, 2]]);
  expect(episode.calls.map(({ messages }) => messages)).toEqual([
    [user('who')],
    [user('is'), user('hurry')],
    [user('ada')],
  ]);
  expect(episode.calls.map(({ newPath, parts }) => [newPath, parts])).toEqual(
    episode.calls.map(() => [undefined, undefined]),
  );
  for (const [index, call] of episode.calls.entries()) {
    expect(renderer.text(promptsOf(episode.calls).get(call.id)!)).toBe(prompts[index]);
  }
  expect(episode.stop).toBe('done');
});

test('states that differ by a message alone have other anchors', async () => {
  const run: AgentDefinition['run'] = async (given) => {
    await chat(given, 'who', 'is', 'ada');
    return { reward: 1 };
  };
  const anchors = async (control: DefinedTurns) =>
    (await play(run, control)).episode.transitions.map(({ anchor }) => anchor);
  const [told, untold] = [await anchors(hurry), await anchors(defineTurns({ name: 'silent' }))];
  expect(told.map((anchor, index) => anchor === untold[index])).toEqual([true, false, false]);
});

test('a message waits for an act: calls for something else do not read it', async () => {
  const { prompts } = await play(async (given) => {
    await chat(given, 'who');
    await ask(given, [user('three')], 'summarize');
    await chat(given, 'ada');
    return { reward: 1 };
  }, hurry);
  expect(prompts.map((prompt) => prompt.includes('hurry'))).toEqual([false, false, true]);
});

test('an instruction of the group is read by the first act', async () => {
  const { episode, prompts } = await play(
    async (given) => {
      await chat(given, 'who', 'is');
      return { reward: 1 };
    },
    defineTurns({ name: 'silent' }),
    { say: [user('hurry')] },
  );
  expect(prompts.map((prompt) => prompt.split('hurry').length - 1)).toEqual([1, 1]);
  expect(episode.calls[0]!.messages).toEqual([user('who'), user('hurry')]);
});

test('a stop refuses the next call, and the agent may hand in what was earned', async () => {
  let refused = '';
  const { episode } = await play(async (given) => {
    try {
      await chat(given, 'who', 'is', 'ada');
    } catch (error) {
      refused = (error as Error).message;
    }
    return { reward: 0.5 };
  }, stopAt(2));
  expect(refused).toBe('episode_stopped');
  expect(episode).toMatchObject({ stop: 'early-stop', outcome: { agent: 0.5 } });
  expect(episode).not.toHaveProperty('failure');
  expect(episode.calls).toHaveLength(2);
});

test('an agent that throws because of a stop has the reward that its error names, or none', async () => {
  const { episode: silent } = await play(async (given) => {
    await chat(given, 'who', 'is');
    return { reward: 1 };
  }, stopAt(1));
  expect(silent).toMatchObject({ stop: 'early-stop', outcome: { agent: 0 }, failure: 'episode_stopped' });
  const { episode: named } = await play(async (given) => {
    await chat(given, 'who');
    await chat(given, 'is').catch(() => {
      throw Object.assign(new Error('over'), { reward: 0.25 });
    });
    return { reward: 1 };
  }, stopAt(1));
  expect(named).toMatchObject({ stop: 'early-stop', outcome: { agent: 0.25 } });
});

test('a tool that fails after a stop is a failure', async () => {
  const { episode } = await play(async (given) => {
    await chat(given, 'who', 'is').catch(() => {});
    throw new TurnwiseError('sandbox-lost', { what: 'The database went away', fields: { origin: 'tool' } });
  }, stopAt(1));
  expect(episode.stop).toBe('failed:tool');
});

test('each turn is asked about once, and the last when the agent has come to its end', async () => {
  const seen: [TurnView, boolean, boolean][] = [];
  const watching = defineTurns({
    name: 'watching',
    after: (view, { done, success }) => {
      seen.push([view, done, success]);
      return done ? { stop: 'invalid-action' } : 'go on';
    },
  });
  const { episode } = await play(async (given) => {
    await chat(given, 'who', 'is');
    return { reward: 1 };
  }, watching);
  expect(seen.map(([{ role, turn, limit, task }, ...ended]) => [role, turn, limit, task, ...ended])).toEqual([
    ['agent', 1, 8, 1, false, false],
    ['agent', 2, 8, 1, true, true],
  ]);
  expect(seen.map(([{ calls, transitions }]) => [calls.length, transitions.length])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(seen[1]![0].transitions[1]!.rewards).toEqual({ agent: 1 });
  expect(episode.stop).toBe('invalid-action');
});

test('until-void ends an agent at a turn without a usable action', async () => {
  const { episode } = await play(async (given) => {
    await chat(given, 'who');
    await ask(given, [user('is')], 'act', { response_format: { type: 'json_object' } });
    await chat(given, 'ada');
    return { reward: 1 };
  }, untilVoid);
  expect(episode.transitions.map(({ valid }) => valid)).toEqual([true, false]);
  expect(episode).toMatchObject({ stop: 'invalid-action', outcome: { agent: 0 } });
});

test('a control that fails, or opens the task again, fails the episode as the policy', async () => {
  const run: AgentDefinition['run'] = async (given) => {
    await chat(given, 'who', 'is');
    return { reward: 1 };
  };
  const failing = defineTurns({
    name: 'failing',
    after: () => {
      throw new Error('no idea');
    },
  });
  const { episode: failed } = await play(run, failing);
  expect(failed.stop).toBe('failed:policy');
  expect(failed.failure).toContain('no idea');
  const again = defineTurns({ name: 'again', retries: true, after: () => ({ retry: user('hurry') }) });
  const { episode: retried } = await play(run, again);
  expect(retried).toMatchObject({ stop: 'failed:policy' });
  expect(retried.failure).toContain('opens the task again');
});
