/** A trained reward model that scores conversations and episodes. */

import { resolve } from 'node:path';
import type { Episode } from '../../core/episode.ts';
import { mean } from '../../core/statistics.ts';
import type { Row } from '../../data/row.ts';
import type { GroupScore, ScoreGroup } from '../../env/scores/group-scores.ts';
import { movedTo } from '../model/policy-language.ts';
import type { ModelSearch } from '../model/run-model.ts';
import { openEngine, reopenBase } from '../model/run-model.ts';
import { type Coverage, type RewardCard, readRewardCard } from './reward-card.ts';
import { configOfModel, readerOf, rewardsAlong, sequencesOf } from './reward-reader.ts';
import { type Reading, readRoles, risesOf } from './turns-read.ts';

/** What a reward model says of a conversation. */
export interface Judged {
  readonly reward: number;
  /** Its reward or its length lies outside what the reward model has learned from: it may be wrong in any way there. */
  readonly outside: boolean;
  /** By how much the reward rose with each answer of a row, or with each turn of an episode. */
  readonly rises_K: readonly number[];
}

export interface RewardModel {
  readonly card: RewardCard;
  score(rows: readonly Row[]): Promise<Judged[]>;
  /** Each role of an episode by its conversations; their mean where there are several. */
  judge(episodes: readonly Episode[]): Promise<Readonly<Record<string, Judged>>[]>;
  close(): Promise<void>;
}

/** Whether a conversation lies outside what a reward model has learned from. */
export function isOutside(
  { reward, tokens }: Coverage,
  seen: { reward: number; tokens: number; cut: boolean },
): boolean {
  const isIn = (value: number, [least, most]: readonly [number, number]) => value >= least && value <= most;
  return seen.cut || !isIn(seen.reward, reward) || !isIn(seen.tokens, tokens);
}

/** @throws TurnwiseError `reward-model-unknown`, `base-model-changed`, as the opening of models */
export async function openRewardModel(folder: string, search: ModelSearch): Promise<RewardModel> {
  const card = readRewardCard(folder);
  const config = configOfModel(card.settings);
  const open = await reopenBase(card.card, search);
  const model = movedTo(card.card, open);
  const renderer = await readerOf(model, config);
  const engine = await openEngine(model, config, open);
  try {
    await engine.load(folder, { optimizer: false });
  } catch (error) {
    await engine.close();
    throw error;
  }
  const { contextLength } = engine.capabilities;
  const read = async (rows: readonly Row[]): Promise<Reading[]> => {
    const sequences = rows.flatMap((row) => sequencesOf(row, renderer, contextLength));
    const rewards = await rewardsAlong(engine, sequences);
    return sequences.map(({ tokens, cut }, index) => ({ reward_K1: rewards[index]!, tokens, cut }));
  };
  const judged = (conversations: readonly Reading[], rises_K: readonly number[]): Judged => ({
    reward: mean(conversations.map(rewardOf)),
    outside: conversations.some((one) => isOutside(card.coverage, { ...one, reward: rewardOf(one) })),
    rises_K,
  });
  return {
    card,
    score: async (rows) => (await read(rows)).map((one) => judged([one], risesOf(one))),
    judge: async (episodes) =>
      (await readRoles(episodes, read)).map((roles) =>
        Object.fromEntries(
          Object.entries(roles).map(([role, { conversations, rises_K }]) => [
            role,
            judged(conversations, rises_K),
          ]),
        ),
      ),
    close: () => engine.close(),
  };
}

const rewardOf = ({ reward_K1 }: Reading): number => reward_K1.at(-1)!;

/** A reward model as `scoreGroup`, opened when it is first asked. */
export interface RewardScores extends ScoreGroup {
  close(): Promise<void>;
}

/**
 * A trained reward model as the `scoreGroup` of an environment: what it says of an episode is added to what the episode earned.
 *
 * @param folder that `turnwise reward-model` wrote
 * @param options `weight`: factor on its rewards
 * @example
 * import { defineEnvironment, rewardModel } from 'turnwise';
 * export default defineEnvironment({ ...treasure, scoreGroup: rewardModel('./reward-model') });
 *
 * @throws TurnwiseError from its scores: `reward-model-unknown`, `base-model-changed`
 */
export function rewardModel(folder: string, { weight = 1 }: { readonly weight?: number } = {}): RewardScores {
  const place = resolve(folder);
  let opened: Promise<RewardModel> | undefined;
  const score = async (episodes: readonly Episode[]): Promise<readonly GroupScore[]> => {
    // Whoever asks may stop asking; the model is opened for all.
    opened ??= openRewardModel(place, { signal: new AbortController().signal });
    const judged = await (await opened).judge(episodes);
    return judged.map((byRole) =>
      Object.fromEntries(Object.entries(byRole).map(([role, { reward }]) => [role, weight * reward])),
    );
  };
  return Object.assign(score, { close: async () => (await opened)?.close() });
}
