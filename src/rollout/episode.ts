/** One episode: the policy and a session take turns until something ends it. Failures become data, never rewards. */

import type {
  ByRole,
  Call,
  Episode,
  EpisodeKey,
  NewPath,
  Role,
  Sampling,
  Transition,
} from '../core/episode.ts';
import { keyParts, keyText } from '../core/episode-key.ts';
import type { Json } from '../core/json/json.ts';
import { assistant, type Message, type ToolDeclaration } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import type { StopReason } from '../core/stop.ts';
import { NO_ACTION, tellProblem } from '../env/protocol.ts';
import type { World } from '../env/world.ts';
import { isCompletion, type Renderer } from '../model/chat/renderer.ts';
import { linkOf } from '../model/chat/token-path.ts';
import type { Completion, Policy } from '../policy/policy.ts';
import { type AgentNames, addressed } from './agent-names.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import { type Asked, answerTo, type Guard, type NextAct, nextAct } from './context/next-act.ts';
import type { Context } from './context/strategy.ts';
import {
  isPlain,
  newThread,
  promptIdsOf,
  type Rendered,
  recordedParts,
  type Setting,
  withCall,
} from './context/thread.ts';
import { GuardedSession, type GuardOptions, type OpenRequest } from './guard/guarded-session.ts';
import { type KeptPlace, keepPlace, type Seat } from './kept-place.ts';
import { Recorder, tenths } from './recorder.ts';
import type { Watch } from './watchdog.ts';

export interface EpisodeOptions {
  readonly world: World;
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly context: Context;
  readonly sampling: Omit<Sampling, 'maxTokens'>;
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
  /** Names, besides it, what the policy samples and nothing else. */
  readonly policyKey?: string;
  readonly signal: AbortSignal;
  readonly watch: Watch;
}

export interface EpisodeRequest {
  readonly key: EpisodeKey;
  readonly task: Json;
  /** Names its random streams in place of its own key: evaluations at different steps draw alike. */
  readonly drawsAs?: EpisodeKey;
  /** Go on from here instead of starting. */
  readonly from?: KeptPlace;
  /** Of what comes after it: what its origin met, or a chance of its own. Default: same. */
  readonly chance?: 'same' | 'fresh';
  /** Transitions of its own after which it stops with 'early-stop'. */
  readonly turns?: number;
  /** Keeps places from which others may go on. */
  readonly keeper?: Keeper;
}

/** Decides after every transition but the last whether its place is kept, and owns those that are. */
export interface Keeper {
  /** @param episode as it would be if it stopped there */
  keeps(episode: Episode, transition: number): boolean;
  keep(place: KeptPlace): void;
  /** Whether the next prompt at each is wanted. */
  readonly prompts: boolean;
}

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

const policyKeyOf = ({ policyKey = '' }: Pick<EpisodeOptions, 'policyKey'>): string[] =>
  policyKey === '' ? [] : [policyKey];

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

/** Messages that `seat` has not read yet. */
function freshFor(seat: Seat, session: GuardedSession, { names }: EpisodeOptions): readonly Message[] {
  if (seat.thread.answered) return seat.thread.answered;
  const shown = session.observe(seat.role);
  const observed = seat.problem === undefined ? shown : tellProblem(seat.problem, shown);
  const name = seat.thread.turns === 0 ? names?.[seat.role] : undefined;
  return name === undefined ? observed : addressed(observed, name);
}

function settingOf(
  role: Role,
  { task, key, drawsAs = key }: EpisodeRequest,
  { context, renderer, contextLength, maxTurns, world, seed }: EpisodeOptions,
): Setting {
  const tools = offeredBy(world);
  return {
    context,
    renderer,
    role,
    task,
    ...(tools && { tools }),
    contextLength,
    limit: maxTurns,
    rng: (calls) => Rng.of('context', seed, ...keyParts(drawsAs), role, calls),
  };
}

function offeredBy({ protocol }: World): readonly ToolDeclaration[] | undefined {
  return protocol.tools?.map((tool) => (tool.function ?? tool) as unknown as ToolDeclaration);
}

/** The prompt at a place, for critics; undefined where the context asks for something first. */
async function promptAt(
  seat: Seat,
  session: GuardedSession,
  { boundary, timeoutMs }: GuardOptions,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<Int32Array | undefined> {
  const guard = { boundary, timeoutMs, place: session.place };
  const asks = new EpisodeEnd('early-stop', 'the context asks first');
  try {
    const fresh = freshFor(seat, session, options);
    const next = await nextAct(
      seat.thread,
      fresh,
      settingOf(seat.role, request, options),
      guard,
      async () => {
        throw asks;
      },
    );
    return 'stop' in next ? undefined : promptIdsOf(next.rendered);
  } catch (error) {
    if (error === asks) return undefined;
    throw error;
  }
}

/** One turn of `seat`: context, completion, action, what came back. Returns 'done' while the episode may go on. */
async function takeTurn(
  seat: Seat,
  recorder: Recorder,
  session: GuardedSession,
  boundary: Boundary,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<StopReason> {
  const { role } = seat;
  const turn: TurnAt = {
    seat,
    recorder,
    session,
    guard: { boundary, timeoutMs: options.turnTimeoutMs, place: session.place },
    request,
    options,
    fresh: freshFor(seat, session, options),
    anchor: session.anchor(role),
  };
  const setting = settingOf(role, request, options);
  const next = await nextAct(seat.thread, turn.fresh, setting, turn.guard, (asked) => complete(turn, asked));
  if ('stop' in next) return next.stop;
  if (options.contextLength - next.rendered.prompt.length < 1) return 'context-overflow';
  return act(turn, next, setting);
}

/** A turn under way. */
interface TurnAt {
  readonly seat: Seat;
  readonly recorder: Recorder;
  readonly session: GuardedSession;
  readonly guard: Guard;
  readonly request: EpisodeRequest;
  readonly options: EpisodeOptions;
  readonly fresh: readonly Message[];
  readonly anchor: string;
}

/** Complete a prompt that the strategy asks for. It is no act, so it shows nothing new. */
async function complete(turn: TurnAt, { purpose, rendered, script }: Asked): Promise<Call> {
  const { recorder, options, session } = turn;
  const { call, completion } = await sample(turn, rendered, {
    purpose,
    why: 'asked',
    ...(turn.options.policy.author.kind === 'script' && { script: () => script?.(session.inner) }),
  });
  const parts = recordedParts(rendered.parts, [], call.id);
  const untrained = completion.trainable === true && !options.context.trained;
  const asked: Call = { ...call, parts, ...(untrained && { trainable: 'left-out' }) };
  recorder.call(asked);
  return asked;
}

/** The act, and what the environment does because of it, or the strategy answers to it. */
async function act(
  turn: TurnAt,
  next: Exclude<NextAct, { stop: StopReason }>,
  setting: Setting,
): Promise<StopReason> {
  const { seat, recorder, session, options, fresh, guard } = turn;
  const { rendered } = next;
  const sampled = await sample(turn, rendered, { purpose: 'act', why: 'window' });
  const answered = performance.now();
  const { completion } = sampled;
  const base: Call = {
    ...sampled.call,
    messages: fresh,
    ...(isPlain(rendered, fresh) ? {} : { parts: recordedParts(rendered.parts, fresh, sampled.call.id) }),
  };
  const thread = {
    ...withCall(next.thread, rendered.prompt, base),
    turns: next.thread.turns + 1,
  };
  const own = answerTo(base, { ...next, thread }, setting, guard);
  if (own) {
    recorder.call(base);
    seat.thread = own;
    seat.problem = undefined;
    return 'done';
  }
  const parsed = session.parse(options.renderer.answer(completion.text));
  const call: Call = parsed.ok ? base : { ...base, problem: parsed.problem };
  recorder.call(call);
  const action = parsed.ok ? parsed.action : NO_ACTION;
  const at = recorder.now();
  const result = await session.step(action);
  const valid = result.valid && parsed.ok;
  const transition: Transition = {
    call: call.id,
    role: seat.role,
    anchor: turn.anchor,
    action,
    valid,
    rewards: result.rewards,
    at,
    environmentMs: tenths(performance.now() - answered),
    ...(result.facts && { facts: result.facts }),
    ...(result.info !== undefined && { notes: { info: result.info } }),
  };
  recorder.transition(transition, result.done ? result.success : undefined);
  seat.thread = { ...thread, transitions: [...thread.transitions, transition] };
  seat.problem = parsed.ok ? undefined : parsed.problem;
  const isVoid = completion.trainable === true && !valid;
  return options.stopsAtVoidTurn && isVoid && !result.done ? 'invalid-action' : 'done';
}

/** Have the policy complete a prompt. */
async function sample(
  { seat: { role }, recorder, session, guard: { boundary }, request, options }: TurnAt,
  rendered: Rendered,
  {
    purpose,
    why,
    script,
  }: {
    readonly purpose: string;
    readonly why: NewPath;
    readonly script?: () => string | undefined;
  },
): Promise<{ readonly call: Call; readonly completion: Completion }> {
  const { policy, renderer } = options;
  const { key, drawsAs = key } = request;
  const { prompt, said, tools } = rendered;
  const id = recorder.nextCall;
  const at = recorder.now();
  const began = performance.now();
  const room = options.contextLength - prompt.length;
  const sampling = { ...options.sampling, maxTokens: Math.min(renderer.maxTurnTokens, room) };
  const completion = await boundary.step('policy', `completing ${session.place}`, undefined, (signal) =>
    policy.complete({
      key,
      conversation: conversationOf(key, role),
      seedKey: [options.seed, ...policyKeyOf(options), ...keyParts(drawsAs), id].join('/'),
      messages: said.map((one) => (isCompletion(one) ? assistant(one.text) : one)),
      promptIds: Array.from(promptIdsOf(rendered)),
      sampling,
      role,
      session: session.inner,
      ...(script && { script }),
      signal,
    }),
  );
  const waitMs = completion.waitMs ?? 0;
  // What may be absent comes last: properties after it take ten times as long.
  const call: Call = {
    id,
    conversation: role,
    role,
    by: completion.by,
    purpose,
    sampling,
    context: prompt.context,
    ids: completion.ids,
    logprobs: completion.logprobs,
    messages: [],
    text: completion.text,
    finish: completion.finish,
    trainable: completion.trainable,
    at,
    waitMs: tenths(waitMs),
    policyMs: tenths(performance.now() - began - waitMs),
    ...linkOf(prompt, why),
    ...(tools && { tools: recorder.declare(tools), reply: renderer.read(completion.text, tools) }),
  };
  return { call, completion };
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

/** Names one role's side of an episode in the sampler's cache. */
function conversationOf(key: EpisodeKey, role: Role): string {
  return `${keyText(key)}/${role}`;
}
