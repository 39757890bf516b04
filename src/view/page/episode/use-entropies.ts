/** Entropies that the run did not store, under the checkpoint that is nearest to the weights that played. */

import { useMemo } from 'preact/hooks';
import type { ShownEpisode } from '../../shapes.ts';
import { bundleStart } from '../data/bundle.ts';
import type { GroupAt } from '../navigation/places.ts';
import { useCheckpoints, useWork } from './use-work.ts';

interface Scored {
  readonly episode: ShownEpisode;
  /** Whose entropies they are, or why there are none. */
  readonly note: string | undefined;
}

/** @param wanted whether tokens are coloured by them */
export function useEntropies(at: GroupAt, member: number, stored: ShownEpisode, wanted: boolean): Scored {
  const lacks = bundleStart === undefined && stored.calls.every(({ entropies }) => entropies === undefined);
  const { nearest } = useCheckpoints(at, stored);
  const work = useWork({
    ...{ at, member, episode: stored, work: 'entropies', checkpoint: nearest },
    wanted: wanted && lacks && nearest !== undefined,
  });
  const { events, isDone, problem } = work;
  const episode = useMemo((): ShownEpisode => {
    const byCall = new Map(
      events.flatMap((event) => (event.kind === 'entropies' ? [[event.call, event.entropies] as const] : [])),
    );
    if (byCall.size === 0) return stored;
    const calls = stored.calls.map((call) => {
      const entropies = byCall.get(call.id);
      return entropies ? { ...call, entropies } : call;
    });
    return { ...stored, calls };
  }, [stored, events]);
  if (!wanted || !lacks) return { episode, note: undefined };
  if (nearest === undefined) {
    return { episode, note: 'The run stored no entropies, and has no checkpoint that could give them.' };
  }
  const note = problem
    ? problem.message
    : isDone
      ? `Entropy under checkpoint ${nearest}, computed here: the run stored none.`
      : `Reading the episode with checkpoint ${nearest} …`;
  return { episode, note };
}
