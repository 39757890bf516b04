/**
 * ScalingInter: short episodes first, longer ones later. AgentGym-RL, arXiv 2509.08755.
 *
 * stage = min(⌊step / every⌋, stages − 1), steps counted from 1, and the limit is that of the stage. It depends on the number of the
 * step alone.
 * 1. The defaults are those of BabyAI, scaled by no environment: name limits that fit yours.
 */

import { z } from 'zod';
import { type DefinedTurns, defineTurns } from './turn-control.ts';

export const scalingInter: DefinedTurns = defineTurns({
  name: 'scaling-inter',
  summary: 'the turn limit grows in stages with the steps',
  options: z.strictObject({
    limits: z
      .array(z.int().min(1))
      .min(1)
      .default([6, 13, 20])
      .describe('Turn limit of each stage, in turns'),
    every: z
      .int()
      .min(1)
      .default(100)
      .describe('Steps of a stage; the first has one fewer, as in the released code'),
  }),
  limit: (_task, { step, options: { limits, every } }) =>
    limits[Math.min(Math.floor(step / every), limits.length - 1)]!,
  longest: ({ limits }) => Math.max(...limits),
});
