/** The loss of a policy update, put together from what the configuration asks for. */

import { parseStrict } from '../core/parse-strict.ts';
import { combine } from '../objective/combine.ts';
import { entropyBonus } from '../objective/entropy-bonus.ts';
import { entropySmoothing } from '../objective/entropy-smoothing.ts';
import { klPenalty } from '../objective/kl-penalty.ts';
import type { Objective } from '../objective/objective.ts';
import { findObjective } from '../objective/objectives.ts';
import { atTargets, ofValueHead, valueLoss } from '../objective/value.ts';
import type { TrainConfig } from './config.ts';

type ObjectiveConfig = TrainConfig['objective'];

/**
 * The chosen policy loss with the terms beside it, and with a critic the value loss; that alone while the critic warms up.
 */
export function policyObjective(
  config: TrainConfig,
  options: { readonly critic: boolean; readonly valueOnly: boolean },
): Objective {
  const { objective } = config;
  const { valueCoefficient, valueClip, entropyCoefficient, klCoefficient, klEstimator } = objective;
  const value = atTargets(valueLoss({ valueCoefficient, valueClip }));
  if (options.valueOnly) return ofValueHead(value);
  const policy = findObjective(objective.name).create(lossOptions(objective));
  return combine([
    policy,
    ...(entropyCoefficient > 0
      ? [
          objective.entropySmoothing > 0
            ? entropySmoothing({ entropyCoefficient, smoothCoefficient: objective.entropySmoothing })
            : entropyBonus({ entropyCoefficient }),
        ]
      : []),
    ...(klCoefficient > 0 && klEstimator !== 'k1' ? [klPenalty({ klCoefficient, klEstimator })] : []),
    ...(options.critic ? [value] : []),
  ]);
}

/**
 * The options of the policy loss, all of them. Losses that clip the ratios of tokens take the clip of the configuration,
 * unless their own options say otherwise; those that clip the ratios of sequences or turns have bounds of another size.
 *
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function lossOptions(objective: ObjectiveConfig): ObjectiveConfig['options'] {
  const { schema, description } = findObjective(objective.name);
  const { options, clipLow, clipHigh, dualClip } = objective;
  const clip = { clipLow, clipHigh, dualClip };
  const where = description.policyLoss?.clipsTokens;
  const given =
    where === 'options'
      ? { ...clip, ...options }
      : where === 'policy'
        ? { ...options, policy: { ...clip, ...(options.policy ?? {}) } }
        : options;
  return parseStrict(schema, given, `Objective "${objective.name}"`, [
    'objective',
    'options',
  ]) as ObjectiveConfig['options'];
}
