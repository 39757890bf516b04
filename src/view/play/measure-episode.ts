/**
 * What each turn of a recorded episode was worth: continuations are played from before it and counted, a Monte-Carlo value.
 * Nothing of them is stored.
 */

import type { Episode, EpisodeKey } from '../../core/episode.ts';
import { mean, wilsonInterval } from '../../core/statistics.ts';
import { isTrainable } from '../../core/stop.ts';
import { playEpisodes } from '../../rollout/collect.ts';
import type { EpisodeRequest } from '../../rollout/episode.ts';
import { openCheckpoint } from '../../run/open-checkpoint.ts';
import { version } from '../../run/version.ts';
import { finite } from '../server/finite.ts';
import { RunsFolder } from '../server/runs-folder.ts';
import type { MeasuredRole, PlayEvent, PlayRequest } from './messages.ts';
import { notSteered, type Played } from './play-episode.ts';
import { notPure, type Recorded, recordedBefore, replayFrom, requestOf } from './recorded.ts';
import { playersIn } from './seats-of-record.ts';
import { playedOn } from './turns-of-record.ts';
import { walkRecord, withBranchChance } from './walk-record.ts';

/** Members of groups are fewer, so that no continuation shares its chance with an episode of the run. */
const firstMember = 1_000_000;
const usualContinuations = 16;

type Measured = Pick<Played, 'root' | 'tell' | 'signal'> & {
  readonly request: PlayRequest & Required<Pick<PlayRequest, 'from'>>;
};

/** @throws TurnwiseError `play-agent`, `play-impure`, `play-differs`, `play-unrecorded`, those of opening a checkpoint and of reading an episode */
export async function measureEpisode({ root, request, tell, signal }: Measured): Promise<void> {
  const run = new RunsFolder({ root, version }).find(request.run);
  const stored = await recordedBefore(run, request.from);
  const { checkpoint, continuations = usualContinuations } = request;
  const learner = await openCheckpoint({
    root,
    name: run.name,
    ...(checkpoint !== undefined && { step: checkpoint }),
    ...(stored.label === 'training' && { turns: true }),
    players: playersIn(stored, { root, name: run.name }),
    signal,
  });
  try {
    const { world, config } = learner;
    if (learner.playWith) throw notSteered(world.name);
    if (!world.pure) throw notPure(world.name);
    const walk = { world, config, signal };
    const past = await withBranchChance(stored, walk);
    await walkRecord(past, walk, () => {});
    const { options: usual, limit } = await playedOn({ past, root, run, learner, signal });
    const options = { ...usual, policyKey: `measure ${request.attempt}` };
    const places = Math.max(1, past.chain.transitions.length);
    for (let turn = 0; turn < places; turn++) {
      const requests = Array.from({ length: continuations }, (_, index) =>
        continuation(past, turn, limit, firstMember + turn * continuations + index),
      );
      tell(measured(turn, places, await playEpisodes(requests, options)));
    }
    tell({ kind: 'done', checkpoint: learner.checkpointStep });
  } finally {
    await learner.close();
  }
}

/** The same start or the same turns, and from there a chance of its own. */
function continuation(past: Recorded, turns: number, limit: number, member: number): EpisodeRequest {
  const request = requestOf(past, replayFrom(past, { turns, fresh: true }), limit);
  const own = (key: EpisodeKey): EpisodeKey => ({ ...key, member });
  const { key, drawsAs = key } = request;
  return { ...request, key: own(key), drawsAs: own(drawsAs) };
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
