/** The process that plays for the viewer: one piece of work, then it ends. It reads checkpoints and writes nothing. */

import { setPriority } from 'node:os';
import { TurnwiseError } from '../../core/errors.ts';
import { thrownText } from '../../core/safe-text.ts';
import { withUserCode } from '../../rollout/node/stray-errors.ts';
import { measureEpisode } from './measure-episode.ts';
import type { PlayEvent, PlayMove, PlayRequest } from './messages.ts';
import { playEpisode } from './play-episode.ts';
import { scoreEpisode } from './score-episode.ts';
import { showStates } from './show-states.ts';

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

const works = { states: showStates, measure: measureEpisode, entropies: scoreEpisode } as const;

function perform(root: string, request: PlayRequest, signal: AbortSignal): Promise<void> {
  const { work, from } = request;
  if (work === undefined || from === undefined) return playEpisode({ root, request, tell, move, signal });
  return works[work]({ root, request: { ...request, from }, tell, signal });
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
  withUserCode(signal, () => perform(root, request, signal))
    .catch((error: unknown) => {
      const code = TurnwiseError.isInstance(error) ? error.code : 'unexpected';
      tell({ kind: 'problem', code, message: thrownText(error, 2000) });
    })
    .finally(() => process.disconnect?.());
});
