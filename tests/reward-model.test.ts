/** A reward model from pairs: trained, held to pairs that it has not seen, used as scoreGroup and by a setting, and left behind. */

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { runCommandLine } from '../src/cli/command-line.ts';
import { dataCommand } from '../src/cli/commands/data.ts';
import { rewardModelCommand } from '../src/cli/commands/reward-model.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import { readRows } from '../src/data/read-rows.ts';
import { rewardModel } from '../src/exports/index.ts';
import { resume, start, train } from '../src/exports/train.ts';
import { openRewardModel } from '../src/run/reward/open-reward-model.ts';
import type { RewardCard } from '../src/run/reward/reward-card.ts';
import { readEvents } from '../src/store/log-lines.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import type { TrainSettings } from '../src/train/config/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-reward-'));
const runs = join(folder, 'runs');
const pairs = join(folder, 'pairs.jsonl');
const judge = join(folder, 'judge');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { signal } = new AbortController();
const world = chain({ doors: 3, turns: 6, words: 3 });
const common: TrainSettings = {
  seed: 1,
  threads: 1,
  model: { width: 24, layers: 1, heads: 2, hidden: 32 },
  clone: { demonstrations: 100, steps: 20, batch: 16, randomRate: 0.6 },
  rollout: { tasks: 8, group: 8 },
  evaluation: { every: 0, finalTasks: 20 },
  checkpoint: { every: 1 },
};

async function turnwise(...line: string[]): Promise<{ code: number; output: string; errors: string }> {
  const console = memoryConsole();
  const code = await runCommandLine([...line, '--runs', runs], {
    commands: [dataCommand, rewardModelCommand],
    ...{ version: '0.1.0', console, interrupts: noInterrupts },
  });
  return {
    code,
    output: console.output(),
    errors: console.errors().replaceAll('\n', ' ').replaceAll(folder, 'FOLDER'),
  };
}

const learn = (...more: string[]) =>
  turnwise('reward-model', pairs, '--model', 'source', '--threads', '1', ...more);

let learned: Awaited<ReturnType<typeof learn>>;
beforeAll(async () => {
  await train({ world, recipe: 'rloo', name: 'source', runs, settings: { ...common, steps: 6 } });
  await turnwise('data', 'convert', 'source', '--pairs', '--out', pairs);
  learned = await learn('--out', judge, '--epochs', '20', '--learning-rate', '3e-3');
}, 180_000);

const cardOf = (place = judge): RewardCard =>
  JSON.parse(readFileSync(join(place, 'reward.json'), 'utf8')) as RewardCard;

test('its accuracy on held-out pairs is printed and stored, and far above chance', () => {
  expect(learned).toMatchObject({ code: 0, errors: '' });
  const { heldOut, trained, coverage, from } = cardOf();
  expect(learned.output).toContain(
    `accuracy on held-out pairs: ${heldOut.accuracy.toFixed(3)} [${heldOut.interval[0].toFixed(3)}`,
  );
  expect(heldOut.pairs + trained.pairs).toBe(readRows(pairs).length);
  expect(heldOut.interval[0]).toBeGreaterThan(0.6);
  expect(trained.loss).toBeLessThan(Math.log(2));
  expect(coverage.reward[0]).toBeLessThan(coverage.reward[1]);
  expect(from).toMatchObject({ file: pairs, model: 'source', epochs: 20, heldOut: 0.2, by: 'pairs' });
});

test('it scores what it has scored before alike after it was opened again', async () => {
  const model = await openRewardModel(judge, { signal });
  try {
    const rows = readRows(pairs).map(({ row }) => row);
    const scores = await model.score(rows);
    expect(scores).toHaveLength(2 * rows.length);
    const right = rows.filter((_, index) => scores[2 * index]!.reward > scores[2 * index + 1]!.reward).length;
    const { heldOut, trained } = cardOf();
    expect(right / rows.length).toBeCloseTo(
      (heldOut.accuracy * heldOut.pairs + trained.accuracy * trained.pairs) / rows.length,
      1,
    );
  } finally {
    await model.close();
  }
});

test('as scoreGroup of an environment its rewards are added to what episodes earned', {
  timeout: 60_000,
}, async () => {
  const scoreGroup = rewardModel(judge, { weight: 2 });
  try {
    const scored = { ...world, scoreGroup };
    const settings = { ...common, steps: 1, clone: { ...common.clone, steps: 4 } };
    await train({ world: scored, recipe: 'rloo', name: 'scored', runs, settings });
    const { groups } = readEpisodeFile(join(runs, 'scored', 'rollouts', '1.jsonl.gz'))!;
    const members = groups.flatMap((group) => group.members);
    const model = await openRewardModel(judge, { signal });
    const judged = await model.judge(members);
    await model.close();
    for (const [index, { scores, outcome, transitions }] of members.entries()) {
      const paid = transitions.reduce((sum, { rewards }) => sum + (rewards.agent ?? 0), 0);
      expect(scores![0]!.rewards.agent!).toBeCloseTo(2 * judged[index]!.agent!.reward, 4);
      expect(outcome.agent!).toBeCloseTo(paid + scores![0]!.rewards.agent!, 4);
    }
  } finally {
    await scoreGroup.close();
  }
});

test('by a setting it pays alone, raises success, and the run goes on with it', {
  timeout: 120_000,
}, async () => {
  const settings: TrainSettings = {
    ...common,
    steps: 14,
    clone: { ...common.clone, steps: 8 },
    evaluation: { every: 0, finalTasks: 100 },
    optimizer: { learningRate: 4e-3 },
    rewardModel: { folder: judge, environment: 0 },
  };
  const begun = await start({
    ...{ world, recipe: 'rloo', name: 'paid', runs, settings },
    sinks: [{ event: (event) => void (event.type === 'step' && event.step === 2 && begun.stop()) }],
  });
  await expect(begun.finished).rejects.toThrow('asked to stop');
  const summary = await (await resume('paid', { world, runs })).finished;
  expect(summary.after.sampled.success).toBeGreaterThan(summary.before.sampled.success + 0.2);
  const steps = readEvents(join(runs, 'paid', 'events.jsonl')).flatMap((event) =>
    event.type === 'step' ? [event.metrics] : [],
  );
  expect(steps).toHaveLength(14);
  for (const metrics of steps) {
    // An outcome is the reward of the model, and nothing else.
    expect(metrics['reward_model/reward']).toBeDefined();
    expect(metrics['reward_model/outside_share']).toBeGreaterThanOrEqual(0);
  }
  const { groups } = readEpisodeFile(join(runs, 'paid', 'rollouts', '9.jsonl.gz'))!;
  const outcomes = groups.flatMap(({ members }) => members.map(({ outcome }) => outcome.agent!));
  const [least, most] = cardOf().coverage.reward;
  const inside = outcomes.filter((outcome) => outcome >= least && outcome <= most).length / outcomes.length;
  expect(inside).toBeGreaterThan(1 - steps[8]!['reward_model/outside_share']! - 0.01);
});

test.each(['full', 'latest'])(
  'with context %s, the rise of its reward with each turn is paid to that turn',
  {
    timeout: 60_000,
  },
  async (context) => {
    const rewardModel = { folder: judge, weight: 0, turns: 2 };
    const settings = { ...common, steps: 1, clone: { ...common.clone, steps: 4 }, context, rewardModel };
    await train({ world, recipe: 'reinforce', name: `risen-${context}`, runs, settings });
    const { groups } = readEpisodeFile(join(runs, `risen-${context}`, 'rollouts', '1.jsonl.gz'))!;
    const model = await openRewardModel(judge, { signal });
    const members = groups.flatMap((group) => group.members);
    const judged = await model.judge(members);
    await model.close();
    for (const [index, { scores, transitions }] of members.entries()) {
      const { rises_K } = judged[index]!.agent!;
      const [score] = scores!;
      expect(rises_K).toHaveLength(transitions.length);
      expect(score!.turns!.agent).toHaveLength(transitions.length);
      for (const [k, rise] of rises_K.entries()) expect(score!.turns!.agent![k]).toBeCloseTo(2 * rise, 4);
      expect(score!.rewards.agent).toBeCloseTo(2 * rises_K.reduce((sum, rise) => sum + rise, 0), 4);
    }
  },
);

test('what a beginning is worth does not depend on what comes after it', async () => {
  const [first] = readRows(pairs).map(({ row }) => row);
  if (first === undefined || !('chosen' in first)) throw new Error('no pair');
  const reopened = await openRewardModel(judge, { signal });
  const whole = [...first.messages, ...first.chosen];
  const answers = whole.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []));
  const { chosen: _, rejected: __, ...row } = first;
  const beginnings = await reopened.score(
    answers.map((at) => ({ ...row, messages: whole.slice(0, at + 1) })),
  );
  await reopened.close();
  const { rises_K } = beginnings.at(-1)!;
  expect(rises_K).toHaveLength(answers.length);
  for (let k = 1; k < answers.length; k++)
    expect(beginnings[k]!.reward - beginnings[k - 1]!.reward).toBeCloseTo(rises_K[k]!, 4);
});

test('a run warns once where the policy leaves what the reward model knows', {
  timeout: 60_000,
}, async () => {
  const narrow = join(folder, 'narrow');
  expect(await learn('--out', narrow, '--epochs', '1')).toMatchObject({ code: 0 });
  const card = cardOf(narrow);
  writeFileSync(
    join(narrow, 'reward.json'),
    JSON.stringify({ ...card, coverage: { ...card.coverage, tokens: [1, 2] } }),
  );
  const settings = { ...common, steps: 3, rewardModel: { folder: narrow } };
  await train({ world, recipe: 'rloo', name: 'left', runs, settings });
  const warnings = readEvents(join(runs, 'left', 'events.jsonl')).flatMap((event) =>
    event.type === 'warning' && event.code === 'reward-model-left' ? [event.message] : [],
  );
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(
    /^step 1: 100% of the episodes have a reward or a length that the reward model never/,
  );
});

test('what cannot be learned from is refused, and nothing is written', async () => {
  const rows = join(folder, 'rows.jsonl');
  await turnwise('data', 'convert', 'source', '--out', rows);
  const none = join(folder, 'none');
  const without = await turnwise('reward-model', rows, '--model', 'source', '--out', none);
  expect([without.code, without.errors]).toEqual([
    2,
    expect.stringContaining('has no pairs to learn a reward from'),
  ]);
  expect(without.errors).toContain('--pairs --out pairs.jsonl');
  expect(existsSync(none)).toBe(false);
  expect((await learn('--out', judge)).errors).toContain('FOLDER/judge exists already');
  await expect(openRewardModel(folder, { signal })).rejects.toMatchObject({ code: 'reward-model-unknown' });
});
