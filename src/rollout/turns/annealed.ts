/**
 * Annealed interaction: the turn limit falls to what episodes still need. WMAct, arXiv 2511.23476.
 *
 * After every window of steps the limit becomes ⌈(mean turns + most turns) / 2⌉ of the episodes of that window. The reward side
 * of the paper is the reward shaping `wmact`.
 * 1. The limit never rises: episodes that were asked for under an earlier, higher limit do not lift it.
 * 2. Where few episodes succeed, most of them end at the limit, and it falls slowly, as in the paper.
 */

import { z } from 'zod';
import { type DefinedTurns, defineTurns } from './turn-control.ts';
import { turnCounts } from './turn-counts.ts';

/** The limit, and the turns of the window so far. */
type Window = {
  readonly limit: number;
  readonly roles: number;
  readonly turns: number;
  readonly most: number;
};

export const annealed: DefinedTurns = defineTurns({
  name: 'annealed',
  summary: 'the turn limit falls to the middle between the mean and the most turns of late',
  options: z.strictObject({
    initial: z.int().min(1).default(30).describe('Turn limit of the first window, in turns'),
    every: z.int().min(1).default(100).describe('Steps of a window, after which the limit is set anew'),
  }),
  start: ({ initial }): Window => ({ limit: initial, roles: 0, turns: 0, most: 0 }),
  limit: (_task, { memory }) => memory.limit,
  longest: ({ initial }) => initial,
  remember(groups, { step, memory, options }) {
    const counts = turnCounts(groups).map(({ turns }) => turns);
    const roles = memory.roles + counts.length;
    const turns = counts.reduce((sum, own) => sum + own, memory.turns);
    const most = Math.max(memory.most, ...counts);
    if (step % options.every !== 0) return { limit: memory.limit, roles, turns, most };
    const next = roles === 0 ? memory.limit : Math.ceil((turns / roles + most) / 2);
    return { limit: Math.min(memory.limit, next), roles: 0, turns: 0, most: 0 };
  },
});
