/** What a run plays before it trains: demonstrations to imitate. */

import type { Group } from '../core/episode.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { World } from '../env/world.ts';
import { demonstratedRules } from '../rollout/turns/turn-control.ts';
import type { Watch } from '../rollout/watch.ts';
import type { RunDirectory } from '../store/run-directory.ts';
import { demonstrate } from '../synth/demonstrations.ts';
import { type Catalogue, openTurns } from '../train/config/catalogue.ts';
import type { TrainConfig } from '../train/config/config.ts';
import { contextOf } from '../train/kit/learner.ts';
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

/** Demonstrations to imitate, or a few to learn of the actions from where a pretrained model imitates nothing. */
export async function playDemonstrations(
  control: RunControl,
  run: RunDirectory,
  world: World,
  config: TrainConfig,
  watch: Watch,
  agentRun: AgentRun | undefined,
  catalogue: Catalogue,
): Promise<Group[]> {
  const imitates = config.model.pretrained === '' || config.clone.steps > 0;
  if (agentRun && config.model.pretrained !== '') {
    if (imitates) throw noImitation(config.clone.steps);
    return [];
  }
  // An environment without a scripted player has nothing to imitate, and here needs nothing.
  if (!imitates && world.script === undefined) return [];
  const { demonstrations } = config.clone;
  const usual = config.rollout.maxTurns === 0 ? world.maxTurns : config.rollout.maxTurns;
  const turns = demonstratedRules(openTurns(config.turns, catalogue), { seed: config.seed, usual });
  const count = imitates ? demonstrations : Math.min(ACTION_SAMPLES, demonstrations);
  control.report({ type: 'phase', phase: 'demonstrate', steps: count }, run);
  try {
    return await demonstrate(world, {
      ...config.clone,
      demonstrations: count,
      context: contextOf(config, catalogue),
      seed: config.seed,
      maxTurns: usual,
      ...(turns && { turns }),
      turnTimeoutMs: config.rollout.turnTimeoutMs,
      signal: control.signal,
      exchanges: config.rollout.exchangeEvery > 0,
      watch,
      ...(agentRun && { play: agentRun.demonstrations(config) }),
      users: usersOfWorld(world, control.spend),
      onEpisode: (done, total) =>
        control.report({ type: 'progress', phase: 'demonstrate', done, total }, run),
    });
  } catch (error) {
    if (!imitates && TurnwiseError.isInstance(error) && error.code === 'no-demonstrations') return [];
    throw error;
  }
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
