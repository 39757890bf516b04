/** Formulas that several recipes share, as text. */

import { findCreditMethod } from '../../credit/methods.ts';
import { findObjective } from '../../objective/objectives.ts';

/** What `objective.*` sets: see `src/objective/policy-gradient/ppo-clip.ts`. */
export const clippedLoss =
  'loss = Σ weight · max(−A·ρ, −A·clip(ρ, 1 − clipLow, 1 + clipHigh)), at most −A·dualClip where A < 0; ρ = π / π_old';

/** How the credit method makes advantages, a line each. */
export function creditFormula(method: string): string[] {
  return lines(findCreditMethod(method).formula);
}

/** What the policy loss sums. */
export function lossFormula(objective: string): string {
  return `loss = ${findObjective(objective).description.formula.replace(/\s+/g, ' ')}`;
}

function lines(formula: string): string[] {
  return formula.split('\n').map((line) => line.trim().replace(/\s{2,}/g, '  '));
}
