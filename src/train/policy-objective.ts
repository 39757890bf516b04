/** The loss of a policy update, put together from what the configuration asks for. */

import { combine } from '../objective/combine.ts';
import type { Objective } from '../objective/objective.ts';
import { ppoClip } from '../objective/ppo-clip.ts';
import { valueLoss } from '../objective/value.ts';
import type { TrainConfig } from './config.ts';

/** The clipped policy loss; with a critic the value loss too, or that alone while the critic warms up. */
export function policyObjective(
  config: TrainConfig,
  options: { readonly critic: boolean; readonly valueOnly: boolean },
): Objective {
  const { valueCoefficient, valueClip, ...policy } = config.objective;
  const value = valueLoss({ valueCoefficient, valueClip });
  if (options.valueOnly) return value;
  const { clipLow, clipHigh, dualClip, entropyCoefficient, klCoefficient } = policy;
  const clip = ppoClip({ clipLow, clipHigh, dualClip, entropyCoefficient, klCoefficient });
  return options.critic ? combine([clip, value]) : clip;
}
