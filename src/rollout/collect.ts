/** Many episodes at once, gathered into groups. */

import type { ByRole, Episode, EpisodeKey, Group, Role, Split } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import type { Json } from '../core/json/json.ts';
import { withoutIds } from '../core/json/without-ids.ts';
import { user } from '../core/messages.ts';
import { throwIfCancelled } from '../core/signals/cancelled.ts';
import { followSignals } from '../core/signals/followed-signal.ts';
import { isTrainable } from '../core/stop.ts';
import type { Batching } from '../policy/batching.ts';
import { authorOf, type Policy } from '../policy/policy.ts';
import type { AskModel } from './ask-judge.ts';
import { EpisodeEnd } from './boundary.ts';
import { type EpisodeOptions, type EpisodeRequest, runEpisode } from './episode.ts';
import { allowManyListeners } from './node/many-listeners.ts';
import { Recorder } from './recorder.ts';
import { repeating } from './turns/repeating.ts';
import { controlledLimit } from './turns/turn-limit.ts';

/** One episode. */
export type Play = (request: EpisodeRequest, options: EpisodeOptions) => Promise<Episode>;

export interface CollectOptions extends EpisodeOptions {
  /** Which completions are asked for together. */
  readonly batching: Batching;
  /** The policy with other players in these roles; needed where groups seat players. */
  readonly seatedAs?: (seats: ByRole<string>) => Policy;
  /** Plays an episode whose code is its own, such as an agent's. Default: `runEpisode`. */
  readonly play?: Play;
  /** Asks models elsewhere for scores of groups. */
  readonly askModel?: AskModel;
  /** The instruction of episodes whose requests have none of their own. */
  readonly prompt?: string;
  /** Episodes under way at once. */
  readonly concurrency: number;
  /** Whether a role is measured; default: all are. */
  readonly counts?: (role: Role) => boolean;
  readonly onEpisode?: (done: number, total: number) => void;
  /** An episode has come to its end, whatever that is. */
  readonly onEnded?: (episode: Episode) => void;
}

export interface GroupToPlay
  extends Pick<EpisodeRequest, 'failure' | 'maxTurns' | 'say' | 'strip' | 'prompt' | 'seats' | 'copied'> {
  /** The step that asks, and the number of the group in it. */
  readonly step: number;
  readonly group: number;
  readonly split: Split;
  /** Index of the task, or the hash of one that has none. */
  readonly index: number | string;
  readonly task: Json;
  /** Episodes of the task (G). */
  readonly members: number;
  /** Names the random streams in place of `step`: evaluations at different steps draw alike. */
  readonly drawsAs?: number;
}

/** Play every group's episodes. Groups come back in the order they were asked for. */
export async function collectGroups(
  requests: readonly GroupToPlay[],
  options: CollectOptions,
): Promise<Group[]> {
  const episodes = requests.flatMap((group) =>
    Array.from({ length: group.members }, (_, member) => episodeOf(group, member, options)),
  );
  return gather(requests, await playEpisodes(episodes, options));
}

/** One of a group's episodes. */
export function episodeOf(
  {
    step,
    group,
    split,
    index,
    task,
    failure,
    drawsAs,
    maxTurns,
    say,
    strip,
    prompt,
    seats,
    copied,
  }: GroupToPlay,
  member: number,
  { world }: Pick<EpisodeOptions, 'world'>,
): EpisodeRequest {
  const key: EpisodeKey = { step, environment: world.name, split, task: index, group, member };
  return {
    key,
    task,
    ...(failure !== undefined && { failure }),
    ...(drawsAs !== undefined && { drawsAs: { ...key, step: drawsAs } }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(say && { say }),
    ...(strip && { strip }),
    ...(prompt !== undefined && { prompt }),
    ...(seats && { seats }),
    ...(copied && { copied }),
  };
}

/**
 * The options of one episode: with the turns that it has, and with its prefix said again where it copies one.
 *
 * @throws EpisodeEnd where code of users keeps it from beginning
 */
function optionsOf(request: EpisodeRequest, options: CollectOptions): CollectOptions {
  const { failure, replayed, copied = replayed, seats } = request;
  if (failure !== undefined) throw new EpisodeEnd('failed:environment', failure);
  const { key, task, maxTurns = controlledLimit(options.turns, key, task) ?? options.maxTurns } = request;
  if (maxTurns === options.maxTurns && !copied && !seats) return options;
  const policy = policyOf(request, options);
  return { ...options, maxTurns, policy: copied ? repeating(policy, copied) : policy };
}

function policyOf({ seats }: EpisodeRequest, { policy, seatedAs }: CollectOptions): Policy {
  return (seats && seatedAs?.(seats)) ?? policy;
}

/** An episode that ended before it began. */
function unplayed(request: EpisodeRequest, options: CollectOptions, end: EpisodeEnd): Episode {
  const { key, task } = request;
  const { world } = options;
  const policy = policyOf(request, options);
  return new Recorder(key, task, world.roles, (role) => authorOf(policy, role)).finish(end.stop, end.message);
}

async function playOrFail(request: EpisodeRequest, options: CollectOptions): Promise<Episode> {
  const { play = runEpisode } = options;
  const instructed = withPrompt(request, options);
  let own: CollectOptions;
  try {
    own = optionsOf(request, options);
  } catch (error) {
    if (error instanceof EpisodeEnd) return unplayed(request, options, error);
    throw error;
  }
  const { prompt } = instructed;
  const { say, strip } = request;
  const episode = await play(instructed, own);
  return {
    limit: own.maxTurns,
    ...episode,
    ...(prompt && { prompt }),
    ...(say && (strip ? { stripped: say } : { told: say })),
  };
}

/** The request with the instruction that it has, or that all have, as the first of what is said. */
function withPrompt(request: EpisodeRequest, { prompt: usual = '' }: CollectOptions): EpisodeRequest {
  const { prompt = usual, say = [] } = request;
  return prompt === '' ? request : { ...request, prompt, say: [user(prompt), ...say] };
}

/**
 * Play episodes, so many at once. They come back in the order of the requests. What ends the run in one of them ends the others
 * too, and is thrown when all have ended.
 */
export async function playEpisodes(
  episodes: readonly EpisodeRequest[],
  options: CollectOptions,
): Promise<Episode[]> {
  const { batching } = options;
  const failed = new AbortController();
  const { signal, release } = followSignals([options.signal, failed.signal]);
  const own = { ...options, signal };
  const results: Episode[] = new Array(episodes.length);
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    try {
      for (let index = next++; index < episodes.length && !signal.aborted; index = next++) {
        const episode = await playOrFail(episodes[index]!, own);
        results[index] = episode;
        options.onEnded?.(episode);
        options.onEpisode?.(++done, episodes.length);
        // Scripts in a pure environment wait for nothing; Ctrl-C and the terminal must not wait for all their episodes.
        await new Promise(setImmediate);
      }
    } catch (error) {
      // What comes after the first failure, or after Ctrl-C, may come of it.
      if (!signal.aborted) failed.abort(error);
    } finally {
      batching.leave();
    }
  };
  const workers = Math.min(options.concurrency, episodes.length);
  // Every episode under way listens for Ctrl-C, and so does every collection.
  for (const heard of [options.signal, signal]) allowManyListeners(heard);
  // All enter before any starts, or the first to wait would find itself alone and be served alone.
  for (let i = 0; i < workers; i++) batching.enter();
  await Promise.all(Array.from({ length: workers }, worker));
  release();
  if (failed.signal.aborted) throw failed.signal.reason;
  throwIfCancelled(options.signal);
  return results;
}

/** The groups that were asked for, each with its episodes in the order of their members. */
export function gather(requests: readonly GroupToPlay[], episodes: readonly Episode[]): Group[] {
  const members = new Map(requests.map(({ group }) => [group, [] as Episode[]]));
  for (const episode of episodes) members.get(episode.key.group)?.push(episode);
  return requests.map(({ step, group }) => ({
    step,
    group,
    members: members.get(group)!.sort((a, b) => a.key.member - b.key.member),
  }));
}

/** Episodes that failed, timed out or were cancelled, by what they said but for ids: for warnings. */
export function failuresOf(episodes: readonly Episode[]): Map<string, number> {
  const failures = new Map<string, number>();
  const kinds = new Map<string, string>();
  for (const { key, stop, failure = '' } of episodes) {
    if (isTrainable(stop)) continue;
    const place = /(<episode>|\S+\/\d+\/\d+)( turn \d+)?/;
    const general = failure.replaceAll(keyText(key), '<episode>').replace(place, '<episode>');
    const whole = `${stop}: ${general}`;
    const kind = withoutIds(whole);
    const text = kinds.get(kind) ?? whole;
    kinds.set(kind, text);
    failures.set(text, (failures.get(text) ?? 0) + 1);
  }
  return failures;
}
