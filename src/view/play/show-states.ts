/** The states of a recorded episode, drawn again: its actions are repeated in the environment, and no model is asked. */

import type { GuardedSession } from '../../rollout/guard/guarded-session.ts';
import { worldOfRun } from '../../run/load/run-world.ts';
import { readRunFile } from '../../run/settings/run-recipe.ts';
import { version } from '../../run/version.ts';
import { RunDirectory } from '../../store/run-directory.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { PlayEvent, PlayRequest } from './messages.ts';
import type { Played } from './play-episode.ts';
import { notPure, recordedBefore } from './recorded.ts';
import { walkRecord, withBranchChance } from './walk-record.ts';

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
  const options = { world, config: file.config, signal };
  const past = await withBranchChance(await recordedBefore(run, request.from), options);
  await walkRecord(past, options, (session, turn, role) => tell(stateOf(session, turn, role)));
  tell({ kind: 'done' });
}

function stateOf({ inner }: GuardedSession, turn: number, role: string): PlayEvent {
  const picture = inner.render?.();
  const actions = inner.actions?.();
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
}
