/**
 * Resample on correct: of the episodes of a group a part is kept, failures at random and successes with the fewest errors, in
 * the proportion in which they came. GRPO-RoC of rStar2-Agent, arXiv 2508.20722, keeps 16 of 32: an outcome reward alone pays for a
 * success full of errors, too.
 *
 * The rest is not in the baseline either: advantages are normalised among those that are kept.
 * 1. An error of a tool is a turn whose action the environment could not use. An error of form is an act whose form could not be
 *    read, or that its limit cut; the paper counts answer tags.
 * 2. Successes are what the environment calls so, as an outcome below 0 can be one; the authors' code takes those that earned more
 *    than 0. The ones with the fewest errors are taken, as in that code; the paper draws them.
 * 3. At least two of each kind are kept where there are as many, one or none in groups too small for that.
 */

import { z } from 'zod';
import { mean } from '../core/statistics.ts';
import { actOf, roleGroups, type Trajectory } from '../core/trajectory.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';
import { among, type RoleOutcomes } from './informative.ts';

/** Of each kind, at least. */
const LEAST = 2;

export const resampleOnCorrect: DefinedCuration = defineCuration({
  name: 'resample-on-correct',
  summary: 'a part of each group, failures at random and successes with the fewest errors',
  options: z.strictObject({
    keep: z
      .number()
      .gt(0)
      .max(1)
      .default(0.5)
      .describe('Share of a group’s episodes that are kept, at least one'),
  }),
  choose(groups, { options: { keep }, isIn, rng }) {
    const kept = roleGroups(groups).map(({ role, members }): RoleOutcomes => {
      const own = members.filter(({ episode }) => isIn(episode, role));
      const count = Math.max(1, Math.round(keep * own.length));
      const good = own.filter(({ success }) => success).sort((a, b) => errorsIn(a) - errorsIn(b));
      const bad = rng.shuffle(own.filter(({ success }) => !success));
      const goods = goodsOf(count, good.length, bad.length);
      const chosen = [...good.slice(0, goods), ...bad.slice(0, count - goods)];
      return {
        role,
        members: chosen.map(({ episode }) => episode),
        outcomes: chosen.map(({ outcome }) => outcome),
      };
    });
    return { choice: among(kept) };
  },
});

/** How many of the kept are successes. */
function goodsOf(count: number, good: number, bad: number): number {
  const least = Math.min(LEAST, Math.floor(count / 2));
  const wanted = Math.round((count * good) / Math.max(1, good + bad));
  const most = Math.min(good, count - Math.min(least, bad));
  return Math.max(Math.min(least, good), count - bad, Math.min(most, wanted));
}

/** The share of turns with an error of a tool, and the share with an error of form: 0 to 2. */
export function errorsIn(trajectory: Pick<Trajectory, 'turns'>): number {
  const turns = trajectory.turns.filter(({ transition }) => transition);
  if (turns.length === 0) return 0.5 + 1;
  const acts = turns.flatMap((turn) => actOf(turn) ?? []);
  const share = (errors: readonly boolean[]): number => (errors.length === 0 ? 0 : mean(errors.map(Number)));
  return (
    share(turns.map(({ transition }) => transition?.valid === false)) +
    share(acts.map(({ problem, finish }) => problem !== undefined || finish === 'length'))
  );
}
