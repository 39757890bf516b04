/**
 * What an environment knows about a turn that credit can use: the `credit` object of the turn's info, with fields of the
 * rollout file. Fields of a trajectory (an expert's calls, a mode) may stand in any turn; the last one counts.
 */

import type { Json } from '../../core/json/json.ts';
import { parseFacts, trajectoryFacts } from '../../env/facts.ts';
import type { CreditTrajectory, CreditTurn } from '../report/rollouts.ts';

export interface Facts {
  readonly turn: Partial<CreditTurn>;
  readonly trajectory: Partial<CreditTrajectory>;
}

const nothing: Facts = { turn: {}, trajectory: {} };

/** The facts in `info.credit`; none without it. Refuses unknown fields and values that fields do not have. */
export function factsOf(info: Json | undefined, subject: string): Facts {
  if (typeof info !== 'object' || info === null || !('credit' in info)) return nothing;
  const turn: Record<string, unknown> = {};
  const trajectory: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parseFacts(info.credit ?? null, subject))) {
    (name in trajectoryFacts ? trajectory : turn)[name] = value;
  }
  return { turn, trajectory };
}
