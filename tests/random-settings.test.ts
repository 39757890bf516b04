/** Thirty configurations of a day, drawn at random: each runs two steps or says why not, and only sampled tokens are learned. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { CONTEXT_OPTIONS, CURATION_OPTIONS, TURNS_OPTIONS } from '../bench/product/drawn-options.ts';
import { drawn, walk } from '../bench/product/walk.ts';
import type { Call } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { chainOf } from '../src/core/trajectory.ts';
import { curationRegistry } from '../src/curation/registry.ts';
import { contextRegistry } from '../src/rollout/context/contexts.ts';
import { turnsRegistry } from '../src/rollout/turns/turn-controls.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import type { CreditedSample } from '../src/train/kit/batch.ts';

const seen = vi.hoisted(() => ({
  /** The samples of all optimizer steps, as the loss is given them. */
  learned: [] as CreditedSample[],
  /** By the ids of each sample, whether each of its tokens may be learned, as its calls say. */
  learnable: new WeakMap<Int32Array, readonly boolean[]>(),
  /** Tokens with a weight in a batch, and what is wrong with some of them. */
  weighed: 0,
  wrong: [] as string[],
}));

vi.mock('../src/train/kit/lesson-rows.ts', async (importActual) => {
  const actual = await importActual<typeof import('../src/train/kit/lesson-rows.ts')>();
  return {
    ...actual,
    lessonRows: (...given: Parameters<typeof actual.lessonRows>) => {
      seen.learned.push(...given[1]);
      return actual.lessonRows(...given);
    },
  };
});

vi.mock('../src/core/sample.ts', async (importActual) => {
  const actual = await importActual<typeof import('../src/core/sample.ts')>();
  return {
    ...actual,
    samplesOfTrajectory: (...given: Parameters<typeof actual.samplesOfTrajectory>) => {
      const samples = actual.samplesOfTrajectory(...given);
      const [{ calls }, isLearned = ({ trainable }: Call) => trainable === true] = given;
      const byId = new Map(calls.map((call) => [call.id, call]));
      for (const { ids_T, call_T, mask_T } of samples) {
        const places = new Map<number, number>();
        seen.learnable.set(
          ids_T,
          Array.from(ids_T, (token, at) => {
            const call = byId.get(call_T[at]!);
            if (mask_T[at] !== 1 || call === undefined) return false;
            const place = places.get(call.id) ?? 0;
            places.set(call.id, place + 1);
            return isLearned(call) && call.ids[place] === token;
          }),
        );
      }
      return samples;
    },
  };
});

vi.mock('../src/engine/token-batch.ts', async (importActual) => {
  const actual = await importActual<typeof import('../src/engine/token-batch.ts')>();
  return {
    ...actual,
    batchOf: (rows: Parameters<typeof actual.batchOf>[0]) => {
      const batch = actual.batchOf(rows);
      const { row_N, position_N, channels } = batch.targets;
      for (const [target, row] of row_N.entries()) {
        // What was put together for this pass alone, such as an imagined act, is no sample.
        const learnable = seen.learnable.get(rows[row]!.ids_T);
        const weights = [channels.weight?.[target], channels.valueWeight?.[target]];
        if (learnable === undefined || !weights.some((weight) => weight !== undefined && weight !== 0))
          continue;
        seen.weighed++;
        const position = position_N[target]!;
        if (!learnable[position])
          seen.wrong.push(`row ${row}, token ${position}: weights ${weights.join(', ')}`);
      }
      return batch;
    },
  };
});

const runs = mkdtempSync(join(tmpdir(), 'turnwise-random-settings-'));
afterAll(() => rmSync(runs, { recursive: true, force: true }));

/** `WALK_SEED=2026-11-24 npx vitest run tests/random-settings.test.ts` repeats a day. */
const day = process.env.WALK_SEED ?? new Date().toISOString().slice(0, 10);
const WALKS = 30;

/** Calls of the steps of a run, by episode: those of a branch with its prefix. */
function storedCalls(folder: string): Map<string, readonly Call[]> {
  // What learns from recorded episodes plays none.
  const files = [1, 2].map((step) => join(folder, 'rollouts', `${step}.jsonl.gz`)).filter(existsSync);
  const groups = files.flatMap((path) => readEpisodeFile(path)?.groups ?? []);
  return new Map(
    groups.flatMap((group) =>
      group.members.map((episode) => [keyText(episode.key), chainOf(group, episode).calls] as const),
    ),
  );
}

/** What the loss marked is what a policy sampled, token for token. */
function checkMasks(calls: ReadonlyMap<string, readonly Call[]>): number {
  let tokens = 0;
  for (const { sample } of seen.learned) {
    const own = calls.get(keyText(sample.episode));
    if (own === undefined) continue;
    const places = new Map<number, number>();
    for (const [at, bit] of sample.mask_T.entries()) {
      if (bit === 0) continue;
      const id = sample.call_T[at]!;
      const call = own.find((one) => one.id === id)!;
      const place = places.get(id) ?? 0;
      places.set(id, place + 1);
      expect(call.trainable).toBe(true);
      expect(sample.ids_T[at]).toBe(call.ids[place]);
      tokens++;
    }
  }
  return tokens;
}

test('the options that walks draw are those of what they belong to', () => {
  const registries = [
    [contextRegistry, CONTEXT_OPTIONS],
    [turnsRegistry, TURNS_OPTIONS],
    [curationRegistry, CURATION_OPTIONS],
  ] as const;
  for (const [registry, options] of registries)
    for (const [name, list] of Object.entries(options))
      for (const one of list) expect(() => registry.find(name).create(one), name).not.toThrow();
});

test(`${WALKS} walks of ${day}`, { timeout: 300_000 }, async () => {
  let ran = 0;
  let tokens = 0;
  for (let index = 0; index < WALKS; index++) {
    const configuration = drawn(day, index);
    seen.learned.length = 0;
    const outcome = await walk(configuration, runs, `walk-${index}`).catch((cause: unknown) => {
      throw new Error(`walk ${index} of ${day}: ${JSON.stringify(configuration)}`, { cause });
    });
    expect(seen.wrong, `walk ${index} of ${day}: ${JSON.stringify(configuration)}`).toEqual([]);
    if (!outcome.ran) {
      expect(outcome.why.length).toBeGreaterThan(20);
      continue;
    }
    ran++;
    tokens += checkMasks(storedCalls(outcome.folder));
  }
  expect(ran).toBeGreaterThan(WALKS / 10);
  expect(tokens).toBeGreaterThan(0);
  expect(seen.weighed).toBeGreaterThan(0);
});
