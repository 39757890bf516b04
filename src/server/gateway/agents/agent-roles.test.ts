/** Agents of several roles: whom each call asks, what each role earns, and how credit and files see them. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Episode } from '../../../core/episode.ts';
import { roleGroups } from '../../../core/trajectory.ts';
import { rowsOfEpisode } from '../../../data/rows-of-episode.ts';
import { type AgentDefinition, type AgentEpisode, defineAgent } from '../../../env/agent.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import { unwatched } from '../../../rollout/watch.ts';
import { Gateway } from '../gateway.ts';
import { policyModel } from '../policy-model.ts';
import { rendererOf, scriptedTokens } from '../testing/scripted-policy.ts';
import { agentEpisodes } from './agent-episodes.ts';

const renderer = rendererOf('plan do it one two three');
let gateway: Gateway;
beforeAll(async () => {
  gateway = await new Gateway().start();
});
afterAll(() => gateway.stop());

interface Answer {
  readonly id: string;
  readonly said: string;
}

async function ask({ baseURL, apiKey }: AgentEpisode, model: string, content: string): Promise<Answer> {
  const response = await fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  });
  const { id, choices, error } = (await response.json()) as {
    readonly id: string;
    readonly choices: readonly { readonly message: { readonly content: string } }[];
    readonly error?: { readonly message: string };
  };
  if (error) throw new Error(error.message);
  return { id, said: choices[0]!.message.content };
}

/** A planner, whom the learner plays, and a worker with a player of its own. */
function play(run: AgentDefinition['run'], others: Partial<AgentDefinition> = {}): Promise<Episode> {
  const agent = defineAgent({ name: 'team', tasks: () => [1], roles: ['planner', 'worker'], run, ...others });
  const says = { planner: 'plan', worker: 'do it' } as Readonly<Record<string, string>>;
  return agentEpisodes({
    agent,
    gateway,
    model: (_request, { contextLength, sampling }, role) =>
      policyModel({
        policy: scriptedTokens(renderer, () => says[role]!),
        renderer,
        contextLength,
        sampling,
        seat: { role, player: role === 'worker' ? 'bob' : 'learner' },
      }),
  })(
    { key: { step: 1, environment: 'team', split: 'train', task: 0, group: 0, member: 0 }, task: 1 },
    {
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: 8,
      contextLength: 64,
      turnTimeoutMs: 5000,
      seed: 1,
      signal: new AbortController().signal,
      watch: unwatched,
    },
  );
}

const once: AgentDefinition['run'] = async (episode) => {
  const { said } = await ask(episode, episode.model, 'one');
  const { id } = await ask(episode, 'worker', said);
  episode.reward(0.25, { call: id });
  await ask(episode, 'worker', 'two');
  return { reward: 1, rewards: { planner: 0.5 } };
};

test('each call asks the player of its role, and each role earns the reward and its own', async () => {
  const episode = await play(once);
  expect(episode.calls.map(({ role, by, text, trainable }) => [role, by.name, text, trainable])).toEqual([
    ['planner', 'learner', 'plan', true],
    ['worker', 'bob', 'do it', true],
    ['worker', 'bob', 'do it', true],
  ]);
  expect(episode.transitions.map(({ role, rewards }) => [role, rewards])).toEqual([
    ['planner', { planner: 0 }],
    ['worker', { worker: 0.25 }],
    ['worker', { planner: 1.5, worker: 1 }],
  ]);
  expect(episode).toMatchObject({
    stop: 'done',
    seats: { planner: { player: 'learner' }, worker: { player: 'bob' } },
    outcome: { planner: 1.5, worker: 1.25 },
    success: { planner: true, worker: true },
  });
});

test('credit sees a trajectory of each, with the end in its own last turn', async () => {
  const episode = await play(once);
  const groups = roleGroups([{ step: 1, group: 0, members: [episode] }]);
  expect(groups.map(({ role, members }) => [role, members[0]!.turns.map(({ reward }) => reward)])).toEqual([
    ['planner', [1.5]],
    ['worker', [0.25, 1]],
  ]);
});

test('a file has rows of each, under its name', async () => {
  const episode = await play(once);
  const rows = rowsOfEpisode(episode, episode, { kind: 'run' });
  expect(rows.map(({ source, reward }) => [source.role, reward])).toEqual([
    ['planner', 1.5],
    ['worker', 1.25],
    ['worker', 1.25],
  ]);
});

test('a role that is never asked earns nothing that is lost, and an unknown one is refused', async () => {
  const alone = await play(async (episode) => {
    await ask(episode, 'worker', 'one');
    await expect(ask(episode, 'boss', 'one')).rejects.toThrow(
      'There is no model "boss" here; there is "planner", "worker".',
    );
    return { reward: 1 };
  });
  expect(alone).toMatchObject({ stop: 'done', outcome: { planner: 1, worker: 1 } });
  const none = await play(async () => ({ reward: 1, rewards: { worker: -1 } }));
  expect(none).toMatchObject({ outcome: { planner: 1, worker: 0 }, calls: [] });
});

test.each([
  [{ boss: 1 }, 'boss: 1. Allowed: a finite number for each of planner, worker'],
  [{ worker: Number.NaN }, 'worker: NaN'],
])('rewards %j of roles are refused', async (rewards, message) => {
  const episode = await play(async () => ({ reward: 1, rewards: rewards as Record<string, number> }));
  expect(episode.stop).toBe('failed:environment');
  expect(episode.failure).toContain(message);
});

test.each([[[]], [['a', 'a']], [['policy']], [['A b']], [['judge']]])('roles %j are refused', (roles) => {
  const define = () =>
    defineAgent({
      name: 'team',
      tasks: [1],
      roles,
      models: { judge: 'openai:http://localhost/v1' },
      run: async () => ({ reward: 0 }),
    });
  expect(define).toThrow(/An agent cannot be used because of (a role|roles)/);
});
