/** How the demonstrations of a run are played: as its settings say, and once more for each stage that shows or asks something else. */

import type { World } from '../../env/world.ts';
import type { Context } from '../../rollout/context/strategy.ts';
import { demonstratedRules, type TurnRules } from '../../rollout/turns/turn-control.ts';
import { builtIns, type Catalogue, openTurns } from '../config/catalogue.ts';
import type { TrainConfig } from '../config/config.ts';
import { configsOf } from '../config/stages.ts';
import { contextOf } from '../kit/learner.ts';

/** What a player of demonstrations reads, is asked for and may take. */
export interface DemonstratedWay {
  readonly context: Context;
  readonly maxTurns: number;
  readonly turns?: TurnRules;
  readonly turnTimeoutMs: number;
}

type Timed = Pick<World, 'maxTurns'>;

/** The turns of an episode that no control limits otherwise. */
export const usualTurns = ({ rollout }: Pick<TrainConfig, 'rollout'>, { maxTurns }: Timed): number =>
  rollout.maxTurns === 0 ? maxTurns : rollout.maxTurns;

/** The first is that of the run's own settings, which is imitated; the others only show a new model what it will read. */
export function demonstratedWays(
  config: TrainConfig,
  world: Timed,
  catalogue: Catalogue = builtIns,
): readonly [DemonstratedWay, ...DemonstratedWay[]] {
  const seen = new Set<string>();
  const [own, ...others] = [config, ...configsOf(config)].flatMap((one): DemonstratedWay[] => {
    const maxTurns = usualTurns(one, world);
    const control = openTurns(one.turns, catalogue);
    const key = JSON.stringify([one.context, control.demonstrated && one.turns, maxTurns]);
    if (seen.has(key)) return [];
    seen.add(key);
    const turns = demonstratedRules(control, { seed: one.seed, usual: maxTurns });
    const { turnTimeoutMs } = one.rollout;
    return [{ context: contextOf(one, catalogue), maxTurns, ...(turns && { turns }), turnTimeoutMs }];
  });
  return [own!, ...others];
}
