/** What the scripted players of an environment achieve; not every one has all three. */

import { measurePlayer, type PlayerMeans } from '../../src/env/play.ts';
import type { PlayerKind, World } from '../../src/env/world.ts';

export type ScriptedMeans = Partial<Record<PlayerKind, PlayerMeans>>;

export async function scripted(world: World, episodes: number): Promise<ScriptedMeans> {
  const means: ScriptedMeans = {};
  for (const player of ['random', 'beginner', 'expert'] as const) {
    try {
      means[player] = await measurePlayer(world, player, episodes);
    } catch {
      // It has no such player.
    }
  }
  return means;
}
