/** Turn controls, sources of tasks and curations for long episodes in runs: what they do is in the record, and a stopped run goes on alike. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chain } from '../bench/methods/environments/chain.ts';
import type { Episode, Group } from '../src/core/episode.ts';
import type { Json } from '../src/core/json/json.ts';
import { defineEnvironment, type RunSettings, resume, start, train } from '../src/exports/index.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';

const runs = mkdtempSync(join(tmpdir(), 'turnwise-long-episodes-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

const STEPS = 4;

/** Two doors of two words, in up to four turns. */
const world = defineEnvironment(chain({ doors: 2, turns: 4, words: 2 }));

const tiny: RunSettings = {
  seed: 3,
  steps: STEPS,
  threads: 1,
  model: { width: 8, layers: 1, heads: 1, hidden: 8 },
  clone: { demonstrations: 24, steps: 12, batch: 8, randomRate: 1, learningRate: 2e-2 },
  rollout: { tasks: 4, group: 6 },
  evaluation: { every: 0, finalTasks: 1 },
  checkpoint: { every: 1 },
};

interface Ran {
  /** Groups of each step, as they are stored. */
  readonly steps: readonly (readonly Group[])[];
  readonly memory: Readonly<Record<'tasks' | 'turns' | 'curation', Json>>;
}

function stored(name: string): Ran {
  const steps = Array.from(
    { length: STEPS },
    (_, step) => readEpisodeFile(join(runs, name, 'rollouts', `${step + 1}.jsonl.gz`))!.groups,
  );
  const checkpoint = join(runs, name, 'checkpoints', String(STEPS), 'state.json');
  const { state } = JSON.parse(readFileSync(checkpoint, 'utf8')) as {
    readonly state: { readonly memory: Ran['memory'] };
  };
  return { steps, memory: state.memory };
}

async function ran(name: string, settings: RunSettings): Promise<Ran> {
  await train({ world, recipe: 'grpo', name, runs, settings: { ...tiny, ...settings } });
  return stored(name);
}

/** The same run, stopped after a step and resumed. */
async function interrupted(name: string, settings: RunSettings, after: number): Promise<Ran> {
  const run = await start({ world, recipe: 'grpo', name, runs, settings: { ...tiny, ...settings } });
  const ended = expect(run.finished).rejects.toThrow('asked to stop');
  for await (const event of run.events) if (event.type === 'step' && event.step === after) run.stop();
  await ended;
  await (await resume(name, { world, runs })).finished;
  return stored(name);
}

const membersOf = (groups: readonly Group[]): Episode[] => groups.flatMap(({ members }) => members);
const episodesOf = ({ steps }: Ran): Episode[] => steps.flatMap(membersOf);

/** What was done in each step, without times. */
const done = ({ steps, memory }: Ran) => ({
  memory,
  steps: steps.map((groups) =>
    membersOf(groups).map(({ key, stop, transitions, credit }) => ({
      key,
      stop,
      actions: transitions.map(({ action }) => action),
      advantages: credit?.agent?.advantages_K,
    })),
  ),
});

const longest = (groups: readonly Group[]): number =>
  Math.max(...membersOf(groups).map(({ transitions }) => transitions.length));

describe('runs', () => {
  test('annealed and early-stop: episodes become shorter, and the rest of a budget is not played', async () => {
    const limited = await ran('annealed', { turns: { name: 'annealed', initial: 3, every: 1 } });
    const { limit } = limited.memory.turns as { readonly limit: number };
    expect(limit).toBeLessThan(4);
    expect(limited.steps.map(longest).every((turns, step, all) => turns <= (all[step - 1] ?? 3))).toBe(true);

    // A task is solved in 2 turns at least, and has 3 from its first such success on.
    const settings = { turns: { name: 'early-stop', tolerance: 1 }, rollout: { tasks: 4, group: 6 } };
    const stopped = episodesOf(await ran('early-stop', settings)).filter(({ stop }) => stop === 'early-stop');
    expect(stopped.length).toBeGreaterThan(0);
    expect(
      stopped.every(
        ({ key, success, transitions }) => key.step > 1 && !success.agent && transitions.length < 4,
      ),
    ).toBe(true);
  });

  test('percentile: once successes were seen, their turns are the limit, and reminders are in the conversation', async () => {
    const { steps, memory } = await ran('percentile', {
      turns: { name: 'percentile', levels: [0], successes: 4 },
    });
    const seen = memory.turns as readonly number[];
    expect(seen.length).toBeGreaterThanOrEqual(4);
    expect(longest(steps.at(-1)!)).toBe(Math.min(...seen));
    const said = membersOf(steps.at(-1)!).flatMap(({ calls }) => calls.flatMap(({ messages }) => messages));
    expect(said.some(({ content }) => content.startsWith('Turns left: '))).toBe(true);
  });

  test('retry and two-attempts: attempts have the usual turns, and what was said lies between', async () => {
    const again = episodesOf(await ran('retry', { turns: { name: 'retry', attempts: 2 } }));
    const second = ({ transitions }: Episode) => transitions.filter(({ attempt }) => attempt === 1);
    expect(again.some((episode) => second(episode).length > 0)).toBe(true);
    for (const episode of again) {
      const { transitions, calls } = episode;
      expect(second(episode).length).toBeLessThanOrEqual(4);
      const first = transitions.filter(({ attempt = 0 }) => attempt === 0);
      const failed = first.every(({ rewards }) => rewards.agent === 0);
      expect([first.length <= 4, transitions.length > first.length]).toEqual([true, failed]);
      const next = transitions[first.length];
      if (next) expect(calls[next.call!]!.messages[0]!.content).toBe('That is wrong. Try again.');
    }
    const twice = episodesOf(
      await ran('two-attempts', { turns: { name: 'two-attempts' }, credit: { shape: { score: {} } } }),
    );
    expect(twice.every((episode) => second(episode).length > 0)).toBe(true);
  });

  // Tasks come again in every step, so that successes and failures of theirs are remembered.
  const few = defineEnvironment({
    ...chain({ doors: 2, turns: 4, words: 2 }),
    tasks: () => ({ size: 2, at: () => ({}) }),
  });

  test('success-replay: an earlier success of its task is learned from in a group that failed', async () => {
    const settings = {
      ...{ rollout: { tasks: 2, group: 3, maxTurns: 2 }, steps: 12 },
      curation: { 'success-replay': {} },
    };
    await train({ world: few, recipe: 'grpo', name: 'replay', runs, settings: { ...tiny, ...settings } });
    const steps = Array.from(
      { length: 12 },
      (_, step) => readEpisodeFile(join(runs, 'replay', 'rollouts', `${step + 1}.jsonl.gz`))!.groups,
    );
    let joined = 0;
    for (const [index, groups] of steps.entries()) {
      for (const { members } of groups) {
        const earlier = members.filter(({ key }) => key.step <= index);
        joined += earlier.length;
        if (earlier.length === 0) continue;
        expect(earlier.map(({ success, credit }) => [success.agent, credit!.agent!.trainedIn])).toEqual([
          [true, index + 1],
        ]);
        expect(members[0]!.credit).toBeUndefined();
        expect(earlier[0]!.key.task).toBe(members[0]!.key.task);
        // One success among failures.
        expect(earlier[0]!.credit!.agent!.advantages_K[0]).toBeGreaterThan(0);
      }
    }
    expect(joined).toBeGreaterThan(0);
  });

  test('dart, over-turns, resample-on-correct and weights of turns are in the record', async () => {
    const run = await ran('several', {
      rollout: { tasks: 4, group: 6, maxTurns: 3 },
      tasks: { name: 'dart', threshold: 0 },
      curation: {
        'resample-on-correct': { keep: 0.7 },
        'over-turns': { unanimous: true },
        'uncertain-turns': { share: 0.5 },
        perplexity: { above: 2 },
      },
    });
    expect(run.steps.flat().some(({ members }) => members.length < 6)).toBe(true);
    expect(run.steps.flat().every(({ members }) => members.length >= 2)).toBe(true);
    const credits = episodesOf(run).map(({ credit }) => credit?.agent);
    expect(credits.some((credit) => credit === undefined)).toBe(true);
    const known = credits.flatMap((credit) => credit ?? []);
    expect(new Set(known.flatMap(({ weights_K = [] }) => weights_K))).toEqual(new Set([0, 1]));
    for (const { stop, credit } of episodesOf(run))
      if (credit?.agent) expect(credit.agent.inLoss).toBe(stop !== 'turn-limit');
  });

  test.each([1, 3])('stopped after step %i, a run goes on as if it had not been', async (step) => {
    const settings: RunSettings = {
      rollout: { tasks: 4, group: 3, maxTurns: 3 },
      turns: { name: 'annealed', initial: 3, every: 2 },
      tasks: { name: 'failure-replay', every: 2, share: 0.5 },
      curation: { 'success-replay': {} },
    };
    const whole = await ran(`whole-${step}`, settings);
    expect(done(await interrupted(`stopped-${step}`, settings, step))).toEqual(done(whole));
  });
});
