/**
 * Policy gradients on the episodes of the step beside something that is remembered: the policy's own past successes
 * (SPEAR), or demonstrations (DataMind's mixture).
 */

import type { Episode } from '../../core/episode.ts';
import type { Rng } from '../../core/rng.ts';
import type { RoleGroup } from '../../core/trajectory.ts';
import { batchOf, type TokenRow } from '../../engine/token-batch.ts';
import type { Objective } from '../../objective/contract/objective.ts';
import { sftRl } from '../../objective/imitation/imitation-mix.ts';
import {
  isReplayed,
  recalibratedAdvantage,
  selfImitation,
} from '../../objective/imitation/self-imitation.ts';
import type { TrainConfig } from '../config/config.ts';
import type { Replayed } from '../kit/archive.ts';
import { type CreditedSample, minibatches } from '../kit/batch.ts';
import type { CreditedGroups } from '../kit/credit-groups.ts';
import { type Kept, type Learn, learning } from '../kit/learn.ts';
import { clipOf } from '../kit/policy-objective.ts';
import type { Trainer } from '../kit/trainer.ts';
import { draw, keptAs, playedNow, type Remembered, recent } from './replay.ts';
import { averagedRows, onTurns, recordedOf } from './rows.ts';

/** Rows with further channels of one number on all tokens. */
export function withConstant(rows: readonly TokenRow[], name: string, value: number): TokenRow[] {
  return rows.map((row) => ({
    ...row,
    channels: { ...row.channels, [name]: new Float32Array(row.ids_T.length).fill(value) },
  }));
}

/** `epochs` passes over the fresh samples, each minibatch with rows that are drawn for it. */
export async function learnBeside(
  trainer: Trainer,
  { optimizer }: Pick<TrainConfig, 'optimizer'>,
  samples: readonly CreditedSample[],
  objective: Objective,
  lesson: (fresh: readonly TokenRow[], rng: Rng) => readonly TokenRow[],
): Promise<void> {
  const rng = trainer.rng('minibatches');
  for (let epoch = 0; epoch < optimizer.epochs; epoch++) {
    const parts = samples.length > 0 ? minibatches(samples, optimizer.minibatches, rng) : [[]];
    for (const part of parts) {
      const rows = lesson(trainer.rows(part, objective), rng);
      if (rows.length > 0) await trainer.policy.learn(batchOf(rows), objective);
    }
  }
}

/** Why a mixture may have nothing to learn from. */
export const nothingBeside = 'no advantage differs from zero, and nothing is remembered';

type GroupMean = { readonly step: number; readonly mean: number };
type Successes = Remembered & { readonly means: readonly GroupMean[] };

/**
 * SPEAR. What is replayed is chosen by the paper's rule: advantage above 0 when it was played, and return above the median
 * of the group means that are kept.
 *
 * 1. Episodes with an advantage above 0 are kept, and the means of all groups apart, both for `replayAge` steps. The paper
 *    bounds the buffer by a count as well; here a step may play any number.
 */
export const learnSpear: Learn = learning<Successes>(
  (config) =>
    async (trainer, groups, { step, memory }) => {
      const credited = await trainer.credit(groups);
      const { options } = config.objective;
      const { replayAge, ...loss } = options as typeof options & { readonly replayAge: number };
      const earlier = memory.means.filter((mean) => step - mean.step <= replayAge);
      const means = earlier.map(({ mean }) => mean);
      const past = recent(memory.kept, step, replayAge);
      const good = (await trainer.recall(past)).filter(({ advantage = 0, outcome }) =>
        isReplayed(advantage, recalibratedAdvantage(outcome, means)),
      );
      await learnBeside(
        trainer,
        config,
        credited.samples_I.flat(),
        selfImitation({ policy: clipOf(config.objective), ...loss }),
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
      const played = groups.map((group) => ({ step, mean: meanOutcome(group) }));
      const fresh = new Set(playedNow(groups).map(({ episode }) => episode));
      const now = remembered(credited, fresh).filter(({ advantage = 0 }) => advantage > 0);
      const kept = [...past, ...now];
      return {
        memory: { kept, means: [...earlier, ...played] },
        keep: kept,
        metrics: { 'replay/episodes': kept.length, 'replay/eligible': good.length },
        why: nothingBeside,
      };
    },
);

function meanOutcome({ members }: RoleGroup): number {
  return members.reduce((sum, { outcome }) => sum + outcome, 0) / members.length;
}

/** Those of the episodes that are learned from, with their advantages: the mean over their turns. */
function remembered({ candidates, credits }: CreditedGroups, of: ReadonlySet<Episode>): Kept[] {
  return candidates.flatMap(({ trajectory }, index): Kept[] => {
    if (trajectory.choice?.inLoss === false || !of.has(trajectory.episode)) return [];
    const { turnAdvantages_K } = credits[index]!;
    const sum = turnAdvantages_K.reduce((total, advantage) => total + advantage, 0);
    return [{ ...keptAs(trajectory), advantage: sum / Math.max(1, turnAdvantages_K.length) }];
  });
}

/** DataMind: one loss of both, the share of imitation a schedule over steps. */
export const learnMixed: Learn = learning<Remembered>((config) => async (trainer, groups, { memory }) => {
  const credited = await trainer.credit(groups);
  const replay = await trainer.recall(memory.kept);
  await learnBeside(
    trainer,
    config,
    credited.samples_I.flat(),
    sftRl({ policy: clipOf(config.objective), ...config.objective.options }),
    (fresh, rng) => [
      ...withConstant(fresh, 'imitation', 0),
      ...imitated(draw(replay, config.replay.batch, rng)),
    ],
  );
  return { memory, keep: memory.kept, why: nothingBeside };
});

/** Rows that are imitated, and that no policy gradient sees. */
function imitated(episodes: readonly Replayed[]): TokenRow[] {
  return averagedRows(recordedOf(episodes)).map(({ channels, ...row }) => {
    const nothing = new Float32Array(row.ids_T.length);
    return {
      ...row,
      channels: { weight: nothing, advantages: nothing, oldLogprobs: nothing, imitation: channels.weight! },
    };
  });
}
