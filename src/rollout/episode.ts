/** One episode: the policy and a session take turns until something ends it. Failures become data, never rewards. */

import type { Json } from '../core/json.ts';
import { Rng } from '../core/rng.ts';
import type { StopReason } from '../core/stop.ts';
import type { Trajectory, Turn } from '../core/trajectory.ts';
import { NO_ACTION, tellProblem } from '../env/protocol.ts';
import type { Role, Session } from '../env/session.ts';
import type { World } from '../env/world.ts';
import { continued, type History, type Renderer } from '../model/renderer.ts';
import type { Policy, SamplingOptions } from '../policy/policy.ts';
import { type AgentNames, addressed } from './agent-names.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import type { ContextStrategy } from './context.ts';
import type { Watch } from './watchdog.ts';

export interface EpisodeOptions {
  readonly world: World;
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly context: ContextStrategy;
  readonly sampling: Omit<SamplingOptions, 'maxTokens'>;
  readonly maxTurns: number;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  readonly turnTimeoutMs: number;
  /** End an episode at a turn of the policy without a usable action, wherever the environment would go on. */
  readonly stopsAtVoidTurn?: boolean;
  /** What each role is called, where several agents exchange roles; read before its first turn. */
  readonly names?: AgentNames;
  /** Names all randomness of the run. */
  readonly seed: string | number;
  readonly signal: AbortSignal;
  readonly watch: Watch;
}

export interface EpisodeRequest {
  readonly id: string;
  readonly groupId: string;
  readonly task: Json;
  /** Go on from here instead of starting; the turns before are copied. */
  readonly from?: Fork;
  /** Told before every turn but the first, where the session can be copied. */
  readonly onFork?: (fork: Fork) => void;
}

/** A place in an episode from which others can go on. */
export interface Fork {
  /** The episode. */
  readonly id: string;
  readonly session: Session;
  readonly seats: readonly Seat[];
}

/** What one role has done so far. */
export interface Seat {
  readonly role: Role;
  readonly turns: Turn[];
  /** What it was shown and wrote so far. */
  past: History;
  outcome: number;
  success: boolean;
  /** What was wrong with the form of the last completion; the agent is told before its next turn. */
  problem: string | undefined;
}

/** Play one episode. Returns one trajectory for each role; never throws for what happens inside the episode. */
export async function runEpisode(request: EpisodeRequest, options: EpisodeOptions): Promise<Trajectory[]> {
  const { world, policy, turnTimeoutMs } = options;
  const boundary = new Boundary(options.signal, options.watch);
  const { from } = request;
  const seats = new Map<Role, Seat>(
    from
      ? from.seats.map((seat) => [seat.role, copyOf(seat)])
      : world.roles.map((role) => [
          role,
          {
            role,
            turns: [],
            past: { ids: [], messages: [] },
            outcome: 0,
            success: false,
            problem: undefined,
          },
        ]),
  );
  let session: Session | undefined;
  let stop: StopReason = 'done';
  let failure: string | undefined;
  try {
    // Members of a group share the start; what happens by chance afterwards is each episode's own.
    const rng = Rng.of('environment', options.seed, request.id);
    const startRng = Rng.of('start', options.seed, request.groupId);
    const opened = await boundary.step('environment', `opening ${world.name}`, turnTimeoutMs, () =>
      from?.session.fork ? from.session.fork() : world.open(request.task, rng, startRng),
    );
    session = opened;
    for (let role = opened.toMove(); role !== undefined; role = opened.toMove()) {
      const seat = seats.get(role)!;
      if (seat.turns.length >= options.maxTurns) {
        stop = 'turn-limit';
        break;
      }
      await offerFork(request, opened, seats);
      stop = await takeTurn(seat, seats, opened, boundary, request, options);
      if (stop !== 'done') break;
    }
  } catch (error) {
    if (!(error instanceof EpisodeEnd)) throw error;
    stop = error.stop;
    failure = error.message;
  } finally {
    boundary.close();
    await closeQuietly(session, turnTimeoutMs);
    for (const role of world.roles) policy.release?.(conversationOf(request, world, role));
  }
  return [...seats.values()].map((seat) => ({
    id: conversationOf(request, world, seat.role),
    groupId: world.roles.length > 1 ? `${request.groupId}/${seat.role}` : request.groupId,
    role: seat.role,
    policyVersion: policy.version,
    turns: seat.turns,
    stop,
    outcome: seat.outcome,
    success: seat.success,
    ...(from && {
      parent: conversationOf(from, world, seat.role),
      sharedTurns: from.seats.find(({ role }) => role === seat.role)!.turns.length,
    }),
    ...(failure === undefined ? {} : { failure }),
  }));
}

function copyOf(seat: Seat): Seat {
  return { ...seat, turns: [...seat.turns] };
}

/** Tell whoever asked that others can go on from here. */
async function offerFork(
  { id, onFork }: EpisodeRequest,
  session: Session,
  seats: ReadonlyMap<Role, Seat>,
): Promise<void> {
  const all = [...seats.values()];
  if (!onFork || !session.fork || all.every(({ turns }) => turns.length === 0)) return;
  onFork({ id, session: await session.fork(), seats: all.map(copyOf) });
}

/** One turn of `seat`: context, completion, action, what came back. Returns 'done' while the episode may go on. */
async function takeTurn(
  seat: Seat,
  seats: ReadonlyMap<Role, Seat>,
  session: Session,
  boundary: Boundary,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<StopReason> {
  const { world, policy, renderer } = options;
  const where = `${request.id} turn ${seat.turns.length}`;
  const { observed, anchor } = await boundary.step('environment', `observing ${where}`, undefined, () => ({
    observed:
      seat.problem === undefined
        ? session.observe(seat.role)
        : tellProblem(seat.problem, session.observe(seat.role)),
    anchor: session.anchor(seat.role),
  }));
  const name = seat.turns.length === 0 ? options.names?.[seat.role] : undefined;
  const fresh = name === undefined ? observed : addressed(observed, name);
  const context = options.context.next(seat.past, fresh, renderer);
  const room = options.contextLength - context.promptIds.length;
  if (room < 1) return 'context-overflow';

  const conversation = conversationOf(request, world, seat.role);
  const started = performance.now();
  const messages = [...seat.past.messages, ...fresh];
  const completion = await boundary.step('policy', `completing ${where}`, undefined, (inner) =>
    policy.complete({
      conversation,
      seedKey: `${options.seed}/${conversation}/${seat.turns.length}`,
      messages,
      promptIds: context.promptIds,
      sampling: { ...options.sampling, maxTokens: Math.min(renderer.maxTurnTokens, room) },
      role: seat.role,
      session,
      signal: inner,
    }),
  );
  const answered = performance.now();
  const parsed = world.protocol.parse(renderer.answer(completion.text));
  const action = parsed.ok ? parsed.action : NO_ACTION;
  const result = await boundary.step('environment', `stepping ${where}`, options.turnTimeoutMs, (inner) =>
    session.step(action, inner),
  );
  for (const [role, reward] of Object.entries(result.rewards)) {
    if (!Number.isFinite(reward)) {
      throw new EpisodeEnd(
        'failed:environment',
        `${where}: the reward of ${role} is ${reward}, not a finite number`,
      );
    }
  }

  const valid = result.valid && parsed.ok;
  seat.turns.push({
    kind: 'act',
    anchor,
    messages: fresh,
    contextIds: context.contextIds,
    extendsPrevious: context.extendsPrevious,
    ids: completion.ids,
    logprobs: completion.logprobs,
    sampled: completion.sampled,
    text: completion.text,
    finish: completion.finish,
    reward: 0,
    valid,
    ...(result.info === undefined ? {} : { info: result.info }),
    policyMs: answered - started,
    environmentMs: performance.now() - answered,
  });
  seat.problem = parsed.ok ? undefined : parsed.problem;
  seat.past = continued(context, messages, completion);
  for (const other of seats.values()) {
    const reward = result.rewards[other.role] ?? 0;
    other.outcome += reward;
    if (result.done) other.success = result.success[other.role] ?? false;
    // A reward belongs to the role's latest turn: what it did last before the reward arrived.
    const last = other.turns.at(-1);
    if (last && reward !== 0) other.turns[other.turns.length - 1] = { ...last, reward: last.reward + reward };
  }
  const isVoid = completion.sampled && !valid;
  return options.stopsAtVoidTurn && isVoid && !result.done ? 'invalid-action' : 'done';
}

/** Names one role's side of an episode. */
function conversationOf(request: Pick<EpisodeRequest, 'id'>, world: World, role: Role): string {
  return world.roles.length > 1 ? `${request.id}/${role}` : request.id;
}

/** A session that cannot be closed must not undo the episode that it served. */
async function closeQuietly(session: Session | undefined, timeoutMs: number): Promise<void> {
  if (!session) return;
  const late = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref());
  await Promise.race([session.close().catch(() => {}), late]);
}
