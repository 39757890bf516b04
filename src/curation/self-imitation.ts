/**
 * Self-imitation: episodes that did better than expected are learned from again, with growing weight. The buffer of SPEAR, arXiv
 * 2509.22601, for any recipe that learns by credit; the recipe `spear-sil` has SPEAR's own loss besides.
 *
 *   kept: episodes of the last `age` steps whose advantage was above 0
 *   replayed: those with A = R − median of the group means of these steps above 0, which is their advantage now
 *   weight: coefficient · ½ (1 − cos(π t / warmupSteps)) up to `warmupSteps` steps, then the coefficient
 *
 * 1. They join the step as groups of their own: nothing is compared with them.
 * 2. The loss is that of the recipe, over fresh and replayed tokens together; the paper averages both apart, and clips replayed
 *    tokens by their covariance.
 */

import { z } from 'zod';
import type { Choice, EpisodeKey, Group } from '../core/episode.ts';
import { isPlayedIn, keyText } from '../core/episode-key.ts';
import { mean } from '../core/statistics.ts';
import { chainOf, trainedRoles } from '../core/trajectory.ts';
import { isReplayed, recalibratedAdvantage, replayWeight } from '../objective/imitation/self-imitation.ts';
import { type DefinedCuration, defineCuration } from './curation.ts';

type Kept = readonly [episode: EpisodeKey, outcome: number, advantage: number];
type GroupMean = readonly [step: number, mean: number];
type Memory = { readonly kept: readonly Kept[]; readonly means: readonly GroupMean[] };

const learn: Choice = { inBaseline: true, inLoss: true, weight: 1 };

export const selfImitationReplay: DefinedCuration = defineCuration({
  name: 'self-imitation',
  summary: 'beside fresh episodes, with growing weight, earlier ones that did better than groups do',
  weighs: true,
  credits: true,
  inserts: true,
  oneRole: true,
  options: z.strictObject({
    coefficient: z.number().min(0).default(1).describe('Weight of replayed episodes after the warm-up'),
    warmupSteps: z.int().min(0).default(100).describe('Steps in which that weight rises from 0'),
    age: z.int().min(1).default(5).describe('Steps for which an episode may be replayed'),
    size: z.int().min(1).default(512).describe('Episodes that are kept, the latest'),
    batch: z.int().min(1).default(64).describe('Episodes of a step that are replayed, at most'),
  }),
  start: (): Memory => ({ kept: [], means: [] }),
  choose(groups, { memory, step, rng, options }) {
    const weight = replayWeight(step - 1, options.coefficient, options.warmupSteps);
    const means = memory.means.filter(([own]) => step - own <= options.age).map(([, value]) => value);
    if (weight === 0 || means.length === 0) return {};
    const there = new Set(groups.flatMap(({ members }) => members.map(({ key }) => keyText(key))));
    const good = memory.kept.filter(
      ([key, outcome, advantage]) =>
        step - key.step <= options.age &&
        !there.has(keyText(key)) &&
        isReplayed(advantage, recalibratedAdvantage(outcome, means)),
    );
    const replayed = rng.shuffle(good).slice(0, options.batch);
    const advantages = new Map(
      replayed.map(([key, outcome]) => [keyText(key), recalibratedAdvantage(outcome, means)]),
    );
    return {
      insert: replayed.map(([episode]) => ({ group: 'new' as const, episode })),
      choice: ({ key }) => {
        const advantage = advantages.get(keyText(key));
        return advantage === undefined ? learn : { inBaseline: false, inLoss: true, weight, advantage };
      },
    };
  },
  remember(groups, { memory, step, options }): Memory {
    const recent = ([own]: readonly [number, number]): boolean => step - own < options.age;
    const fresh = groups.flatMap((group) => {
      const own = group.members.filter((episode) => isPlayedIn(group, episode));
      return own.length === 0 ? [] : [{ group, own }];
    });
    const kept = fresh.flatMap(({ group, own }) =>
      own.flatMap((episode): Kept[] => {
        const { outcome, advantage } = earnedIn(group, episode);
        return advantage > 0 ? [[episode.key, outcome, advantage]] : [];
      }),
    );
    const means = fresh.map(
      ({ group, own }): GroupMean => [step, mean(own.map((one) => earnedIn(group, one).outcome))],
    );
    return {
      kept: [...memory.kept.filter(([key]) => step - key.step < options.age), ...kept].slice(-options.size),
      means: [...memory.means.filter(recent), ...means],
    };
  },
});

/** What the policy's role earned, and the mean of its advantages. */
function earnedIn(group: Group, episode: Group['members'][number]) {
  const role = trainedRoles(chainOf(group, episode))[0] ?? Object.keys(episode.outcome)[0] ?? '';
  const { advantages_K = [] } = episode.credit?.[role] ?? {};
  return {
    outcome: episode.outcome[role] ?? 0,
    advantage: advantages_K.length === 0 ? 0 : mean(advantages_K),
  };
}
