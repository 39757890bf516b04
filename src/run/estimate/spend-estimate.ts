/** What a run may ask of models elsewhere, told before the first call. */

import type { World } from '../../env/world.ts';
import { estimate, type SpendLimits } from '../../server/gateway/spend.ts';
import { builtIns, type Catalogue } from '../../train/config/catalogue.ts';
import type { TrainConfig } from '../../train/config/config.ts';
import { configsOf } from '../../train/config/stages.ts';
import { demonstratedWays } from '../../train/design/demonstrated-ways.ts';
import { longestTurns } from '../../train/design/model-room.ts';
import type { StoredEvent } from '../../train/loop/events.ts';

const isElsewhere = (text: string): boolean => /^(openai|vllm):/.test(text);

type Asking = Pick<World, 'agent' | 'users' | 'maxTurns'>;

/** Names of the models elsewhere that episodes of a run ask: an agent's, simulated users, players in seats. */
export function askedElsewhere(
  { agent, users = {} }: Asking,
  { players }: Pick<TrainConfig, 'players'>,
): string[] {
  const simulated = Object.entries({ ...users, ...agent?.users });
  return [
    ...Object.keys(agent?.models ?? {}),
    ...simulated.flatMap(([name, { model }]) => (model === undefined ? [] : [name])),
    ...Object.entries(players).flatMap(([name, player]) => (isElsewhere(String(player)) ? [name] : [])),
  ];
}

/** Episodes that a run plays at most: demonstrations, steps, and evaluations, sampled and greedy. */
function mostEpisodes(config: TrainConfig, done: number, ways: number): number {
  const { steps, clone, model, evaluation } = config;
  const { every, tasks, finalTasks } = evaluation;
  const played = evaluation.greedy ? 2 : 1;
  const shown = model.pretrained === '' || clone.steps > 0 ? ways * clone.demonstrations : 0;
  const before = done === 0 ? shown + played * finalTasks : 0;
  const during = every === 0 ? 0 : Math.floor(steps / every) - Math.floor(done / every);
  const most = Math.max(...configsOf(config).map(({ rollout }) => rollout.tasks * rollout.group));
  return before + (steps - done) * most + played * (during * tasks + finalTasks);
}

/**
 * The most that a run asks, as a warning to whoever watches; undefined where it asks nobody.
 *
 * @param done steps that were learned before, which are not played again
 */
export function spendEstimate(
  world: Asking,
  config: TrainConfig,
  limits: SpendLimits = {},
  done = 0,
  catalogue: Catalogue = builtIns,
): Extract<StoredEvent, { readonly type: 'warning' }> | undefined {
  const names = askedElsewhere(world, config);
  if (names.length === 0) return undefined;
  const { usual, longest } = longestTurns(config, world, catalogue);
  const ways = demonstratedWays(config, world, catalogue).length;
  const calls = mostEpisodes(config, done, ways) * Math.max(usual, longest);
  return {
    type: 'warning',
    code: 'spend-estimate',
    message: `This run asks models elsewhere (${names.join(', ')}). ${estimate(calls, limits)}. --max-calls and --max-tokens limit it`,
  };
}
