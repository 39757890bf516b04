/** The policy update of one step: credit, samples, minibatches, gradients. */

import { Rng } from '../core/rng.ts';
import type { Group } from '../core/trajectory.ts';
import { findCreditMethod } from '../credit/methods.ts';
import type { TokenRow } from '../engine/engine.ts';
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
import { GradientSteps } from './gradient-steps.ts';
import type { Memory, Moment, Update } from './learn.ts';
import type { Learner } from './learner.ts';
import { policyObjective } from './policy-objective.ts';

/** Learn from the groups of one step by policy gradient. */
export async function updatePolicy(
  learner: Learner,
  groups: readonly Group[],
  moment: Moment,
  memory: Memory,
): Promise<Update> {
  const { config, recipe } = learner;
  const { minibatches: parts, epochs } = config.optimizer;

  // Advantages: what each turn or token was worth, compared within its group or against the critic.
  const candidates = candidatesOf(groups.flatMap(({ members }) => members));
  const scores = await scoreForCredit(learner, candidates);
  const inputs = candidates.map((candidate, index) =>
    creditInput(candidate, config.credit.rewardScale, scores[index]),
  );
  const { credits, state } = learner.credit(inputs, memory.creditState);
  const samples = candidates.flatMap((candidate, index) =>
    spreadCredit(candidate, credits[index]!, scores[index]?.values),
  );

  // A pure policy gradient computes nothing on samples whose advantages are all zero: leave them out of the passes.
  const { entropyCoefficient, klCoefficient } = config.objective;
  const everythingCounts = recipe.critic || entropyCoefficient > 0 || klCoefficient > 0;
  const learned = everythingCounts ? samples : samples.filter(({ live }) => live);
  const warmingUp = recipe.critic && moment.step < config.objective.valueWarmup;
  const objective = policyObjective(config, { critic: recipe.critic, valueOnly: warmingUp });
  const rng = Rng.of('minibatches', config.seed, moment.step);
  const steps = new GradientSteps(learner, moment);
  for (let epoch = 0; epoch < epochs && learned.length > 0; epoch++) {
    for (const part of minibatches(learned, parts, rng)) {
      const reference = klCoefficient > 0 ? await scoreReference(learner, part) : undefined;
      await steps.take({ rows: trainingRows(part, config.objective.aggregation, reference) }, objective);
    }
  }
  const metrics = steps.metrics('policy/loss');
  if (steps.updates > 0) {
    // Before the first update nothing has changed since sampling: the two log-probabilities must agree.
    metrics['policy/kl_sample_train'] = steps.first['policy/kl'] ?? 0;
    if (recipe.critic) metrics['value/explained_variance'] = explainedVariance(metrics);
  }
  metrics['optim/learning_rate'] = steps.learningRate;
  metrics['tokens/trained'] = steps.trainedTokens;
  metrics['samples/learned_share'] = samples.length === 0 ? 0 : learned.length / samples.length;
  return {
    metrics,
    credited: new Map(credits.map((credit, index) => [credit.id, { credit, input: inputs[index]! }])),
    memory: { ...memory, creditState: state },
    trainedTokens: steps.trainedTokens,
    updates: steps.updates,
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
