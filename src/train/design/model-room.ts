/** What a model that is made for a run must hold: the words of all its stages, and its longest episodes. */

import type { Group } from '../../core/episode.ts';
import { type Sample, samplesOfTrajectory } from '../../core/sample.ts';
import { roleGroups } from '../../core/trajectory.ts';
import type { World } from '../../env/world.ts';
import { callStrategy } from '../../rollout/context/checks.ts';
import { type Catalogue, openTurns } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { configsOf } from '../config/stages.ts';
import { contextOf } from '../kit/learner.ts';
import { usualTurns } from './demonstrated-ways.ts';

/** Limits of the episodes of a run, in turns: the highest usual one, and the highest that a turn control may give. */
export interface LongestTurns {
  readonly usual: number;
  readonly longest: number;
}

const allOf = (config: TrainConfig): readonly TrainConfig[] => [config, ...configsOf(config)];

export function longestTurns(
  config: TrainConfig,
  world: Pick<World, 'maxTurns'>,
  catalogue: Catalogue,
): LongestTurns {
  const limits = allOf(config).map((one) => {
    const usual = usualTurns(one, world);
    return { usual, longest: openTurns(one.turns, catalogue).longest(usual) };
  });
  return {
    usual: Math.max(...limits.map(({ usual }) => usual)),
    longest: Math.max(...limits.map(({ longest }) => longest)),
  };
}

/** What contexts and turn controls of any stage may say. */
export function saidInRun(
  config: TrainConfig,
  world: Pick<World, 'maxTurns'>,
  catalogue: Catalogue,
): readonly string[] {
  const { usual, longest } = longestTurns(config, world, catalogue);
  return allOf(config).flatMap((one) => {
    const { strategy, options, subject } = contextOf(one, catalogue);
    const said = callStrategy(subject, () => strategy.says?.(options, Math.max(usual, longest)) ?? []);
    return [...openTurns(one.turns, catalogue).says(usual), ...(said as readonly string[])];
  });
}

/**
 * Tokens of a conversation of the run. Demonstrations are played with the usual limit of each stage; where a turn control gives
 * more, the last turn of such an episode is as far away as the pace of the demonstrations leads.
 *
 * @param demonstrations rendered in the words of the model
 */
export function roomFor(demonstrations: readonly Group[], { usual, longest }: LongestTurns): number {
  const trajectories = roleGroups(demonstrations).flatMap(({ members }) => members);
  const samples = trajectories.flatMap((trajectory) => samplesOfTrajectory(trajectory, () => true));
  const seen = Math.max(0, ...samples.map(({ ids_T }) => ids_T.length));
  const grown = longest > usual ? lengthAt(longest, samples) : 0;
  // Room for episodes that are longer than any demonstrated: invalid actions lengthen observations.
  return Math.ceil((Math.max(1.5 * seen, grown) + 32) / 32) * 32;
}

/** The first turn as the longest one that was seen, and each later one with what was shown before it. */
function lengthAt(turns: number, samples: readonly Sample[]): number {
  const parts = samples.map(({ turn_T }) => {
    const own = [...new Set(turn_T.filter((turn) => turn >= 0))];
    const first = turn_T.lastIndexOf(own[0] ?? -1) + 1;
    return { first, pace: own.length > 1 ? (turn_T.length - first) / (own.length - 1) : 0 };
  });
  const first = Math.max(0, ...parts.map((part) => part.first));
  const pace = Math.max(0, ...parts.map((part) => part.pace));
  // Where nobody took a second turn, it shows as much as the first: a task that is opened again does so.
  return first + (turns - 1) * (pace || first);
}
