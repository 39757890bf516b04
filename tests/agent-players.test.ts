/** An agent of two roles: one learner plays both, or each has weights of its own; stored, served and refused as in games. */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defineAgent, type TrainSettings, train } from '../src/exports/index.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-agent-players-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const words = ['red', 'green', 'blue'];
/** The planner names the word, and the worker says it. */
const relay = defineAgent<{ readonly word: string }>({
  name: 'relay',
  roles: ['planner', 'worker'],
  maxCalls: 4,
  tasks: () => words.map((word) => ({ word })),
  async run({ task, baseURL, apiKey, model }) {
    const ask = async (who: string, content: string): Promise<string> => {
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: who, messages: [{ role: 'user', content }] }),
      });
      const { choices } = (await response.json()) as {
        choices: readonly { readonly message: { readonly content: string } }[];
      };
      return choices[0]!.message.content;
    };
    const plan = await ask(model, `plan ${task.word}`);
    const done = await ask('worker', `do ${plan}`);
    return {
      reward: done === task.word ? 1 : 0,
      rewards: { planner: plan === `say ${task.word}` ? 0.5 : 0 },
    };
  },
  demonstrate({ task, role, rng }) {
    if (role === 'worker') return { content: task.word };
    return { content: `say ${rng.chance(0.6) ? task.word : rng.pick(words)}` };
  },
});

const small: TrainSettings = {
  seed: 5,
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 24, steps: 60, batch: 8 },
  rollout: { tasks: 3, group: 4 },
  evaluation: { every: 0, finalTasks: 3 },
};
const play = (name: string, settings: TrainSettings) =>
  train({ world: relay, name, runs, settings: { ...small, ...settings } });

const stored = (name: string) =>
  readdirSync(join(runs, name, 'rollouts'))
    .filter((file) => /^\d+\.jsonl\.gz$/.test(file))
    .flatMap((file) => [...(readEpisodeFile(join(runs, name, 'rollouts', file))?.groups ?? [])])
    .flatMap(({ members }) => members);

test('one learner plays both roles', { timeout: 240_000 }, async () => {
  await play('one', {});
  const episodes = stored('one');
  expect(episodes).toHaveLength(24);
  for (const { calls, seats, credit } of episodes) {
    expect(calls.map(({ role, by }) => [role, by.name])).toEqual([
      ['planner', 'learner'],
      ['worker', 'learner'],
    ]);
    expect(Object.values(seats).map(({ player }) => player)).toEqual(['learner', 'learner']);
    expect(Object.keys(credit ?? {})).toEqual(['planner', 'worker']);
  }
});

test('a role with a player of its own has weights of its own', { timeout: 240_000 }, async () => {
  await play('two', { players: { bob: 'learner' }, seats: { worker: 'bob' } });
  for (const { calls, seats } of stored('two')) {
    expect(calls.map(({ by, trainable }) => [by.name, trainable])).toEqual([
      ['learner', true],
      ['bob', true],
    ]);
    expect(seats).toMatchObject({ planner: { player: 'learner' }, worker: { player: 'bob' } });
  }
  const checkpoint = join(runs, 'two', 'checkpoints', '2');
  expect(existsSync(join(checkpoint, 'players', 'bob'))).toBe(true);
  expect(readFileSync(join(runs, 'two', 'events.jsonl'), 'utf8')).toContain('"players/bob/policy/loss"');
});

test.each([
  ['script:expert', 'is an agent, whose roles learners and earlier selves play. Seen: script:expert'],
  ['openai:http://localhost:9/v1#x', 'Other models are asked by their names in "models"'],
])('%s plays no role of an agent', async (rival, message) => {
  const settings = { players: { rival }, seats: { worker: 'rival' } };
  await expect(play('refused', settings)).rejects.toThrow(message);
});
