/** Where a checkpoint keeps the models besides its own. */

import { join } from 'node:path';

/** The critic's own model. */
export function criticFolder(checkpoint: string): string {
  return join(checkpoint, 'critic');
}

/** The model of another learner, with its critic within. */
export function playerFolder(checkpoint: string, player: string): string {
  return join(checkpoint, 'players', player);
}
