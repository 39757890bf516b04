/** The states of a recorded episode, drawn again: its actions are repeated in the environment, and no model is asked. */

import { chainOf } from '../../core/trajectory.ts';
import { Boundary } from '../../rollout/boundary.ts';
import { GuardedSession } from '../../rollout/guard/guarded-session.ts';
import { openingOf } from '../../rollout/turns/opening.ts';
import { unwatched } from '../../rollout/watch.ts';
import { worldOfRun } from '../../run/load/run-world.ts';
import { readRunFile } from '../../run/settings/run-recipe.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { PlayEvent, PlayRequest } from './messages.ts';
import type { Played } from './play-episode.ts';
import { notPure, recordedBefore } from './recorded.ts';
import { differs } from './steered-policy.ts';

type Shown = Pick<Played, 'root' | 'tell' | 'signal'> & {
  readonly request: PlayRequest & Required<Pick<PlayRequest, 'from'>>;
};

/** Of a picture. */
const mostCharacters = 8000;
const mostActions = 64;

/** @throws TurnwiseError `play-impure`, `play-differs`, those of loading a world and of reading an episode */
export async function showStates({ root, request, tell, signal }: Shown): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const file = readRunFile(RunDirectory.openForReading({ root, name: run.name, version }));
  const world = await worldOfRun({ root, name: run.name }, file);
  if (!world.pure) throw notPure(world.name);
  const { from } = request;
  const {
    key,
    task,
    group,
    episode,
    drawsAs = key,
  } = await recordedBefore(run, {
    ...from,
    turns: Number.POSITIVE_INFINITY,
  });
  const { transitions } = chainOf(group, episode);
  const { seed, rollout } = file.config;
  const boundary = new Boundary(signal, unwatched, false);
  const guard = { world, boundary, timeoutMs: rollout.turnTimeoutMs, place: 'the recorded episode' };
  const session = await GuardedSession.open(openingOf(task, drawsAs, seed), guard);
  const state = (turn: number, role: string): PlayEvent => {
    const picture = session.inner.render?.();
    const actions = session.inner.actions?.();
    return {
      kind: 'state',
      turn,
      role,
      messages: [],
      form: '',
      replayed: true,
      ...(picture !== undefined && { picture: picture.slice(0, mostCharacters) }),
      ...(actions && { actions: actions.slice(0, mostActions) }),
    };
  };
  try {
    for (const [turn, { action, anchor, role }] of transitions.entries()) {
      const here = session.anchor(role);
      if (here !== anchor) throw differs(turn, here, anchor);
      tell(state(turn, role));
      await session.step(action);
    }
    tell(state(transitions.length, ''));
    tell({ kind: 'done' });
  } finally {
    await session.close();
    boundary.close();
  }
}
