/**
 * What each turn of a recorded episode was worth: continuations are played from before it and counted, a Monte-Carlo value.
 * Nothing of them is stored.
 */

import type { Episode, EpisodeKey } from '../../core/episode.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { mean, wilsonInterval } from '../../core/statistics.ts';
import { isTrainable } from '../../core/stop.ts';
import { type CollectOptions, playEpisodes } from '../../rollout/collect.ts';
import type { EpisodeRequest } from '../../rollout/episode.ts';
import type { KeptPlace } from '../../rollout/kept-place.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { playOptions } from '../../train/kit/learner.ts';
import { finite } from '../server/finite.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { MeasuredRole, PlayEvent, PlayRequest } from './messages.ts';
import { notSteered, type Played } from './play-episode.ts';
import { notPure, type Recorded, recordedBefore } from './recorded.ts';
import { type Steering, steeredPolicy } from './steered-policy.ts';

/** Members of groups are fewer, so that no continuation shares its chance with an episode of the run. */
const firstMember = 1_000_000;
const usualContinuations = 16;

type Measured = Pick<Played, 'root' | 'tell' | 'signal'> & {
  readonly request: PlayRequest & Required<Pick<PlayRequest, 'from'>>;
};

/** @throws TurnwiseError `play-agent`, `play-impure`, `play-differs`, those of opening a checkpoint and of reading an episode */
export async function measureEpisode({ root, request, tell, signal }: Measured): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const past = await recordedBefore(run, { ...request.from, turns: Number.POSITIVE_INFINITY });
  const { checkpoint, continuations = usualContinuations } = request;
  const learner = await openCheckpoint({
    root,
    name: run.name,
    ...(checkpoint !== undefined && { step: checkpoint }),
    signal,
  });
  try {
    if (learner.playWith) throw notSteered(learner.world.name);
    if (!learner.world.pure) throw notPure(learner.world.name);
    const options = { ...playOptions(learner, signal), policyKey: `measure ${request.attempt}` };
    const places = await placesOf(past, options, learner.renderer);
    try {
      for (const [turn, place] of places.entries()) {
        const requests = Array.from({ length: continuations }, (_, index) =>
          continuation(past, place, firstMember + turn * continuations + index),
        );
        tell(measured(turn, places.length, await playEpisodes(requests, options)));
      }
    } finally {
      await Promise.all(places.map((place) => place?.dispose()));
    }
    tell({ kind: 'done', checkpoint: learner.checkpointStep });
  } finally {
    await learner.close();
  }
}

/** The start, and the place after each turn but the last: the turns are played again as they were recorded. */
async function placesOf(
  { key, task, episode, turns, drawsAs }: Recorded,
  options: CollectOptions,
  renderer: Steering['renderer'],
): Promise<(KeptPlace | undefined)[]> {
  const wanted = (episode.branchedFrom?.transition ?? -1) + episode.transitions.length;
  const kept: KeptPlace[] = [];
  const policy = steeredPolicy({
    ...{ policy: options.policy, renderer, recorded: turns, top: 0 },
    ask: async () => ({ kind: 'sample' }),
    onReplay: () => {},
    onTurn: () => {},
  });
  const keeper = {
    prompts: false,
    keeps: () => kept.length < wanted,
    keep: (place: KeptPlace): void => void kept.push(place),
  };
  const request = { key, task, ...(drawsAs && { drawsAs }), keeper };
  const [replayed] = await playEpisodes([request], { ...options, policy, concurrency: 1 });
  if (kept.length === Math.max(0, wanted)) return [undefined, ...kept];
  throw new TurnwiseError('play-differs', {
    what: 'The recorded episode cannot be played again up to its last turn',
    seen: replayed?.failure ?? `an end after ${replayed?.transitions.length ?? 0} turns`,
    allowed: `${wanted + 1} turns`,
    next: 'Measure an episode of a run that this version of the environment made',
  });
}

/** The same start or the same turns, and from there a chance of its own. */
function continuation(
  { key, task, drawsAs = key }: Recorded,
  place: KeptPlace | undefined,
  member: number,
): EpisodeRequest {
  const own = (of: EpisodeKey): EpisodeKey => ({ ...of, member });
  return {
    key: own(key),
    task,
    drawsAs: own(drawsAs),
    ...(place && { from: place, chance: 'fresh' as const }),
  };
}

function measured(turn: number, of: number, episodes: readonly Episode[]): PlayEvent {
  const ended = episodes.filter(({ stop }) => isTrainable(stop));
  const roles = Object.keys(episodes[0]?.outcome ?? {});
  return {
    kind: 'measured',
    turn,
    of,
    played: ended.length,
    roles: Object.fromEntries(
      roles.map((role): [string, MeasuredRole] => {
        const successes = ended.filter(({ success }) => success[role]).length;
        const { low, high } = wilsonInterval(successes, ended.length);
        const returns = ended.map(({ outcome }) => outcome[role] ?? 0);
        return [
          role,
          {
            success: ended.length === 0 ? 0 : successes / ended.length,
            interval: [low, high],
            return: ended.length === 0 ? null : finite(mean(returns)),
          },
        ];
      }),
    ),
  };
}
