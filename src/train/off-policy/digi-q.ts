/**
 * Digi-Q: a critic learns from recorded actions; then it stands still, and the policy imitates the action that the critic
 * likes best among the recorded one and several of its own.
 *
 * Source: arXiv 2502.15760; the loss is in objective/best-of-n.ts.
 * 1. The paper tunes a representation, freezes it and learns values on top. Here a small decoder learns both at once in the
 *    first `critic.warmupSteps` steps, and is frozen for good afterwards.
 * 2. An action that the environment refused is not recognised among the policy's own, only among recorded ones.
 */

import { z } from 'zod';
import { archerCritic } from '../../objective/critic/archer.ts';
import { bestOfN, bestOfNExtraction } from '../../objective/critic/best-of-n.ts';
import type { Learn } from '../kit/learn.ts';
import { actorCritic, drawUtterances, type Heads, mean, read, utteranceRow } from './actor-critic.ts';
import { type Imagined, imagine } from './utterances.ts';

export const digiQOptions = z.strictObject({
  threshold: z.number().min(0).default(0.05).describe('Least advantage of an action that is imitated'),
  pool: z.enum(['max', 'min']).default('max').describe('Which of both critics counts'),
});

export const learnDigiQ: Learn = actorCritic({
  stateTarget: 'recorded',
  criticRests: true,
  criticObjective: () => archerCritic(),
  actorObjective: () => bestOfNExtraction(),
  actorStep: async (trainer, kept, config, rng) => {
    const options = digiQOptions.parse(config.objective.options);
    const own = config.critic.candidates - 1;
    const utterances = drawUtterances(kept, config, rng);
    const { ids, turns } = utterances;
    const imagined = await imagine(trainer, utterances, turns, rng, own);
    const recorded = turns.map(({ row, ...turn }) => ({ ids_T: ids[row]!, ...turn }));
    const [ofRecorded, ofImagined] = await Promise.all(
      [ids, imagined.map(({ ids_T }) => ids_T)].map((all) => read(trainer.critic!, all, false)),
    );
    const chosen = turns.map((turn, index) => {
      const others = Array.from({ length: own }, (_, copy) => index * own + copy);
      const candidates = [
        { ...candidate(ofRecorded!, turn.row, turn), valid: turn.valid },
        ...others.map((row) => ({ ...candidate(ofImagined!, row, imagined[row]!), valid: true })),
      ];
      const { choice, advantage, weight } = bestOfN(candidates, options);
      return { action: choice === 0 ? recorded[index]! : imagined[others[choice - 1]!]!, advantage, weight };
    });
    return {
      rows: chosen.map(({ action, weight }) => utteranceRow(action, weight)),
      metrics: { 'critic/advantage': mean(chosen.map(({ advantage }) => advantage)) },
    };
  },
});

/** What both critics say of an action and of the state before it. */
function candidate(heads: Heads, row: number, { start, end }: Pick<Imagined, 'start' | 'end'>) {
  const pair = (one: string, two: string, token: number): [number, number] => [
    heads[one]![row]![token]!,
    heads[two]![row]![token]!,
  ];
  return { actionValues: pair('q1', 'q2', end), stateValues: pair('v1', 'v2', start) };
}
