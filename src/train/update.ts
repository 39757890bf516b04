/** The policy update of one step: credit, samples, minibatches, gradients. */

import { Rng } from '../core/rng.ts';
import type { RoleGroup } from '../core/trajectory.ts';
import type { CreditState, TrajectoryCredit } from '../credit/rollouts.ts';
import { creditTrajectory, type TurnScores } from '../credit/view.ts';
import { hasVoidTurn } from '../curation/void-turns.ts';
import { explainedVariance } from '../objective/value.ts';
import {
  type Candidate,
  type CreditedSample,
  candidatesOf,
  minibatches,
  type SampleScores,
  spreadCredit,
  turnScores,
} from './batch.ts';
import { rememberEntropies, withSmoothing } from './entropy-channels.ts';
import { GradientSteps } from './gradient-steps.ts';
import type { Memory, Moment, Update } from './learn.ts';
import type { Learner } from './learner.ts';
import { isPassed, lessonRows } from './lesson-rows.ts';
import { policyObjective } from './policy-objective.ts';
import { bareRow, correctsMismatch, klInRewards, scoreEpisodes } from './scores.ts';
import type { Credited } from './stored-credit.ts';

export interface CreditedGroups {
  readonly candidates: readonly Candidate[];
  readonly scores: readonly SampleScores[];
  /** The same, turn by turn. */
  readonly turnScores_I: readonly (readonly TurnScores[])[];
  readonly credits: readonly TrajectoryCredit[];
  /** Of the credit method, after these groups. */
  readonly state: CreditState;
  /** The samples of each trajectory with their advantages. */
  readonly samples_I: readonly (readonly CreditedSample[])[];
}

/** Advantages: what each turn or token was worth, compared within its group or against the critic. */
export async function creditGroups(
  learner: Learner,
  groups: readonly RoleGroup[],
  { creditState }: Memory,
): Promise<CreditedGroups> {
  const { config } = learner;
  const candidates = candidatesOf(groups.flatMap(({ members }) => members));
  const scores = await scoreEpisodes(learner, candidates);
  const turnScores_I = candidates.map((candidate, index) => turnScores(candidate, scores[index]));
  const inputs = candidates.map(({ trajectory }, index) =>
    creditTrajectory(trajectory, config.credit.rewardScale, turnScores_I[index]),
  );
  const { credits, state } = learner.credit(inputs, creditState);
  const samples_I = candidates.map((candidate, index) =>
    spreadCredit(candidate, credits[index]!, scores[index]?.values).map((item, sample) =>
      correctsMismatch(config, learner.catalogue)
        ? fromTrainer(item, scores[index]!.logprobs![sample]!)
        : item,
    ),
  );
  return { candidates, scores, turnScores_I, credits, state, samples_I };
}

/** What of it is stored, by trajectory; `isLearned` is asked about those of which the policy sampled something. */
export function creditedEpisodes(
  { candidates, credits, turnScores_I }: CreditedGroups,
  isLearned: (candidate: Candidate) => boolean = () => true,
): Map<string, Credited> {
  return new Map(
    candidates.map((candidate, index): [string, Credited] => {
      const inLoss = candidate.samples.length > 0 && isLearned(candidate);
      return [candidate.trajectory.id, { credit: credits[index]!, scores_K: turnScores_I[index]!, inLoss }];
    }),
  );
}

/** Learn from the groups of one step by policy gradient. */
export async function updatePolicy(
  learner: Learner,
  groups: readonly RoleGroup[],
  moment: Moment,
  memory: Memory,
): Promise<Update> {
  const { config, recipe } = learner;
  const { minibatches: parts, epochs } = config.optimizer;

  const creditedGroups = await creditGroups(learner, groups, memory);
  const { candidates, scores, state, samples_I } = creditedGroups;
  const isLearned = ({ trajectory }: Candidate): boolean =>
    config.curation.voidTurns === 'learn' || !hasVoidTurn(trajectory);
  const smoothed = config.objective.entropySmoothing > 0;
  const samples = samples_I.flat();
  const lessons = samples_I.filter((_, index) => isLearned(candidates[index]!)).flat();

  const klInLoss = config.objective.klCoefficient > 0 && !klInRewards(config);
  const learned = smoothed ? withSmoothing(lessons, memory.creditState, moment) : lessons;
  const warmingUp = recipe.critic && moment.step < config.objective.valueWarmup;
  const terms = { critic: recipe.critic, valueOnly: warmingUp };
  const objective = policyObjective(config, terms, learner.catalogue);
  const rng = Rng.of('minibatches', config.seed, moment.step);
  const steps = new GradientSteps(learner, moment);
  for (let epoch = 0; epoch < epochs && learned.length > 0; epoch++) {
    for (const part of minibatches(learned, parts, rng)) {
      const reference = klInLoss ? await scoreReference(learner, part) : undefined;
      const rows = lessonRows(learner, part, objective, reference);
      if (rows.length > 0) await steps.take({ rows }, objective);
    }
  }
  const metrics = steps.metrics('policy/loss');
  if (recipe.critic && steps.updates > 0) metrics['value/explained_variance'] = explainedVariance(metrics);
  metrics['optim/learning_rate'] = steps.learningRate;
  metrics['tokens/trained'] = steps.trainedTokens;
  const passed = learned.filter((item) => isPassed(learner, item, objective)).length;
  metrics['samples/learned_share'] = samples.length === 0 ? 0 : passed / samples.length;
  return {
    metrics,
    credited: creditedEpisodes(creditedGroups, isLearned),
    memory: { ...memory, creditState: smoothed ? rememberEntropies(state, samples, scores) : state },
    trainedTokens: steps.trainedTokens,
    updates: steps.updates,
  };
}

/** The sample with log-probabilities of the trainer as old ones, beside those of the sampler. */
function fromTrainer(item: CreditedSample, oldLogprobs: Float32Array): CreditedSample {
  return { ...item, channels: { oldLogprobs, rolloutLogprobs: item.sample.logprobs_T } };
}

async function scoreReference(
  learner: Learner,
  part: readonly CreditedSample[],
): Promise<readonly Float32Array[]> {
  const rows = part.map(({ sample }) => bareRow(sample.ids_T));
  const { temperature } = learner.config.rollout;
  return (await learner.engine.score({ rows }, { temperature, frozen: true })).logprobs;
}
