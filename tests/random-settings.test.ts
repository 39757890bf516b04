/** Thirty configurations of a day, drawn at random: each runs two steps or says why not, and only sampled tokens are learned. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { drawn, walk } from '../bench/product/walk.ts';
import type { Call } from '../src/core/episode.ts';
import { keyText } from '../src/core/episode-key.ts';
import { chainOf } from '../src/core/trajectory.ts';
import { readEpisodeFile } from '../src/store/rollouts/read-episodes.ts';
import type { CreditedSample } from '../src/train/kit/batch.ts';

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
  for (const { sample } of learned) {
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

test(`${WALKS} walks of ${day}`, { timeout: 300_000 }, async () => {
  let ran = 0;
  let tokens = 0;
  for (let index = 0; index < WALKS; index++) {
    const configuration = drawn(day, index);
    learned.length = 0;
    const outcome = await walk(configuration, runs, `walk-${index}`).catch((cause: unknown) => {
      throw new Error(`walk ${index} of ${day}: ${JSON.stringify(configuration)}`, { cause });
    });
    if (!outcome.ran) {
      expect(outcome.why.length).toBeGreaterThan(20);
      continue;
    }
    ran++;
    tokens += checkMasks(storedCalls(outcome.folder));
  }
  expect(ran).toBeGreaterThan(WALKS / 4);
  expect(tokens).toBeGreaterThan(0);
});
