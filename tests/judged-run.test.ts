/** A run whose reward is a judge's: what it says is stored, counted and credited, and a judge that fails teaches nothing. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Episode } from '../src/core/episode.ts';
import type { JudgeModel } from '../src/env/scores/group-scores.ts';
import { defineEnvironment, type RunSettings, relativeJudge, train } from '../src/exports/index.ts';
import { version } from '../src/run/version.ts';
import { trainingShard } from '../src/store/rollouts/shard-names.ts';
import { RunDirectory } from '../src/store/run-directory.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-judged-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const words = ['red', 'green', 'blue'];

/** Nothing is right or wrong here: the judge alone says what a word is worth. */
const saying = (model: JudgeModel) =>
  defineEnvironment<{ n: number }, { said: boolean }>({
    name: 'saying',
    description: 'Say a word.',
    maxTurns: 1,
    tasks: () => Array.from({ length: 6 }, (_, n) => ({ n })),
    start: () => ({ state: { said: false }, messages: [{ role: 'user', content: 'say a word' }] }),
    step: (_state, action) => {
      const valid = words.includes(action);
      return { state: { said: true }, observation: '', reward: 0, done: true, success: valid, valid };
    },
    actions: () => words,
    solve: () => 'green',
    stumble: (_state, rng) => rng.pick(words),
    scoreGroup: relativeJudge({ model, criterion: 'the longest word' }),
  });

const settings = {
  steps: 2,
  threads: 1,
  model: { width: 16, layers: 1, heads: 2, hidden: 16 },
  clone: { demonstrations: 30, steps: 10, batch: 8, beginnerShare: 1 },
  rollout: { tasks: 3, group: 4 },
  evaluation: { every: 0, finalTasks: 3 },
} as unknown as RunSettings;

/** Ranks words by their length. */
const byLength: JudgeModel = (messages) => {
  const said = [...messages[1]!.content.matchAll(/<candidate number="\d+">\n(.*)\n<\/candidate>/g)].map(
    ([, text]) => text!.length,
  );
  const order = said.map((_, place) => place).sort((a, b) => said[b]! - said[a]!);
  return order.map((place) => place + 1).join(' > ');
};

async function run(name: string, model: JudgeModel) {
  const failure = await train({ world: saying(model), recipe: 'rloo', settings, name, runs }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const directory = RunDirectory.openForReading({ root: runs, name, version });
  const episodes: Episode[] = [];
  for await (const group of directory.readRollouts().groups(trainingShard(1)))
    episodes.push(...group.members);
  return { failure, events: directory.events.read(), episodes };
}

test('a judge’s ranks are the reward: stored with its calls, counted, and learned from', {
  timeout: 120_000,
}, async () => {
  const { failure, events, episodes } = await run('judged', byLength);
  expect(failure).toBeUndefined();
  expect(episodes).toHaveLength(12);
  const judged = episodes.flatMap(({ calls }) => calls.filter(({ role }) => role === 'judge'));
  // Two orders of each of three groups.
  expect(judged).toHaveLength(6);
  const steps = events.filter((event) => event.type === 'step');
  expect(steps.map(({ metrics }) => metrics['judge/calls'])).toEqual([6, 6]);
  for (const { scores, outcome, credit, calls } of episodes) {
    expect(scores).toEqual([{ by: 'judge', rewards: { agent: expect.any(Number) } }]);
    expect(outcome.agent).toBe(scores![0]!.rewards.agent);
    expect(calls.filter(({ role }) => role === 'agent')).toHaveLength(1);
    expect(credit?.agent).toBeDefined();
  }
  // Words of equal length share a rank nowhere: the judge breaks ties by place, which opposite orders cancel.
  const byWord = new Map<string, Set<number>>();
  for (const group of [0, 1, 2]) {
    for (const { key, transitions, outcome } of episodes) {
      if (key.group !== group) continue;
      const name = `${group}/${transitions[0]!.action}`;
      byWord.set(name, (byWord.get(name) ?? new Set()).add(outcome.agent!));
    }
  }
  for (const worths of byWord.values()) expect(worths.size).toBe(1);
});

test('a judge that answers nonsense teaches nothing: its episodes are failures, and the run says so', {
  timeout: 120_000,
}, async () => {
  const { failure, events, episodes } = await run('nonsense', () => 'all are fine');
  expect(episodes.map(({ stop }) => stop)).toEqual(Array(12).fill('failed:grader'));
  expect(episodes.every(({ scores, credit }) => scores === undefined && credit === undefined)).toBe(true);
  const told = JSON.stringify([...events, failure instanceof Error ? failure.message : '']);
  expect(told).toContain('The judge gave no ranking');
});
