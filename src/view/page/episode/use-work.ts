/** What a process of the viewer says of a recorded episode: its states, the values of its turns, its entropies. */

import type { PlayEvent, PlayRequest, PlayWork } from '../../play/messages.ts';
import type { Problem, RunOverview, ShownEpisode } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import { runPath } from '../data/client.ts';
import { useLoaded } from '../data/loaded.ts';
import type { GroupAt } from '../navigation/places.ts';
import { usePlay } from '../play/use-play.ts';
import { nearestStored } from '../run/run-view.ts';

export interface Work {
  readonly events: readonly PlayEvent[];
  readonly isDone: boolean;
  readonly problem: Problem | undefined;
}

interface Asked {
  readonly at: GroupAt;
  readonly episode: ShownEpisode;
  readonly member: number;
  readonly work: PlayWork;
  /** Nothing is asked for while it is false. */
  readonly wanted: boolean;
  readonly checkpoint?: number | undefined;
  readonly continuations?: number;
}

export function useWork({ at, episode, member, work, wanted, checkpoint, continuations }: Asked): Work {
  const { run, place, group } = at;
  const { label, key } = episode;
  const request: PlayRequest = {
    ...{ run, work, attempt: 0, split: key.split, task: typeof key.task === 'number' ? key.task : 0 },
    ...(checkpoint !== undefined && { checkpoint }),
    ...(continuations !== undefined && { continuations }),
    from: { place, group, member, turns: 0, ...(label !== 'training' && { label }) },
  };
  const { events, problem } = usePlay(
    wanted && bundleStart === undefined ? JSON.stringify(request) : undefined,
  );
  return { events, problem, isDone: events.at(-1)?.kind === 'done' };
}

const useOverview = ({ run }: GroupAt): RunOverview | undefined =>
  useLoaded<RunOverview>(bundleStart === undefined ? runPath(run) : undefined).value;

/** Why nobody can go on from a turn of this run, in a sentence. Undefined where that can be done, or is not known. */
export function useUnrepeatable(at: GroupAt): string | undefined {
  switch (useOverview(at)?.history.start?.unrepeatable) {
    case 'agent':
      return 'An agent’s own code asks the model: its episodes cannot be taken back to a turn.';
    case 'impure':
      return 'This environment is not pure: its episodes cannot be taken back to a turn.';
    default:
      return undefined;
  }
}

/** Checkpoints of the run, and the one whose weights are nearest to those that played. */
export function useCheckpoints(
  at: GroupAt,
  { key, label }: ShownEpisode,
): {
  readonly all: readonly number[];
  readonly nearest: number | undefined;
} {
  const all = useOverview(at)?.checkpoints ?? [];
  const learned = label === 'training' ? key.step - 1 : key.step;
  return { all, nearest: nearestStored(all, learned) };
}
