/** One episode: the policy and a session take turns until something ends it. Failures become data, never rewards. */

import type { ByRole, Episode, EpisodeKey, Role } from '../core/episode.ts';
import { keyParts, keyText } from '../core/episode-key.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import type { StopReason } from '../core/stop.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import { newThread } from './context/thread.ts';
import type { EpisodeOptions, EpisodeRequest } from './episode-options.ts';
import { GuardedSession, type GuardOptions, type OpenRequest } from './guard/guarded-session.ts';
import { keepPlace, type Seat } from './kept-place.ts';
import { Recorder } from './recorder.ts';
import { conversationOf, promptAt, takeTurn } from './take-turn.ts';

export type { EpisodeOptions, EpisodeRequest, Keeper } from './episode-options.ts';

/** Play one episode. Never throws for what happens inside the episode. */
export async function runEpisode(request: EpisodeRequest, options: EpisodeOptions): Promise<Episode> {
  const { world, policy, turnTimeoutMs, seed } = options;
  const { from, key, drawsAs = key } = request;
  const boundary = new Boundary(options.signal, options.watch, !world.pure);
  const recorder = new Recorder(key, request.task, world.roles, policy.author, from?.prefix);
  const seats = new Map<Role, Seat>();
  let session: GuardedSession | undefined;
  let stop: StopReason = 'done';
  let failure: string | undefined;
  let closing: ByRole<readonly Message[]> | undefined;
  try {
    const guard = { world, boundary, timeoutMs: turnTimeoutMs, place: keyText(key) };
    for (const role of world.roles) seats.set(role, newSeat(role, boundary, options));
    for (const seat of from?.seats ?? []) seats.set(seat.role, { ...seat });
    const opening = openingOf(request.task, drawsAs, seed);
    session = from
      ? await from.open(guard, request.chance === 'fresh' ? opening.rng : undefined)
      : await GuardedSession.open(opening, guard);
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      const seat = seats.get(role)!;
      if (seat.thread.turns >= options.maxTurns) {
        stop = 'turn-limit';
        break;
      }
      session.place = `${keyText(key)} turn ${seat.thread.turns}`;
      await offerPlace({ role, session, seats, recorder, guard }, request, options);
      if (recorder.transitions === request.turns) {
        stop = 'early-stop';
        break;
      }
      stop = await takeTurn(seat, recorder, session, boundary, request, options);
      if (stop !== 'done') break;
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
  return recorder.finish(stop, failure, closing);
}

/** Members of a group share the start; what happens by chance afterwards is each episode's own. */
export function openingOf(task: Json, key: EpisodeKey, seed: string | number): OpenRequest {
  const { environment, split, task: index, step, group } = key;
  return {
    task,
    rng: Rng.of('chance', seed, ...keyParts(key)),
    startRng: Rng.of('start', seed, environment, split, index, step, group),
  };
}

function newSeat(role: Role, boundary: Boundary, { context }: EpisodeOptions): Seat {
  const thread = boundary.call('policy', 'beginning a context', () => newThread(context));
  return { role, thread, problem: undefined };
}

/** An episode under way, before a turn of `role`. */
interface Present {
  readonly role: Role;
  readonly session: GuardedSession;
  readonly seats: ReadonlyMap<Role, Seat>;
  readonly recorder: Recorder;
  readonly guard: GuardOptions;
}

/** Keep the present place, where it is wanted. */
async function offerPlace(
  { role, session, seats, recorder, guard }: Present,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<void> {
  const { keeper, from, task, key, drawsAs = key } = request;
  const seat = seats.get(role)!;
  // After an answer of its context, a role is still at the place that was offered before.
  if (!keeper || recorder.transitions === 0 || seat.thread.answered) return;
  const soFar = recorder.soFar();
  if (!keeper.keeps(soFar, recorder.nextTransition - 1)) return;
  const promptIds = keeper.prompts ? await promptAt(seat, session, guard, request, options) : undefined;
  const begun = from ? from.way : { opening: () => openingOf(task, drawsAs, options.seed), actions: [] };
  const place = await keepPlace(session, role, guard, {
    prefix: recorder.prefix(),
    seats: [...seats.values()].map((seat) => ({ ...seat })),
    ...(promptIds && { promptIds }),
    ...(begun && {
      way: { ...begun, actions: [...begun.actions, ...soFar.transitions.map(({ action }) => action)] },
    }),
  });
  if (place) keeper.keep(place);
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
