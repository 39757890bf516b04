/** Why a recipe does not read a setting, in words that follow a colon; most name a recipe or a setting that does. */

import type { Recipe } from '../recipes/recipe.ts';

export interface UnreadSetting {
  readonly key: string;
  readonly recipe: Pick<
    Recipe,
    'learnsFrom' | 'learn' | 'reads' | 'act' | 'play' | 'critic' | 'criticHeads' | 'playReads'
  >;
  /** Whether it plays episodes to learn from, with these data. */
  readonly plays: boolean;
  readonly data: string;
  readonly loss: string;
}

interface Reason {
  /** Settings by their paths, or by the beginnings of these. */
  readonly of: readonly string[];
  why(setting: UnreadSetting): string | undefined;
}

/** Its loss is a policy loss that is named, with advantages by a credit method. */
const isPolicyGradient = ({ recipe: { learn, reads } }: UnreadSetting): boolean =>
  learn === undefined && reads === undefined;

/** A recipe that plays episodes and reads the setting. */
function playerThatReads(key: string): string {
  if (key.startsWith('replay.')) return 'archer';
  if (!key.startsWith('branching.')) return 'rloo';
  return key === 'branching.balance' || key === 'branching.penalty'
    ? 'aepo'
    : key.match(/explor|mixing/)
      ? 'rloo'
      : 'arpo';
}

/** The first that says something counts. */
const REASONS: readonly Reason[] = [
  {
    of: [
      ...['tasks', 'turns', 'curation', 'prompts', 'rewardModel', 'batches', 'branching', 'rolloutLog'],
      ...['rollout', 'replay.size'],
    ],
    why: ({ key, plays, recipe: { learnsFrom }, data }) =>
      plays
        ? undefined
        : learnsFrom === 'either'
          ? `it learns from the recorded episodes of data=${data} and plays none, which it does with an empty data`
          : `it learns from recorded episodes and plays none, as ${playerThatReads(key)} does`,
  },
  {
    of: ['branching.explorer', 'branching.exploration', 'branching.mixing'],
    why: ({ recipe: { act } }) =>
      act === undefined
        ? 'it plays episodes in a way of its own, where rloo leaves open how they branch'
        : 'it branches episodes by an explorer of its own, where rloo leaves open how they branch',
  },
  {
    of: ['branching'],
    why: ({ key, recipe: { act } }) =>
      act === undefined
        ? `it branches no episodes at unsure places, as ${playerThatReads(key)} does`
        : `its explorer goes by something else, where that of ${playerThatReads(key)} reads it`,
  },
  {
    of: ['objective.clipLow', 'objective.clipHigh', 'objective.dualClip'],
    why: (setting) =>
      isPolicyGradient(setting)
        ? `the policy loss objective.name=${setting.loss} clips no ratios of tokens, as ppo-clip does`
        : 'it minimises a loss of its own, which clips no ratios of tokens, as that of rloo does',
  },
  {
    of: [
      ...['objective.valueCoefficient', 'objective.valueClip', 'objective.valueLoss'],
      ...['objective.valueBins', 'objective.valueWarmup'],
    ],
    why: ({ recipe: { critic } }) =>
      critic
        ? 'its value head learns by a loss of its own, where that of ppo reads it'
        : 'it trains no value head beside the policy, as ppo does',
  },
  { of: ['objective.options'], why: () => 'its loss has no options, as that of kto has' },
  {
    of: ['objective'],
    why: () => 'it minimises a loss of its own, where rloo takes any policy loss and terms beside it',
  },
  {
    of: ['credit.rewardScale'],
    why: () => 'it goes by which episodes are better, however their rewards are scaled, where ilql reads it',
  },
  { of: ['credit'], why: () => 'it learns without the advantages of a credit method, by which rloo learns' },
  {
    of: ['optimizer.minibatches', 'optimizer.epochs'],
    why: () => 'it draws a batch for each of its updates (replay.batch), where rloo passes over a step',
  },
  { of: ['replay'], why: () => 'it draws no updates from kept episodes, as filtered-bc does' },
  {
    of: ['critic.strength'],
    why: () => 'no values have a say in its acts, as those of ilql have',
  },
  {
    of: ['critic'],
    why: ({ recipe: { criticHeads } }) =>
      criticHeads === undefined
        ? 'it has no critic in a model of its own, as digi-q has'
        : 'its critic has no such part, where that of digi-q reads it',
  },
  {
    of: ['teacher'],
    why: () => 'it learns from no teacher that scores tokens, as on-policy-distillation does',
  },
  {
    of: ['rolloutLog'],
    why: () => 'it learns from stored episodes again, so that all steps are stored, where rloo reads it',
  },
  { of: ['rollout.topP', 'rollout.topK'], why: () => 'it samples in no episodes of its own, as rloo does' },
];

const isUnder = (key: string, path: string): boolean => key === path || key.startsWith(`${path}.`);

/** Undefined where nothing more is known than that it is not read. */
export function whyUnread(setting: UnreadSetting): string | undefined {
  for (const { of, why } of REASONS) {
    const reason = of.some((path) => isUnder(setting.key, path)) ? why(setting) : undefined;
    if (reason !== undefined) return reason;
  }
  return undefined;
}
