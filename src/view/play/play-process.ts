/** The process that plays for the viewer: one episode, then it ends. It reads checkpoints and writes nothing. */

import { setPriority } from 'node:os';
import { TurnwiseError } from '../../core/errors.ts';
import { thrownText } from '../../core/safe-text.ts';
import { withUserCode } from '../../rollout/node/stray-errors.ts';
import type { PlayEvent, PlayMove, PlayRequest } from './messages.ts';
import { playEpisode } from './play-episode.ts';

const niceness = 5;

const tell = (event: PlayEvent): void => {
  process.send?.(event);
};

const moves: PlayMove[] = [];
let wake: (move: PlayMove) => void = (move) => moves.push(move);

function move(): Promise<PlayMove> {
  const next = moves.shift();
  if (next) return Promise.resolve(next);
  return new Promise((resolve) => {
    wake = (given) => {
      wake = (later) => moves.push(later);
      resolve(given);
    };
  });
}

try {
  setPriority(niceness);
} catch {
  // The system does not let us.
}

// Whoever asked is gone.
process.on('disconnect', () => process.exit(0));
process.once('message', (asked) => {
  const { root, request } = asked as { readonly root: string; readonly request: PlayRequest };
  process.on('message', (given) => wake(given as PlayMove));
  const { signal } = new AbortController();
  withUserCode(signal, () => playEpisode({ root, request, tell, move, signal }))
    .catch((error: unknown) => {
      const code = TurnwiseError.isInstance(error) ? error.code : 'unexpected';
      tell({ kind: 'problem', code, message: thrownText(error, 2000) });
    })
    .finally(() => process.disconnect?.());
});
