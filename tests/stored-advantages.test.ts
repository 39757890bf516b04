/** Every recipe: a stored step gives again the advantages that its update learned from. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import { duet } from '../bench/methods/environments/duet.ts';
import { secretWord } from '../bench/methods/environments/words.ts';
import { runCommandLine } from '../src/cli/command-line.ts';
import { creditCommand } from '../src/cli/commands/credit.ts';
import { memoryConsole, noInterrupts } from '../src/cli/testing-console.test-helper.ts';
import type { StoredCredit } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { isTrained, roleGroups, type Trajectory } from '../src/core/trajectory.ts';
import type { CreditReport } from '../src/credit/report/report.ts';
import { defineEnvironment } from '../src/env/environment.ts';
import { fromEnvironment } from '../src/env/from-environment.ts';
import { tagProtocol } from '../src/env/tag-protocol.ts';
import { train } from '../src/exports/train.ts';
import { type EpisodeFile, readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import type { TrainSettings } from '../src/train/config/config.ts';
import { readBy } from '../src/train/config/run-schema.ts';
import type { CreditedSample } from '../src/train/kit/batch.ts';
import { findRecipe, recipes } from '../src/train/recipes/recipes.ts';

/** The samples of all optimizer steps, as the loss is given them. */
const learned = vi.hoisted(() => [] as CreditedSample[]);

vi.mock('../src/train/kit/lesson-rows.ts', async (importActual) => {
  const actual = await importActual<typeof import('../src/train/kit/lesson-rows.ts')>();
  return {
    ...actual,
    lessonRows: (...given: Parameters<typeof actual.lessonRows>) => {
      learned.push(...given[1]);
      return actual.lessonRows(...given);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'turnwise-stored-advantages-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STEPS = 2;

/** Some episodes fail, so that members and groups are left out. */
const brittle = (() => {
  const doors = chain({ doors: 2, turns: 4, words: 2 });
  const jamming = defineEnvironment({
    ...doors,
    correctThought: () => 'well',
    truth: () => secretWord(1, 2),
    step: (state, action, rng) => {
      if (rng.chance(0.04)) throw new Error('a door jams');
      return doors.step(state, action, rng);
    },
  });
  // An action is one word then, which a model of width 8 learns to write at once.
  return fromEnvironment(jamming, { protocol: tagProtocol });
})();

const settings: TrainSettings = {
  seed: 5,
  teacher: 'teacher',
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 12, batch: 8, randomRate: 1, learningRate: 2e-2 },
  rollout: { tasks: 3, group: 6, minimumMembers: 2 },
  credit: { rewardScale: 0.5 },
  replay: { size: 16, updates: 1, batch: 4 },
  critic: { updates: 1, warmupSteps: 1 },
  objective: { valueWarmup: 0 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 10 },
  rolloutLog: 1,
};

const stepPath = (name: string, step: number): string => join(folder, name, 'rollouts', `${step}.jsonl.gz`);

async function reported(path: string): Promise<CreditReport> {
  const console = memoryConsole();
  const code = await runCommandLine(['credit', '--rollouts', path, '--json'], {
    commands: [creditCommand],
    version: '0.1.0',
    console,
    interrupts: noInterrupts,
  });
  expect(console.errors()).toBe('');
  expect(code).toBe(0);
  return JSON.parse(console.output()) as CreditReport;
}

/** Where each call's tokens begin among all that were sampled: turn after turn. */
function placesOf({ turns }: Trajectory): Map<number, number> {
  const places = new Map<number, number>();
  let next = 0;
  for (const call of turns.flatMap(({ calls }) => calls.filter(isTrained))) {
    places.set(call.id, next);
    next += call.ids.length;
  }
  return places;
}

/** The advantages of a sample's tokens, from the stored credit alone. */
function expected(
  trajectory: Trajectory,
  { advantages_K, advantages_T }: StoredCredit,
  { turn_T, call_T }: CreditedSample['sample'],
): number[] {
  const places = placesOf(trajectory);
  return Array.from(turn_T, (turn, token) => {
    if (turn < 0) return 0;
    const place = places.get(call_T[token]!)!;
    places.set(call_T[token]!, place + 1);
    return Math.fround(advantages_T?.[place] ?? advantages_K[turn]!);
  });
}

const nameOf = (episode: string, role: string): string => `${episode}/${role}`;

/** The command's advantages are the stored ones, and these the ones that the update was given. */
async function checkStep({ groups, header }: EpisodeFile, path: string, step: number): Promise<number> {
  const report = await reported(path);
  expect(report.asTrained).toEqual({ rewardScale: header!.credit!.rewardScale });
  const trajectories = new Map(
    roleGroups(groups)
      .flatMap(({ members }) => members)
      .map((trajectory) => [nameOf(keyText(trajectory.episode.key), trajectory.role), trajectory]),
  );
  const withTurns = [...trajectories.values()].filter(({ turns }) => turns.length > 0);
  expect(report.trajectories.map(({ id }) => id)).toEqual(withTurns.map(({ id }) => id));
  for (const [index, { excluded, turns }] of report.trajectories.entries()) {
    const { episode, role } = withTurns[index]!;
    const credit = episode.credit?.[role];
    expect(excluded).toBe(credit?.inBaseline ? undefined : true);
    if (!credit) continue;
    expect(credit.trainedIn).toBe(step);
    // JSON has no negative zero.
    const plain = (numbers: readonly number[] | undefined) => numbers?.map((number) => number + 0);
    expect(turns.map(({ advantage }) => advantage)).toEqual(plain(credit.advantages_K));
    if (credit.advantages_T) {
      expect(turns.flatMap(({ tokens = [] }) => tokens)).toEqual(plain(credit.advantages_T));
    }
  }

  const ofStep = learned.filter(({ sample }) => sample.episode.step === step);
  const inLoss = new Set<string>();
  let differences = 0;
  for (const { sample, advantages_T } of ofStep) {
    const name = nameOf(keyText(sample.episode), sample.role);
    const trajectory = trajectories.get(name)!;
    inLoss.add(name);
    const credit = trajectory.episode.credit![trajectory.role]!;
    expect([...advantages_T]).toEqual(expected(trajectory, credit, sample));
    if (advantages_T.some((advantage) => advantage !== 0)) differences++;
  }
  const storedInLoss = [...trajectories].filter(
    ([, { episode, role }]) => episode.credit?.[role]?.inLoss === true,
  );
  expect(new Set(storedInLoss.map(([name]) => name))).toEqual(inLoss);
  return differences;
}

function environmentOf(name: string) {
  return recipes.find((recipe) => recipe.name === name)!.needs?.severalRoles ? duet() : brittle;
}

async function play(recipe: string, name: string, more: TrainSettings = {}): Promise<EpisodeFile[]> {
  if (findRecipe(recipe).needs?.teacher && !existsSync(join(folder, 'teacher'))) {
    const clone = { ...settings.clone, steps: 20 };
    const taught = readBy(findRecipe('rloo'), { ...settings, steps: 0, seed: 6, clone });
    await train({ world: brittle, recipe: 'rloo', name: 'teacher', runs: folder, settings: taught });
  }
  learned.length = 0;
  await train({
    world: environmentOf(recipe),
    recipe,
    name,
    runs: folder,
    settings: readBy(findRecipe(recipe), {
      ...settings,
      ...more,
      // Some episodes must succeed; MALT asks whether outcomes are above a half.
      ...(/^(arpo|malt)$/.test(recipe) && {
        credit: { rewardScale: 1 },
        rollout: { tasks: 8, group: 8 },
      }),
      objective: {
        ...settings.objective,
        // Advantages of thoughts are weighed after credit.
        ...(recipe === 'gtr' && { options: { thoughtWeight: 1 } }),
        ...more.objective,
      },
    }),
  });
  // What learns from recorded episodes plays none.
  const paths = Array.from({ length: STEPS }, (_, step) => stepPath(name, step + 1)).filter(existsSync);
  return paths.map((path) => readEpisodeFile(path)!);
}

test.each(recipes.map(({ name }) => name))('%s', async (recipe) => {
  const files = await play(recipe, recipe);
  const withCredit = files.filter(({ header }) => header!.credit).length;
  if (withCredit === 0) {
    expect(learned).toEqual([]);
    const episodes = files.flatMap(({ groups }) => groups.flatMap(({ members }) => members));
    expect(episodes.filter(({ credit }) => credit)).toEqual([]);
    return;
  }
  expect(withCredit).toBe(STEPS);
  let differences = 0;
  for (const [index, file] of files.entries()) {
    differences += await checkStep(file, stepPath(recipe, index + 1), index + 1);
  }
  expect(differences).toBeGreaterThan(0);
});

test.each(['rloo', 'ppo', 'arpo'])('%s, where the context asks for summaries', async (recipe) => {
  const name = `${recipe}-summaries`;
  const context = { name: 'summary', threshold: 10, instruction: 'sum up' };
  const files = await play(recipe, name, { context });
  let asked = 0;
  for (const [index, file] of files.entries()) {
    await checkStep(file, stepPath(name, index + 1), index + 1);
    const calls = file.groups.flatMap(({ members }) => members.flatMap((member) => member.calls));
    asked += calls.filter(({ purpose, trainable }) => purpose === 'summarize' && trainable === true).length;
  }
  expect(asked).toBeGreaterThan(10);
  // Each sampled token of an episode is in one sample, wherever it is read again.
  const seen = new Set<string>();
  for (const { sample } of learned) {
    if (recipe === 'arpo') break;
    for (const call of new Set(sample.call_T.filter((id) => id >= 0))) {
      const token = `${keyText(sample.episode)}/${call}`;
      expect(seen).not.toContain(token);
      seen.add(token);
    }
  }
});

test('a price of divergence in the rewards is stored with each turn', async () => {
  const files = await play('ppo', 'priced', { objective: { klCoefficient: 0.3, klEstimator: 'k1' } });
  for (const [index, file] of files.entries()) {
    await checkStep(file, stepPath('priced', index + 1), index + 1);
  }
  const bonuses = files[1]!.groups.flatMap(({ members }) =>
    members.flatMap(({ credit }) => credit?.agent?.bonus_K ?? []),
  );
  expect(bonuses.some((bonus) => bonus !== 0)).toBe(true);
});

test('a step that is learned in parts', async () => {
  const files = await play('grpo', 'parts', { batches: { parts: 3 } });
  for (const [index, file] of files.entries()) {
    const differences = await checkStep(file, stepPath('parts', index + 1), index + 1);
    expect(differences).toBeGreaterThan(0);
  }
});

test('groups that curation drops have no credit, and are in no baseline', async () => {
  const [file] = await play('rloo', 'curated', { curation: { varied: { share: 0.34 } } });
  await checkStep(file!, stepPath('curated', 1), 1);
  const credited = file!.groups.filter(({ members }) => members.some(({ credit }) => credit));
  expect(credited).toHaveLength(1);
});

test('moving baselines are stored as they were before the step', async () => {
  const [first, second] = await play('self-play', 'moving');
  expect(first!.header!.credit!.state).toEqual({});
  expect(second!.header!.credit!.state).not.toEqual({});
});

test('the command says that it computes as the run did; options are those of a method that is named', async () => {
  await play('grpo', 'told');
  const path = stepPath('told', 1);
  const say = async (...line: string[]): Promise<string> => {
    const console = memoryConsole();
    await runCommandLine(['credit', '--rollouts', ...line], {
      commands: [creditCommand],
      version: '0.1.0',
      console,
      interrupts: noInterrupts,
    });
    const [said] = (console.errors() || console.output()).split('\n\n');
    return said!.replaceAll(/\s+/g, ' ').replaceAll(folder, 'runs').trim();
  };
  expect(await say(path)).toMatchInlineSnapshot(
    `"Credit as the run computed it: grpo (std="sample", epsilon=0.000001), on rewards times 0.5"`,
  );
  expect(await say(path, '--method', 'grpo')).toContain('trajectory');
  expect(await say(path, '--set', 'epsilon=1')).toMatchInlineSnapshot(
    `"error: --set and --shape belong to a method that --method names. Seen: no --method. Add --method NAME, or leave them out to compute credit as the run did. (credit-method-unnamed)"`,
  );
  expect(await say(path.replace('1.jsonl', 'evaluation-0.jsonl'))).toMatchInlineSnapshot(
    `"error: runs/told/rollouts/evaluation-0.jsonl.gz does not say how its credit was computed. Seen: no --method. Allowed: a training step of a recipe that computes credit. Add --method NAME. (credit-method-unnamed)"`,
  );
  expect(await say('nowhere.json')).toContain('rollouts-not-found');
});
