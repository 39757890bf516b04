import { expect, test } from 'vitest';
import { buildSamples } from './sample.ts';
import type { Trajectory, Turn } from './trajectory.ts';

const turn = (contextIds: number[], ids: number[], more: Partial<Turn> = {}): Turn =>
  ({
    contextIds,
    ids,
    logprobs: ids.map((id) => -id / 10),
    extendsPrevious: true,
    sampled: true,
    ...more,
  }) as Turn;

const samplesOf = (turns: readonly Turn[]) => buildSamples({ id: 'x', turns } as unknown as Trajectory);

test('one sample while prompts grow; marks, log-probabilities and turns only on sampled tokens', () => {
  const [sample, ...rest] = samplesOf([
    turn([1, 2], [3], { extendsPrevious: false }),
    turn([4], [5, 6], { sampled: false }),
    turn([7], [8]),
  ]);
  expect(rest).toEqual([]);
  expect([...sample!.ids_T]).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect([...sample!.mask_T]).toEqual([0, 0, 1, 0, 0, 0, 0, 1]);
  expect([...sample!.turn_T]).toEqual([-1, -1, 0, -1, -1, -1, -1, 2]);
  expect([...sample!.logprobs_T].map((x) => Math.round(x * 10))).toEqual([0, 0, -3, 0, 0, 0, 0, -8]);
});

test('a prompt that does not extend the last one begins a new sample; one without marks is left out', () => {
  const samples = samplesOf([
    turn([1], [2], { extendsPrevious: false }),
    turn([1, 9], [3], { extendsPrevious: false, sampled: false }),
    turn([1, 9, 9], [4], { extendsPrevious: false }),
  ]);
  expect(samples.map(({ ids_T }) => [...ids_T])).toEqual([
    [1, 2],
    [1, 9, 9, 4],
  ]);
});
