/**
 * Policy gradients on the episodes of the step beside something that is remembered: the policy's own past successes
 * (SPEAR), or demonstrations (DataMind's mixture).
 */

import { Rng } from '../../core/rng.ts';
import type { Group } from '../../core/trajectory.ts';
import type { TokenRow } from '../../engine/engine.ts';
import { sftRl } from '../../objective/imitation-mix.ts';
import type { Objective } from '../../objective/objective.ts';
import { isReplayed, recalibratedAdvantage, selfImitation } from '../../objective/self-imitation.ts';
import { type CreditedSample, minibatches } from '../batch.ts';
import { GradientSteps } from '../gradient-steps.ts';
import type { Learn, Memory, Moment, Replayed, Update } from '../learn.ts';
import type { Learner } from '../learner.ts';
import { lessonRows } from '../lesson-rows.ts';
import { type CreditedGroups, creditGroups } from '../update.ts';
import { updateOf } from './preferences.ts';
import { byGroup, draw, lean } from './replay.ts';
import { averagedRows, onTurns, recordedOf } from './rows.ts';

/** Rows with further channels of one number on all tokens. */
export function withConstant(rows: readonly TokenRow[], name: string, value: number): TokenRow[] {
  return rows.map(({ ids_T, channels }) => ({
    ids_T,
    channels: { ...channels, [name]: new Float32Array(ids_T.length).fill(value) },
  }));
}

/** `epochs` passes over the fresh samples, each minibatch with rows that are drawn for it. */
export async function learnBeside(
  learner: Learner,
  moment: Moment,
  { credits, inputs }: CreditedGroups,
  samples: readonly CreditedSample[],
  memory: Memory,
  objective: Objective,
  lesson: (fresh: readonly TokenRow[], rng: Rng) => readonly TokenRow[],
): Promise<Update> {
  const { config } = learner;
  const rng = Rng.of('minibatches', config.seed, moment.step);
  const steps = new GradientSteps(learner, moment);
  for (let epoch = 0; epoch < config.optimizer.epochs; epoch++) {
    const parts = samples.length > 0 ? minibatches(samples, config.optimizer.minibatches, rng) : [[]];
    for (const part of parts) {
      const rows = lesson(lessonRows(learner, part, objective), rng);
      if (rows.length > 0) await steps.take({ rows }, objective);
    }
  }
  const update = updateOf(steps, memory, {}, 'no advantage differs from zero, and nothing is remembered');
  return {
    ...update,
    credited: new Map(credits.map((credit, index) => [credit.id, { credit, input: inputs[index]! }])),
  };
}

/**
 * SPEAR. What is replayed is chosen by the paper's rule: advantage above 0 when it was played, and return above the median
 * of the group means that are kept.
 *
 * 1. All episodes are kept, since the median is over their groups; the paper keeps the good ones and means apart.
 * 2. An episode is replayed for `replayAge` steps.
 */
export const learnSpear: Learn = async (learner, groups, moment, memory) => {
  const { config } = learner;
  const credited = await creditGroups(learner, groups, memory);
  const { options } = config.objective;
  const { replayAge, ...loss } = options as typeof options & { readonly replayAge: number };
  const means = byGroup(memory.replay).map(meanOutcome);
  const good = memory.replay.filter(
    ({ advantage = 0, outcome, policyVersion }) =>
      learner.engine.version - policyVersion <= replayAge &&
      isReplayed(advantage, recalibratedAdvantage(outcome, means)),
  );
  const kept = [...memory.replay, ...remembered(credited)].slice(-config.replay.size);
  const update = await learnBeside(
    learner,
    moment,
    credited,
    credited.samples_I.flat(),
    { creditState: credited.state, replay: kept },
    selfImitation(loss),
    (fresh, rng) => [
      ...withConstant(fresh, 'replay', 0),
      ...withConstant(
        averagedRows(recordedOf(draw(good, config.replay.batch, rng)), ({ outcome }, sample) => ({
          advantages: onTurns(
            sample,
            () => recalibratedAdvantage(outcome, means) * config.credit.rewardScale,
          ),
          oldLogprobs: sample.logprobs_T,
        })),
        'replay',
        1,
      ),
    ],
  );
  return { ...update, metrics: { ...update.metrics, 'replay/eligible': good.length } };
};

function meanOutcome({ members }: Group): number {
  return members.reduce((sum, { outcome }) => sum + outcome, 0) / members.length;
}

/** The episodes with their advantages: the mean over their turns. */
function remembered({ candidates, credits }: CreditedGroups): Replayed[] {
  return candidates.map(({ trajectory }, index) => {
    const { turnAdvantages_K } = credits[index]!;
    const sum = turnAdvantages_K.reduce((total, advantage) => total + advantage, 0);
    return { ...lean(trajectory), advantage: sum / Math.max(1, turnAdvantages_K.length) };
  });
}

/** DataMind: one loss of both, the share of imitation a schedule over steps. */
export const learnMixed: Learn = async (learner, groups, moment, memory) => {
  const { config } = learner;
  const credited = await creditGroups(learner, groups, memory);
  return learnBeside(
    learner,
    moment,
    credited,
    credited.samples_I.flat(),
    { ...memory, creditState: credited.state },
    sftRl(config.objective.options),
    (fresh, rng) => [
      ...withConstant(fresh, 'imitation', 0),
      ...imitated(draw(memory.replay, config.replay.batch, rng)),
    ],
  );
};

/** Rows that are imitated, and that no policy gradient sees. */
function imitated(episodes: readonly Replayed[]): TokenRow[] {
  return averagedRows(recordedOf(episodes)).map(({ ids_T, channels }) => {
    const nothing = new Float32Array(ids_T.length);
    return {
      ids_T,
      channels: { weight: nothing, advantages: nothing, oldLogprobs: nothing, imitation: channels.weight! },
    };
  });
}
