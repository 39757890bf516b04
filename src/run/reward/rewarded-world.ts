/** A world whose episodes are paid by a reward model, beside what its environment pays or instead of it. */

import type { Episode, Role } from '../../core/episode.ts';
import { checkedGroupScores, type ScoreGroup } from '../../env/scores/group-scores.ts';
import type { World } from '../../env/world.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import type { StoredEvent } from '../../train/loop/events.ts';
import type { OwnProbe } from '../../train/loop/probe.ts';
import type { ModelSearch } from '../model/run-model.ts';
import { type Judged, openRewardModel, type RewardModel } from './open-reward-model.ts';

/** Above this share a warning says that the policy has left what the reward model knows. */
const MOST_OUTSIDE = 0.2;

/** What a reward model said since somebody looked. */
interface Seen {
  episodes: number;
  outside: number;
  reward: number;
}

export interface Rewarded {
  readonly world: World;
  readonly probes: readonly OwnProbe[];
  close(): Promise<void>;
}

/**
 * The world of a run with the reward model that its settings name; the world itself where they name none.
 *
 * With `environment` 0 the score takes back all that the environment paid, so that the outcome is that of the reward model
 * alone; rewards of single turns stay in the record. Success is the environment's.
 *
 * @throws TurnwiseError as `openRewardModel`
 */
export async function rewardedWorld(
  world: World,
  { rewardModel }: Pick<TrainConfig, 'rewardModel'>,
  search: ModelSearch,
): Promise<Rewarded> {
  if (rewardModel.folder === '') return { world, probes: [], close: async () => {} };
  const model = await openRewardModel(rewardModel.folder, search);
  const seen: Seen = { episodes: 0, outside: 0, reward: 0 };
  const scoreGroup = scoring(world, model, rewardModel, seen);
  return { world: { ...world, scoreGroup }, probes: [watching(seen)], close: () => model.close() };
}

function scoring(
  world: World,
  model: RewardModel,
  { weight, turns, environment }: TrainConfig['rewardModel'],
  seen: Seen,
): ScoreGroup {
  return async (episodes, context) => {
    const given = await world.scoreGroup?.(episodes, context);
    const own = given && checkedGroupScores(given, episodes, world.name, world.roles);
    const judged = await model.judge(episodes);
    return episodes.map((episode, index) => {
      note(seen, judged[index]!);
      return Object.fromEntries(
        Object.keys(episode.outcome).map((role) => {
          const paid = episode.outcome[role] ?? 0;
          const compared = own?.[index]?.rewards[role] ?? 0;
          const divided = own?.[index]?.turns?.[role] ?? [compared];
          const { reward = 0, rises_K = [] } = judged[index]![role] ?? {};
          const end = environment * paid - paid + weight * reward;
          const parts = [scaled(divided, environment), scaled(rises_K, turns)];
          return [role, dividedScore(turnsOf(episode, role), end, parts)];
        }),
      );
    });
  };
}

const turnsOf = ({ transitions }: Episode, role: Role): number =>
  transitions.filter((transition) => transition.role === role).length;

const scaled = (rewards: readonly number[], factor: number): readonly number[] =>
  factor === 0 ? [] : rewards.map((reward) => factor * reward);

/** Rewards of turns where a part has one for each of them; everything else is paid at the end. */
function dividedScore(
  count: number,
  end: number,
  parts: readonly (readonly number[])[],
): number | readonly number[] {
  const ofTurns = parts.filter((part) => count > 1 && part.length === count);
  const rest = parts
    .filter((part) => !ofTurns.includes(part))
    .flat()
    .reduce((sum, reward) => sum + reward, end);
  if (ofTurns.length === 0) return rest;
  return Array.from({ length: count }, (_, k) =>
    ofTurns.reduce((sum, part) => sum + part[k]!, k === count - 1 ? rest : 0),
  );
}

function note(seen: Seen, judged: Readonly<Record<Role, Judged>>): void {
  for (const { reward, outside } of Object.values(judged)) {
    seen.episodes++;
    seen.outside += outside ? 1 : 0;
    seen.reward += reward;
  }
}

/** Figures of a step; those of evaluations in between are among them. */
function watching(seen: Seen): OwnProbe {
  // Told once, and again where the policy came back and left anew.
  let told = false;
  return {
    name: 'reward-model',
    run: async (_learner, { step }) => {
      const { episodes, outside, reward } = seen;
      Object.assign(seen, { episodes: 0, outside: 0, reward: 0 });
      if (episodes === 0) return {};
      const share = outside / episodes;
      const isLeft = share > MOST_OUTSIDE;
      const events = isLeft && !told ? [leftIt(step, share)] : [];
      told = isLeft;
      return {
        metrics: { 'reward_model/reward': reward / episodes, 'reward_model/outside_share': share },
        events,
      };
    },
  };
}

function leftIt(step: number, share: number): StoredEvent {
  return {
    type: 'warning',
    code: 'reward-model-left',
    message:
      `step ${step}: ${Math.round(100 * share)}% of the episodes have a reward or a length that the reward model never learned from: ` +
      'it may pay for anything there. Stop early, compare with the true reward, or train it on pairs of these episodes',
  };
}
