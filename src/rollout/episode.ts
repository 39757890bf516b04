/** One episode: the policy and a session take turns until something ends it. Failures become data, never rewards. */

import type { ByRole, Episode, Role } from '../core/episode.ts';
import { keyText } from '../core/episode-key.ts';
import type { Message } from '../core/messages.ts';
import type { StopReason } from '../core/stop.ts';
import { authorOf } from '../policy/policy.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import { newThread } from './context/thread.ts';
import type { EpisodeOptions, EpisodeRequest } from './episode-options.ts';
import type { GuardedSession } from './guard/guarded-session.ts';
import { drawingAnew, keepPlace, type Seat, type Way } from './kept-place.ts';
import { Recorder } from './recorder.ts';
import { conversationOf, drawsOf } from './sample-call.ts';
import { type Present, promptAt, takeTurn } from './take-turn.ts';
import { EpisodeTurns, type Said } from './turns/episode-turns.ts';
import { chanceOf, openingOf } from './turns/opening.ts';

export type { EpisodeOptions, EpisodeRequest, Keeper } from './episode-options.ts';

/** Play one episode. Never throws for what happens inside the episode. */
export async function runEpisode(request: EpisodeRequest, options: EpisodeOptions): Promise<Episode> {
  const { world, policy, turnTimeoutMs, seed } = options;
  const { from, key, drawsAs = key } = request;
  const boundary = new Boundary(options.signal, options.watch, !world.pure);
  const recorder = new Recorder(
    key,
    request.task,
    world.roles,
    (role) => authorOf(policy, role),
    from?.prefix,
  );
  const turns = turnsOf(request, options);
  const draws = drawsOf(request, options);
  const seats = new Map<Role, Seat>();
  let session: GuardedSession | undefined;
  let stop: StopReason = 'done';
  let failure: string | undefined;
  let closing: ByRole<readonly Message[]> | undefined;
  try {
    const guard = { world, boundary, timeoutMs: turnTimeoutMs, place: keyText(key) };
    for (const role of world.roles) seats.set(role, newSeat(role, turns.opening, boundary, options));
    for (const seat of from?.seats ?? []) seats.set(seat.role, { ...seat, held: undefined });
    session = from
      ? await from.open(guard, request.chance === 'fresh' ? chanceOf(drawsAs, seed) : undefined)
      : await turns.open(guard);
    recorder.part = session.part?.name;
    if (session.part) turns.playedIn(session.part);
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      const seat = seats.get(role)!;
      if (seat.thread.turns >= turns.limit) {
        stop = 'turn-limit';
        break;
      }
      session.place = `${keyText(key)} turn ${seat.thread.turns}`;
      const present: Present = { seat, session, seats, recorder, guard, turns, draws };
      await offerPlace(present, request, options);
      if (recorder.transitions === request.turns) {
        stop = 'early-stop';
        break;
      }
      stop = await takeTurn(present, request, options);
      if (stop !== 'done') break;
      // The context answered: the environment has not moved.
      if (seat.thread.answered) continue;
      const { attempt } = turns;
      const next = await turns.after(
        { role, turns: seat.thread.turns },
        () => recorder.soFar(),
        session,
        guard,
      );
      if ('stop' in next) {
        stop = next.stop;
        break;
      }
      if (turns.attempt > attempt) recorder.reopened();
      session = next.session;
      seat.said = next.said;
    }
    closing = lastWords(session, world.roles);
    await boundary.settled();
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) throw error;
    stop = error.stop;
    failure = error.message;
  } finally {
    await session?.close();
    boundary.close();
    for (const role of world.roles) policy.release?.(conversationOf(key, role));
  }
  const episode = recorder.finish(stop, failure, closing);
  const { branchedFrom } = episode;
  return {
    ...episode,
    limit: turns.limit,
    ...(branchedFrom && request.chance === 'fresh' && { branchedFrom: { ...branchedFrom, chance: 'fresh' } }),
    ...(request.copied && { startedAt: request.copied.places }),
  };
}

function turnsOf(
  { key, drawsAs, task, from, replayed, copied = replayed, say }: EpisodeRequest,
  { turns: rules, seed, maxTurns }: EpisodeOptions,
): EpisodeTurns {
  return new EpisodeTurns({
    ...{ key, task, seed, limit: maxTurns },
    ...(drawsAs && { drawsAs }),
    ...(rules && { rules }),
    ...(copied && { copied }),
    ...(replayed && { replayed }),
    ...(from && { before: from.seats }),
    ...(say && { say }),
  });
}

function newSeat(role: Role, said: Said, boundary: Boundary, { context }: EpisodeOptions): Seat {
  const thread = boundary.call('policy', 'beginning a context', () => newThread(context));
  return { role, thread, held: undefined, problem: undefined, said };
}

/** Keep the present place, where it is wanted. */
async function offerPlace(present: Present, request: EpisodeRequest, options: EpisodeOptions): Promise<void> {
  const { seat, session, seats, recorder, guard } = present;
  const { keeper, from, task, key, drawsAs = key } = request;
  // After an answer of its context, a role is still at the place that was offered before.
  if (!keeper || recorder.transitions === 0 || seat.thread.answered) return;
  const soFar = recorder.soFar();
  if (!keeper.keeps(soFar, recorder.nextTransition - 1)) return;
  const promptIds = keeper.prompts ? await promptAt(present, request, options) : undefined;
  const begun = from
    ? wayOf(request, options)
    : { opening: () => openingOf(task, drawsAs, options.seed), actions: [] };
  const place = await keepPlace(session, seat.role, guard, {
    prefix: recorder.prefix(),
    seats: [...seats.values()].map((one) => ({ ...one })),
    ...(promptIds && { promptIds }),
    ...(begun && {
      way: { ...begun, actions: [...begun.actions, ...soFar.transitions.map(({ action }) => action)] },
    }),
  });
  if (place) keeper.keep(place);
}

/** The way to where an episode went on from, with its own chance from there where that is fresh. */
function wayOf(
  { from, chance, key, drawsAs = key }: EpisodeRequest,
  { seed }: EpisodeOptions,
): Way | undefined {
  if (!from?.way || chance !== 'fresh') return from?.way;
  return drawingAnew(from.way, () => chanceOf(drawsAs, seed));
}

/** What each role would read next; nothing where the environment cannot say. */
function lastWords(session: GuardedSession, roles: readonly Role[]): ByRole<readonly Message[]> | undefined {
  try {
    const words = roles.map((role) => [role, session.observe(role)] as const);
    return words.some(([, messages]) => messages.length > 0) ? Object.fromEntries(words) : undefined;
  } catch {
    return undefined;
  }
}
