/**
 * What an environment knows about a turn that credit can use: the `credit` object of the turn's info, with fields of the
 * rollout file. Fields of a trajectory (an expert's calls, a mode) may stand in any turn; the last one counts.
 */

import { z } from 'zod';
import type { Json } from '../core/json.ts';
import { parseStrict } from '../core/parse-strict.ts';
import { rolloutFields, turnFields } from './fields.ts';
import type { CreditTrajectory, CreditTurn } from './rollouts.ts';

const ofTurn = z
  .strictObject(turnFields)
  .pick({
    dense: true,
    answerProbability: true,
    informationGain: true,
    calls: true,
    progress: true,
    features: true,
    answer: true,
    correct: true,
    actionCount: true,
    effectiveActions: true,
    labelCorrect: true,
    wellFormed: true,
    counterfactual: true,
  })
  .partial();
const ofTrajectory = z
  .strictObject(rolloutFields)
  .pick({ game: true, entityShare: true, goldenCalls: true, neededCalls: true, mode: true })
  .partial();
const schema = ofTurn.extend(ofTrajectory.shape);

export interface Facts {
  readonly turn: Partial<CreditTurn>;
  readonly trajectory: Partial<CreditTrajectory>;
}

const nothing: Facts = { turn: {}, trajectory: {} };

/** The facts in `info.credit`; none without it. Refuses unknown fields and values that fields do not have. */
export function factsOf(info: Json | undefined, subject: string): Facts {
  if (typeof info !== 'object' || info === null || !('credit' in info)) return nothing;
  const facts = parseStrict(schema, info.credit, subject, ['info', 'credit']);
  const turn: Record<string, unknown> = {};
  const trajectory: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (value !== undefined) (name in ofTrajectory.shape ? trajectory : turn)[name] = value;
  }
  return { turn, trajectory };
}
