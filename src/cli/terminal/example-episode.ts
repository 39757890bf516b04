/** A scripted episode in the form that people are shown. */

import type { Json } from '../../core/json/json.ts';
import { playEpisode } from '../../env/play.ts';
import type { PlayerKind, World } from '../../env/world.ts';
import type { Episode } from '../../show/episode-text.ts';

/** One episode of `task` by a scripted player, with a drawing of each state; undefined where there is no such player. */
export async function exampleEpisode(
  world: World,
  task: Json,
  seed: number,
  player: PlayerKind,
): Promise<Episode | undefined> {
  if (world.script === undefined) return undefined;
  const pictures: (string | undefined)[] = [];
  let missing = false;
  const played = await playEpisode(world, task, seed, async (session, rng) => {
    pictures.push(session.render?.());
    const action = await world.script?.(session, player, rng);
    missing ||= action === undefined;
    return action ?? '';
  });
  if (missing) return undefined;
  const several = world.roles.length > 1;
  return {
    turns: played.turns.map(({ role, messages, action, rewards, valid }, index) => ({
      messages,
      text: several ? `${role}: ${action}` : action,
      reward: rewards[several ? world.roles[0]! : role] ?? 0,
      valid,
      ...(pictures[index] !== undefined && { picture: pictures[index] }),
    })),
    outcome: played.outcome,
    ...(several ? {} : { success: played.success }),
    stop: played.done ? 'done' : 'turn-limit',
    closing: played.closing,
  };
}
