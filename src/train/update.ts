/** The policy update of one step: credit, samples, minibatches, gradients. */

import { Rng } from '../core/rng.ts';
import { scheduleFactor } from '../core/schedule.ts';
import type { Group } from '../core/trajectory.ts';
import { findCreditMethod } from '../credit/methods.ts';
import type { CreditState } from '../credit/rollouts.ts';
import type { TokenRow } from '../engine/engine.ts';
import { forwardBackwardStep } from '../engine/objective-step.ts';
import { explainedVariance } from '../objective/value.ts';
import {
  type CreditedSample,
  candidatesOf,
  creditInput,
  minibatches,
  type SampleScores,
  spreadCredit,
  trainingRows,
} from './batch.ts';
import type { Metrics } from './events.ts';
import type { Learner } from './learner.ts';
import { policyObjective } from './policy-objective.ts';
import type { Credited } from './rollout-record.ts';

export interface Update {
  readonly metrics: Metrics;
  readonly credited: ReadonlyMap<string, Credited>;
  readonly creditState: CreditState;
  readonly trainedTokens: number;
  /** Optimizer steps taken; 0 when there was nothing to learn from. */
  readonly updates: number;
}

/** Learn from the groups of one step, one of `planned` over which the learning rate decays. */
export async function updatePolicy(
  learner: Learner,
  groups: readonly Group[],
  { step, planned }: { readonly step: number; readonly planned: number },
  creditState: CreditState,
): Promise<Update> {
  const { config, engine, recipe } = learner;
  const { temperature } = config.rollout;
  const { minibatches: parts, epochs, schedule, warmupSteps, finalFraction } = config.optimizer;

  // Advantages: what each turn or token was worth, compared within its group or against the critic.
  const candidates = candidatesOf(groups.flatMap(({ members }) => members));
  const scores = await scoreForCredit(learner, candidates);
  const inputs = candidates.map((candidate, index) =>
    creditInput(candidate, config.credit.rewardScale, scores[index]),
  );
  const { credits, state } = learner.credit(inputs, creditState);
  const samples = candidates.flatMap((candidate, index) =>
    spreadCredit(candidate, credits[index]!, scores[index]?.values),
  );

  // A pure policy gradient computes nothing on samples whose advantages are all zero: leave them out of the passes.
  const { entropyCoefficient, klCoefficient } = config.objective;
  const everythingCounts = recipe.critic || entropyCoefficient > 0 || klCoefficient > 0;
  const learned = everythingCounts ? samples : samples.filter(({ live }) => live);
  const warmingUp = recipe.critic && step < config.objective.valueWarmup;
  const objective = policyObjective(config, { critic: recipe.critic, valueOnly: warmingUp });
  const factor = scheduleFactor({ kind: schedule, warmupSteps, finalFraction }, step, planned);
  const learningRate = config.optimizer.learningRate * factor;
  const rng = Rng.of('minibatches', config.seed, step);

  const sums: Record<string, number> = {};
  let trainedTokens = 0;
  let paddedTokens = 0;
  let updates = 0;
  let gradientNorms = 0;
  let refused = 0;
  let firstPart: Metrics = {};
  for (let epoch = 0; epoch < epochs && learned.length > 0; epoch++) {
    for (const part of minibatches(learned, parts, rng)) {
      const reference = klCoefficient > 0 ? await scoreReference(learner, part) : undefined;
      const rows = trainingRows(part, config.objective.aggregation, reference);
      const result = await forwardBackwardStep(engine, { rows }, objective, {
        temperature,
        step,
        rng: Rng.of('objective', config.seed, step, updates),
      });
      const { gradientNorm, applied } = await engine.optimStep({
        ...config.optimizer,
        learningRate,
        epsilon: 1e-8,
      });
      if (updates === 0) firstPart = result.metrics;
      for (const [name, value] of Object.entries({ ...result.metrics, 'policy/loss': result.loss })) {
        sums[name] = (sums[name] ?? 0) + value;
      }
      trainedTokens += result.tokens;
      paddedTokens += result.paddedTokens;
      gradientNorms += applied ? gradientNorm : 0;
      refused += applied ? 0 : 1;
      updates++;
    }
  }
  const metrics: Record<string, number> = Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [name, sum / updates]),
  );
  if (updates > 0) {
    // Before the first update nothing has changed since sampling: the two log-probabilities must agree.
    metrics['policy/kl_sample_train'] = firstPart['policy/kl'] ?? 0;
    if (recipe.critic) metrics['value/explained_variance'] = explainedVariance(metrics);
    metrics['optim/gradient_norm'] = gradientNorms / Math.max(1, updates - refused);
    metrics['optim/refused_updates'] = refused;
    metrics['tokens/padding_share'] = 1 - trainedTokens / Math.max(1, paddedTokens);
  }
  metrics['optim/learning_rate'] = learningRate;
  metrics['tokens/trained'] = trainedTokens;
  metrics['samples/learned_share'] = samples.length === 0 ? 0 : learned.length / samples.length;
  return {
    metrics,
    credited: new Map(credits.map((credit, index) => [credit.id, { credit, input: inputs[index]! }])),
    creditState: state,
    trainedTokens,
    updates,
  };
}

/** What the credit method needs of the engine, per candidate: the critic's values before each token, entropies. */
async function scoreForCredit(
  learner: Learner,
  candidates: ReturnType<typeof candidatesOf>,
): Promise<SampleScores[]> {
  const values = learner.recipe.critic;
  const entropies = findCreditMethod(learner.config.credit.method).needs.includes('turns[].entropies');
  if (!values && !entropies) return [];
  const rows = candidates.flatMap(({ samples }) => samples.map(({ ids_T }) => bareRow(ids_T)));
  const { temperature } = learner.config.rollout;
  const scored = await learner.engine.score({ rows }, { temperature, values, entropies });
  let next = 0;
  return candidates.map(({ samples }) => {
    const first = next;
    next += samples.length;
    return {
      ...(values && { values: scored.values!.slice(first, next) }),
      ...(entropies && { entropies: scored.entropies!.slice(first, next) }),
    };
  });
}

async function scoreReference(
  learner: Learner,
  part: readonly CreditedSample[],
): Promise<readonly Float32Array[]> {
  const rows = part.map(({ sample }) => bareRow(sample.ids_T));
  const { temperature } = learner.config.rollout;
  return (await learner.engine.score({ rows }, { temperature, frozen: true })).logprobs;
}

const bareRow = (ids_T: Int32Array): TokenRow => ({ ids_T, channels: {} });
