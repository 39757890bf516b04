/** What `turnwise envs NAME --measure N` shows, for tests of the figures in READMEs. */

import { measurePlayer } from '../src/env/play.ts';
import type { World } from '../src/env/world.ts';

/** Success, return and turns of the expert, the beginner and the random player over the first `episodes` test tasks. */
export async function scores(world: World, episodes: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const player of ['expert', 'beginner', 'random'] as const) {
    const { success, outcome, turns } = await measurePlayer(world, player, episodes);
    lines.push(`${player} ${success.toFixed(3)} ${outcome.toFixed(3)} ${turns.toFixed(2)}`);
  }
  return lines;
}
