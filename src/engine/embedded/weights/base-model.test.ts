import { expect, test } from 'vitest';
import { likelihood, tiny } from '../testing/tiny-engine.ts';
import { buildTrainingProgram } from '../training/training-graph.ts';
import { BaseModel } from './base-model.ts';

test('sessions that are given up are closed and made anew, unless another engine may use them', async () => {
  const { bytes } = buildTrainingProgram(tiny, likelihood, 1, {
    ...{ trees: false, gathered: false, restricted: false },
  });
  const base = new BaseModel(new Map(), 'none', 1);
  base.retain();
  const session = () => base.session('train', () => bytes);
  const first = await session();
  expect(await session()).toBe(first);
  await base.giveUp(['train', 'unknown']);
  const second = await session();
  expect(second).not.toBe(first);
  await expect(first.run({})).rejects.toThrow();
  base.retain();
  await base.giveUp(['train']);
  expect(await session()).toBe(second);
});
