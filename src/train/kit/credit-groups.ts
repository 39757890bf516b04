/** The credit of a step's groups: advantages, and the samples that carry them. */

import { badDefinition } from '../../core/definition.ts';
import type { Choice } from '../../core/episode.ts';
import type { TurnFacts } from '../../core/facts.ts';
import type { RoleGroup } from '../../core/trajectory.ts';
import { creditTrajectory, type TurnScores } from '../../credit/contract/view.ts';
import type { CreditState, TrajectoryCredit } from '../../credit/report/rollouts.ts';
import { hasAdvantage } from '../../curation/curate.ts';
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
  /** The samples of each trajectory that is in the loss, with their advantages and weights; none of the others. */
  readonly samples_I: readonly (readonly CreditedSample[])[];
}

/**
 * Advantages: what each turn or token was worth, compared within its group or against the critic. All groups set baselines.
 *
 * @param facts_IK what the recipe found out about the turns of each member, group after group
 */
export async function creditGroups(
  learner: Learner,
  groups: readonly RoleGroup[],
  creditState: CreditState,
  facts_IK?: readonly (readonly TurnFacts[])[],
): Promise<CreditedGroups> {
  const { config } = learner;
  const candidates = candidatesOf(groups.flatMap(({ members }) => members));
  const scores = await scoreEpisodes(learner, candidates);
  const turnScores_I = candidates.map((candidate, index) =>
    turnScores(candidate, scores[index]).map((turn, k): TurnScores => {
      const facts = facts_IK?.[index]?.[k];
      return facts ? { ...turn, facts } : turn;
    }),
  );
  const inputs = candidates.map(({ trajectory }, index) =>
    creditTrajectory(trajectory, config.credit.rewardScale, turnScores_I[index]),
  );
  const compared = inputs.filter((_, index) => givenAdvantage(candidates[index]!) === undefined);
  const { credits: own, state } = learner.credit(compared, creditState);
  let next = 0;
  const credits = candidates.map((candidate): TrajectoryCredit => {
    const advantage = givenAdvantage(candidate);
    if (advantage === undefined) return own[next++]!;
    const { id, turns } = candidate.trajectory;
    return { id, turnAdvantages_K: turns.map(() => advantage * config.credit.rewardScale) };
  });
  const corrects = correctsMismatch(config, learner.catalogue);
  const samples_I = candidates.map((candidate, index) => {
    if (!isInLoss(candidate)) return [];
    return spreadCredit(candidate, credits[index]!, scores[index]?.values).map((item, sample) =>
      weighed(corrects ? fromTrainer(item, scores[index]!.logprobs![sample]!) : item, candidate),
    );
  });
  return { candidates, scores, turnScores_I, credits, state, samples_I };
}

/** The advantage that curation gives it, where it is not compared. */
const givenAdvantage = ({ trajectory: { choice } }: Candidate): number | undefined =>
  choice && hasAdvantage(choice) ? choice.advantage : undefined;

/** Whether curation leaves it in the loss. */
const isInLoss = ({ trajectory }: Candidate): boolean => trajectory.choice?.inLoss ?? true;

/** What of it is stored, by trajectory. In the loss are those of which the policy sampled something. */
export function creditedEpisodes({
  candidates,
  credits,
  turnScores_I,
}: CreditedGroups): Map<string, Credited> {
  return new Map(
    candidates.map((candidate, index): [string, Credited] => {
      const { id, choice = everything } = candidate.trajectory;
      const inLoss = candidate.samples.length > 0 && choice.inLoss;
      return [id, { credit: credits[index]!, scores_K: turnScores_I[index]!, choice: { ...choice, inLoss } }];
    }),
  );
}

const everything: Choice = { inBaseline: true, inLoss: true, weight: 1 };

/** The sample with the weights that curation gives its tokens. */
function weighed(item: CreditedSample, { trajectory }: Candidate): CreditedSample {
  const { choice, turns } = trajectory;
  if (!choice || (choice.weight === 1 && !choice.weights_K)) return item;
  const { weight, weights_K } = choice;
  if (weights_K && weights_K.length !== turns.length) {
    throw badDefinition(
      'A curation',
      `weighs another number of turns than ${trajectory.id} has`,
      `${weights_K.length} weights`,
      `${turns.length}: one for each turn of the role`,
    );
  }
  const weight_T = Float32Array.from(item.sample.turn_T, (turn) =>
    turn < 0 ? 0 : weight * (weights_K?.[turn] ?? 1),
  );
  const live = item.live && item.advantages_T.some((advantage, t) => advantage !== 0 && weight_T[t]! > 0);
  return { ...item, weight_T, live };
}

/** The sample with log-probabilities of the trainer as old ones, beside those of the sampler. */
function fromTrainer(item: CreditedSample, oldLogprobs: Float32Array): CreditedSample {
  return { ...item, channels: { oldLogprobs, rolloutLogprobs: item.sample.logprobs_T } };
}
