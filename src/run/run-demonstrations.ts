/** What a run plays before it trains: demonstrations to imitate. */

import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { World } from '../env/world.ts';
import type { Watch } from '../rollout/watch.ts';
import type { RunDirectory } from '../store/run-directory.ts';
import { demonstrate } from '../synth/demonstrations.ts';
import type { Catalogue } from '../train/config/catalogue.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { demonstratedWays } from '../train/design/demonstrated-ways.ts';
import type { AgentRun } from './model/agent-run.ts';
import { usersOfWorld } from './players/user-player.ts';
import type { RunControl } from './run-io.ts';

/** Episodes whose actions are shown to a pretrained model as examples. */
const ACTION_SAMPLES = 64;

/**
 * Whether scripts play before the run learns. Beside recorded episodes, which are then what is imitated, they give a small model
 * the words that the task needs besides; an agent without a teacher has none.
 */
export function needsDemonstrations({
  warm,
  recorded,
  config,
  world,
}: {
  readonly warm: boolean;
  readonly recorded: object | undefined;
  readonly config: TrainConfig;
  readonly world: World;
}): boolean {
  if (warm) return config.data === 'demonstrations';
  if (recorded === undefined) return true;
  return world.agent
    ? world.agent.demonstrate !== undefined && config.model.pretrained === ''
    : world.script !== undefined;
}

export interface PlayedDemonstrations {
  /** To imitate, or a few to learn of the actions from where a pretrained model imitates nothing. */
  readonly demonstrations: readonly Group[];
  /** Of stages that show or ask something else: a model that is made for the run has their words, and room for them. */
  readonly ofStages: readonly Group[];
}

export const noDemonstrations: PlayedDemonstrations = { demonstrations: [], ofStages: [] };

/** Demonstrations of the settings of the run, and as many of each stage that is played in another way. */
export async function playDemonstrations(
  control: RunControl,
  run: RunDirectory,
  world: World,
  config: TrainConfig,
  watch: Watch,
  agentRun: AgentRun | undefined,
  catalogue: Catalogue,
): Promise<PlayedDemonstrations> {
  const imitates = config.model.pretrained === '' || config.clone.steps > 0;
  if (agentRun && config.model.pretrained !== '') {
    if (imitates) throw noImitation(config.clone.steps);
    return noDemonstrations;
  }
  // An environment without a scripted player has nothing to imitate, and here needs nothing.
  if (!imitates && world.script === undefined) return noDemonstrations;
  const { demonstrations } = config.clone;
  const count = imitates ? demonstrations : Math.min(ACTION_SAMPLES, demonstrations);
  const ways = demonstratedWays(config, world, catalogue);
  const all = count * ways.length;
  control.report({ type: 'phase', phase: 'demonstrate', steps: all }, run);
  const played: Group[][] = [];
  try {
    for (const [index, way] of ways.entries())
      played.push(
        await demonstrate(world, {
          ...config.clone,
          demonstrations: count,
          ...way,
          seed: config.seed,
          signal: control.signal,
          exchanges: config.rollout.exchangeEvery > 0,
          watch,
          ...(agentRun && { play: agentRun.demonstrations(config) }),
          users: usersOfWorld(world, control.spend),
          onEpisode: (done) =>
            control.report(
              { type: 'progress', phase: 'demonstrate', done: index * count + done, total: all },
              run,
            ),
        }),
      );
  } catch (error) {
    if (!imitates && TurnwiseError.isInstance(error) && error.code === 'no-demonstrations')
      return noDemonstrations;
    throw error;
  }
  const [own = [], ...ofStages] = played;
  return { demonstrations: own, ofStages: ofStages.flat() };
}

function noImitation(steps: number): TurnwiseError {
  return new TurnwiseError('config-invalid', {
    what: 'A pretrained model does not imitate an agent’s teacher: teachers write in the form of small models',
    seen: `clone.steps ${steps}`,
    allowed: '0 where --model is given for an agent',
    next: 'Add --set clone.steps=0',
    fields: { key: 'clone.steps' },
  });
}
