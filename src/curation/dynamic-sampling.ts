/**
 * Dynamic sampling, DAPO, arXiv 2503.14476: only groups whose outcomes differ are learned from, and more are played until there
 * are enough.
 * 1. DAPO counts right answers; here outcomes are compared, which are the same for rewards of right and wrong.
 * 2. Each further round is a full batch, of which the first groups that differ are taken.
 */

import { z } from 'zod';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { among, informative, roleOutcomes } from './informative.ts';

export const dynamicSampling: DefinedCuration = defineCuration({
  name: 'dynamic-sampling',
  summary: 'only groups whose outcomes differ, played for in further rounds',
  rounds: true,
  options: z.strictObject({
    rounds: z.int().min(0).default(3).describe('Further rounds while too few groups differ'),
  }),
  choose(groups, { options, round, batch, isIn }) {
    const outcomes = roleOutcomes(groups, isIn);
    const roles = new Set(
      groups.flatMap(({ members }) => members.flatMap(({ outcome }) => Object.keys(outcome))),
    );
    const full = batch * roles.size;
    const differing = informative(outcomes);
    return {
      choice: among(differing.slice(0, full)),
      wanted: round < options.rounds && differing.length < full ? batch : 0,
    };
  },
});
