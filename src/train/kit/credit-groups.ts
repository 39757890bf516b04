/** The credit of a step's groups: advantages, and the samples that carry them. */

import type { RoleGroup } from '../../core/trajectory.ts';
import { creditTrajectory, type TurnScores } from '../../credit/contract/view.ts';
import type { CreditState, TrajectoryCredit } from '../../credit/report/rollouts.ts';
import {
  type Candidate,
  type CreditedSample,
  candidatesOf,
  type SampleScores,
  spreadCredit,
  turnScores,
} from './batch.ts';
import type { Learner } from './learner.ts';
import { correctsMismatch, scoreEpisodes } from './scores.ts';
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
  creditState: CreditState,
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

/** The sample with log-probabilities of the trainer as old ones, beside those of the sampler. */
function fromTrainer(item: CreditedSample, oldLogprobs: Float32Array): CreditedSample {
  return { ...item, channels: { oldLogprobs, rolloutLogprobs: item.sample.logprobs_T } };
}
