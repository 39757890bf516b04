/** The loss of a policy update, put together from what the configuration asks for. */

import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import { combine } from '../../objective/contract/combine.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { criticLoss } from '../../objective/critic/critic-loss.ts';
import { atTargets, ofValueHead } from '../../objective/critic/value.ts';
import { type ObjectiveEntry, objectives } from '../../objective/objectives.ts';
import { ppoClip } from '../../objective/policy-gradient/ppo-clip.ts';
import type { Clip } from '../../objective/policy-gradient/surrogate.ts';
import { entropyBonus } from '../../objective/regularizer/entropy-bonus.ts';
import { entropySmoothing } from '../../objective/regularizer/entropy-smoothing.ts';
import { klPenalty } from '../../objective/regularizer/kl-penalty.ts';
import { builtIns, type Catalogue } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Recipe } from '../recipes/recipe.ts';

type ObjectiveConfig = TrainConfig['objective'];

/**
 * The policy loss of that name.
 *
 * @throws TurnwiseError `unknown-objective`, `config-invalid`
 */
export function findPolicyLoss(name: string, { objectives: losses }: Catalogue = builtIns): ObjectiveEntry {
  if (losses.get(name) || !objectives.some((other) => other.name === name)) return losses.find(name);
  throw new TurnwiseError('config-invalid', {
    what: 'This objective cannot be the policy loss of a run: training does not provide its inputs',
    seen: `objective.name=${name}`,
    allowed: losses.all.map((loss) => loss.name).join(', '),
    fields: { key: 'objective.name' },
  });
}

/** What the run says for every loss that clips token ratios: the clip, and the terms beside the loss. */
const SAID_BY_THE_RUN = Object.keys(ppoClip.schema.shape);

/** The options of a policy loss that are its own: each setting of a run has one place. */
export function ownOptions(name: string, catalogue: Catalogue = builtIns): z.ZodType {
  const { schema, description } = findPolicyLoss(name, catalogue);
  const where = description.policyLoss?.clipsTokens;
  if (where === undefined || !(schema instanceof z.ZodObject)) return schema;
  const said = where === 'options' ? SAID_BY_THE_RUN : ['policy'];
  return z.strictObject(
    Object.fromEntries(Object.entries(schema.shape).filter(([key]) => !said.includes(key))),
  );
}

/** Channels that training makes for the policy loss, beside `weight`. */
export function lossChannels(
  { critic }: Pick<Recipe, 'critic'>,
  { objective: { name, klCoefficient, klEstimator } }: TrainConfig,
  catalogue: Catalogue = builtIns,
): readonly string[] {
  const { trainerLogprobs } = findPolicyLoss(name, catalogue).description.policyLoss ?? {};
  return [
    'advantages',
    'oldLogprobs',
    'turns',
    ...(trainerLogprobs ? ['rolloutLogprobs'] : []),
    ...(klCoefficient > 0 && klEstimator !== 'k1' ? ['referenceLogprobs'] : []),
    ...(critic ? ['returns', 'oldValues', 'valueWeight'] : []),
  ];
}

/** The clip of token ratios that the run has. */
export function clipOf({ clipLow, clipHigh, dualClip }: ObjectiveConfig): Clip {
  return { clipLow, clipHigh, dualClip };
}

/**
 * The chosen policy loss with the terms beside it, and with a critic the value loss; that alone while the critic warms up.
 */
export function policyObjective(
  config: TrainConfig,
  options: { readonly critic: boolean; readonly valueOnly: boolean },
  catalogue: Catalogue = builtIns,
): Objective {
  const { objective } = config;
  const { entropyCoefficient, klCoefficient, klEstimator } = objective;
  const value = atTargets(criticLoss(objective));
  if (options.valueOnly) return ofValueHead(value);
  const policy = findPolicyLoss(objective.name, catalogue).create(lossOptions(objective, catalogue));
  return combine([
    policy,
    ...(entropyCoefficient > 0
      ? [
          objective.entropySmoothing > 0
            ? entropySmoothing({
                entropyCoefficient,
                smoothCoefficient: objective.entropySmoothing,
                ...rangeOf(objective),
              })
            : entropyBonus({ entropyCoefficient }),
        ]
      : []),
    ...(klCoefficient > 0 && klEstimator !== 'k1' ? [klPenalty({ klCoefficient, klEstimator })] : []),
    ...(options.critic ? [value] : []),
  ]);
}

/** The range of entropies; how its weight changes is no part of the loss. */
function rangeOf({ smoothing: { size, low, high, penalty } }: ObjectiveConfig) {
  return { size, low, high, penalty };
}

/**
 * The options of the policy loss, all of them. Losses that clip the ratios of tokens take the clip of the configuration,
 * unless their own options say otherwise; those that clip the ratios of sequences or turns have bounds of another size.
 *
 * @throws TurnwiseError `config-unknown-key`, `config-invalid`
 */
export function lossOptions(
  objective: ObjectiveConfig,
  catalogue: Catalogue = builtIns,
): ObjectiveConfig['options'] {
  const { schema, description } = findPolicyLoss(objective.name, catalogue);
  const { options } = objective;
  const clip = clipOf(objective);
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
