/** One episode, played and recorded as a run does it, without a model. */

import type { Episode, Split } from '../core/episode.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { PlayerKind } from '../env/world.ts';
import { noIds } from '../model/chat/renderer.ts';
import { Lockstep } from '../policy/lockstep.ts';
import type { Policy } from '../policy/policy.ts';
import { scriptedPolicy } from '../policy/scripted.ts';
import { collectGroups } from '../rollout/collect.ts';
import { fullContext } from '../rollout/context/contexts.ts';
import { unwatched } from '../rollout/watch.ts';
import { factoryUnderTest, type TestedWorld } from './world-under-test.ts';

export interface PlayOptions {
  /** A task in the place of a numbered one. */
  readonly task?: Json;
  /** Number of the task. Default 0. */
  readonly index?: number;
  /** Default `test`. */
  readonly split?: Split;
  /** Names the chance of the episode. Default 1. */
  readonly seed?: number;
  /** Options of a world that has some. */
  readonly options?: JsonObject;
  readonly maxTurns?: number;
}

/**
 * Play one episode with a policy, or with one of the world's scripted players, by the rollout that runs use: with its limits,
 * protocol and failures. What the environment throws is not raised: it stands in `stop` and `failure`.
 *
 * @example
 * const { success, transitions } = await playEpisode(treasure, mockPolicy(['5', '3']), { task: 3 });
 * const solved = await playEpisode(treasure, 'expert', { index: 7 });
 *
 * @throws TurnwiseError `config-invalid` for what is no world
 */
export async function playEpisode<Task, State>(
  world: TestedWorld<Task, State>,
  player: Policy | PlayerKind,
  { task, index = 0, split = 'test', seed = 1, options = {}, maxTurns }: PlayOptions = {},
): Promise<Episode> {
  const factory = factoryUnderTest(world);
  const played = factory.create(factory.options.parse(options));
  const policy =
    typeof player === 'string' ? scriptedPolicy(played, { player: () => player, randomRate: 0 }) : player;
  const [group] = await collectGroups(
    [{ step: 0, group: 0, split, index, task: task ?? played.tasks(split).at(index), members: 1 }],
    {
      world: played,
      policy,
      renderer: noIds,
      context: fullContext,
      sampling: { temperature: 1, topP: 1, topK: 0 },
      maxTurns: maxTurns ?? played.maxTurns,
      contextLength: Number.POSITIVE_INFINITY,
      turnTimeoutMs: 20_000,
      seed,
      signal: new AbortController().signal,
      watch: unwatched,
      batching: new Lockstep(),
      concurrency: 1,
    },
  );
  return group!.members[0]!;
}
