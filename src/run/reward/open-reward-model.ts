/** A trained reward model that scores conversations and episodes. */

import { resolve } from 'node:path';
import type { Episode } from '../../core/episode.ts';
import { chainOf } from '../../core/trajectory.ts';
import type { ConversationRow, Row } from '../../data/row.ts';
import { rowsOfEpisode } from '../../data/rows-of-episode.ts';
import type { GroupScore, ScoreGroup } from '../../env/scores/group-scores.ts';
import { movedTo } from '../model/policy-language.ts';
import type { ModelSearch } from '../model/run-model.ts';
import { openEngine, reopenBase } from '../model/run-model.ts';
import { type Coverage, type RewardCard, readRewardCard } from './reward-card.ts';
import { configOfModel, type ReadSequence, readerOf, rewardsAlong, sequencesOf } from './reward-reader.ts';

/** What a reward model says of a conversation. */
export interface Judged {
  readonly reward: number;
  /** Its reward or its length lies outside what the reward model has learned from: it may be wrong in any way there. */
  readonly outside: boolean;
  /** By how much the reward rose with each of its answers. */
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
  const judge = async (sequences: readonly ReadSequence[]): Promise<Judged[]> => {
    const rewards = await rewardsAlong(engine, sequences);
    return sequences.map(({ tokens, cut, places_K1 }, index) => {
      const reward_T = rewards[index]!;
      const reward = reward_T.at(-1)!;
      const along = places_K1.map((place) => reward_T[place]!);
      const rises_K = along.slice(1).map((value, k) => value - along[k]!);
      return { reward, outside: isOutside(card.coverage, { reward, tokens, cut }), rises_K };
    });
  };
  const score = (rows: readonly Row[]): Promise<Judged[]> =>
    judge(rows.flatMap((row) => sequencesOf(row, renderer, contextLength)));
  return {
    card,
    score,
    judge: async (episodes) => {
      const rows_I = episodes.map((episode) => rowsOf(episode));
      const judged = await score(rows_I.flat());
      let next = 0;
      return rows_I.map((rows, index) => {
        const found = rows.map((row) => [roleOf(row, episodes[index]!), judged[next++]!] as const);
        return Object.fromEntries(
          [...new Set(found.map(([role]) => role))].map((role) => [
            role,
            together(found.flatMap(([other, one]) => (other === role ? [one] : []))),
          ]),
        );
      });
    },
    close: () => engine.close(),
  };
}

/** Its conversations; it has all its calls itself, as `scoreGroup` is given episodes. */
function rowsOf(episode: Episode): ConversationRow[] {
  const { branchedFrom: _, ...whole } = episode;
  const group = { step: 0, group: 0, members: [whole] };
  return rowsOfEpisode(whole, chainOf(group, whole), { kind: 'run' });
}

const roleOf = ({ source }: ConversationRow, { outcome }: Episode): string =>
  source.role ?? Object.keys(outcome)[0]!;

function together(all: readonly Judged[]): Judged {
  const reward = all.reduce((sum, one) => sum + one.reward, 0) / all.length;
  // Of several conversations nobody knows which answer is which turn.
  const rises_K = all.length === 1 ? all[0]!.rises_K : [];
  return { reward, outside: all.some(({ outside }) => outside), rises_K };
}

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
