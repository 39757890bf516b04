/**
 * `npm run bench -- asynchrony [speed|learning|slow-steps …]`: what is gained where acting and learning overlap, what it costs in
 * learning, and how long slow environments hold others up.
 */

import { benchLearning } from './learning.ts';
import { benchSlowSteps } from './slow-steps.ts';
import { benchSpeed } from './speed.ts';

export interface AsynchronyOptions {
  /** Of `speed`, steps of each arm, and threads of the engine. */
  readonly steps?: number;
  readonly threads?: number;
  /** Of `slow-steps`: how long they take. */
  readonly seconds?: number;
  /** Of `learning`. */
  readonly seeds?: number;
  /** Forget the runs of `learning` that are kept. */
  readonly again?: boolean;
}

/** All parts, or those named. */
export async function benchAsynchrony(names: readonly string[], options: AsynchronyOptions): Promise<object> {
  const parts: Readonly<Record<string, () => Promise<object>>> = {
    speed: () => benchSpeed(options),
    'slow-steps': () => benchSlowSteps(options),
    learning: () => benchLearning(options),
  };
  const chosen = names.length === 0 ? Object.keys(parts) : names;
  const unknown = chosen.find((name) => parts[name] === undefined);
  if (unknown !== undefined)
    throw new Error(`There is no part "${unknown}". There are ${Object.keys(parts).join(', ')}`);
  const results: Record<string, object> = {};
  for (const name of chosen) results[name] = await parts[name]!();
  return results;
}
