/** One episode: the policy and a session take turns until something ends it. Failures become data, never rewards. */

import type { ByRole, Episode, EpisodeKey, Role, Sampling } from '../core/episode.ts';
import { keyParts, keyText } from '../core/episode-key.ts';
import { TurnwiseError } from '../core/errors.ts';
import type { Json } from '../core/json/json.ts';
import type { Message } from '../core/messages.ts';
import type { StopReason } from '../core/stop.ts';
import { NO_ACTION, tellProblem } from '../env/protocol.ts';
import type { World } from '../env/world.ts';
import { continued, type History, type Prompt, type Renderer } from '../model/chat/renderer.ts';
import type { Policy } from '../policy/policy.ts';
import { type AgentNames, addressed } from './agent-names.ts';
import { Boundary, EpisodeEnd } from './boundary.ts';
import type { ContextStrategy } from './context.ts';
import type { GuardedSession, GuardOptions } from './guard/guarded-session.ts';
import { type KeptPlace, keepPlace, type Seat } from './kept-place.ts';
import { Recorder, tenths } from './recorder.ts';
import type { CopiedPrefix } from './turns/copied-prefix.ts';
import { EpisodeTurns, type Said } from './turns/episode-turns.ts';
import { chanceOf, openingOf } from './turns/opening.ts';
import type { TurnRules } from './turns/turn-control.ts';
import type { Watch } from './watchdog.ts';

export interface EpisodeOptions {
  readonly world: World;
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly context: ContextStrategy;
  readonly sampling: Omit<Sampling, 'maxTokens'>;
  readonly maxTurns: number;
  /** Longest prompt + completion in tokens. */
  readonly contextLength: number;
  readonly turnTimeoutMs: number;
  /** What comes after each turn. Default: what the environment says. */
  readonly turns?: TurnRules;
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
  /** Turns that each role has, where it is not for the turn control to say. */
  readonly maxTurns?: number;
  /** An instruction that roles read before their first turns. */
  readonly say?: readonly Message[];
  /** What it does first: what an earlier step did. */
  readonly copied?: CopiedPrefix;
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
  const turns = turnsOf(request, options);
  const seats = new Map<Role, Seat>(world.roles.map((role) => [role, newSeat(role, turns.opening)]));
  for (const seat of from?.seats ?? []) seats.set(seat.role, { ...seat, held: 0 });
  let session: GuardedSession | undefined;
  let stop: StopReason = 'done';
  let failure: string | undefined;
  let closing: ByRole<readonly Message[]> | undefined;
  try {
    const guard = { world, boundary, timeoutMs: turnTimeoutMs, place: keyText(key) };
    session = from
      ? await from.open(guard, request.chance === 'fresh' ? chanceOf(drawsAs, seed) : undefined)
      : await turns.open(guard);
    for (let role = session.toMove(); role !== undefined; role = session.toMove()) {
      const seat = seats.get(role)!;
      if (seat.turns >= options.maxTurns) {
        stop = 'turn-limit';
        break;
      }
      session.place = `${keyText(key)} turn ${seat.turns}`;
      await offerPlace({ role, session, seats, recorder, guard, turns }, request, options);
      if (recorder.transitions === request.turns) {
        stop = 'early-stop';
        break;
      }
      stop = await takeTurn(seat, { role, session, seats, recorder, guard, turns }, request, options);
      if (stop !== 'done') break;
      const next = await turns.after(seat, () => recorder.soFar(), session, guard);
      if ('stop' in next) {
        stop = next.stop;
        break;
      }
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
  return request.copied ? { ...episode, startedAt: request.copied.places } : episode;
}

function turnsOf(
  { key, drawsAs, task, copied, say }: EpisodeRequest,
  { turns: rules, seed, maxTurns }: EpisodeOptions,
): EpisodeTurns {
  return new EpisodeTurns({
    ...{ key, task, seed, limit: maxTurns },
    ...(drawsAs && { drawsAs }),
    ...(rules && { rules }),
    ...(copied && { copied }),
    ...(say && { say }),
  });
}

const policyKeyOf = ({ policyKey = '' }: Pick<EpisodeOptions, 'policyKey'>): string[] =>
  policyKey === '' ? [] : [policyKey];

function newSeat(role: Role, said: Said): Seat {
  const past = { ids: [], messages: [] };
  return { role, turns: 0, held: 0, past, lastCall: undefined, problem: undefined, said };
}

/** An episode under way, before a turn of `role`. */
interface Present {
  readonly role: Role;
  readonly session: GuardedSession;
  readonly seats: ReadonlyMap<Role, Seat>;
  readonly recorder: Recorder;
  readonly guard: GuardOptions;
  readonly turns: EpisodeTurns;
}

/** Keep the present place, where it is wanted. */
async function offerPlace(
  present: Present,
  { keeper, from, task, key, drawsAs = key }: EpisodeRequest,
  options: EpisodeOptions,
): Promise<void> {
  const { role, session, seats, recorder, guard } = present;
  if (!keeper || recorder.transitions === 0) return;
  const soFar = recorder.soFar();
  if (!keeper.keeps(soFar, recorder.nextTransition - 1)) return;
  const begun = from ? from.way : { opening: () => openingOf(task, drawsAs, options.seed), actions: [] };
  const place = await keepPlace(session, role, guard, {
    prefix: recorder.prefix(),
    seats: [...seats.values()].map((seat) => ({ ...seat })),
    ...(keeper.prompts && { promptIds: nextPrompt(seats.get(role)!, present, options).prompt.promptIds }),
    ...(begun && {
      way: { ...begun, actions: [...begun.actions, ...soFar.transitions.map(({ action }) => action)] },
    }),
  });
  if (place) keeper.keep(place);
}

/** What `seat` reads next, and all that it is shown before it acts. */
function nextPrompt(
  seat: Seat,
  { session, recorder, turns }: Present,
  options: EpisodeOptions,
): { readonly fresh: readonly Message[]; readonly prompt: Prompt } {
  const shown = session.observe(seat.role);
  const observed = seat.problem === undefined ? shown : tellProblem(seat.problem, shown);
  const name = seat.turns === 0 ? options.names?.[seat.role] : undefined;
  const named = name === undefined ? observed : addressed(observed, name);
  const fresh = turns.shown(recorder.nextCall) ?? turns.withSaid(named, seat.said);
  return { fresh, prompt: promptOf(options.context, seat.past, fresh, options.renderer) };
}

/** One turn of `seat`: context, completion, action, what came back. Returns 'done' while the episode may go on. */
async function takeTurn(
  seat: Seat,
  present: Present,
  { key, drawsAs = key }: EpisodeRequest,
  options: EpisodeOptions,
): Promise<StopReason> {
  const { policy, renderer } = options;
  const { role, session, recorder, guard, turns } = present;
  const { fresh, prompt } = nextPrompt(seat, present, options);
  const anchor = session.anchor(role);
  const room = options.contextLength - prompt.promptIds.length;
  if (room < 1) return 'context-overflow';

  const id = recorder.nextCall;
  const at = recorder.now();
  const began = performance.now();
  const messages = [...seat.past.messages, ...fresh];
  const keep = prompt.extendsPrevious ? seat.held : 0;
  const sampling = { ...options.sampling, maxTokens: Math.min(renderer.maxTurnTokens, room) };
  const completion = await guard.boundary.step('policy', `completing ${session.place}`, undefined, (signal) =>
    policy.complete({
      key,
      conversation: conversationOf(key, role),
      seedKey: [options.seed, ...policyKeyOf(options), ...keyParts(drawsAs), id].join('/'),
      messages,
      keep,
      append: Int32Array.from(prompt.promptIds.slice(keep)),
      sampling,
      role,
      session: session.inner,
      signal,
    }),
  );
  const answered = performance.now();
  const waitMs = completion.waitMs ?? 0;
  const parsed = session.parse(renderer.answer(completion.text));
  // What may be absent comes last: properties after it take ten times as long.
  recorder.call({
    id,
    conversation: role,
    role,
    by: completion.by,
    purpose: 'act',
    sampling,
    context: Int32Array.from(prompt.contextIds),
    ids: completion.ids,
    logprobs: completion.logprobs,
    messages: fresh,
    text: completion.text,
    finish: completion.finish,
    trainable: completion.trainable,
    at,
    waitMs: tenths(waitMs),
    policyMs: tenths(answered - began - waitMs),
    ...continuation(seat, prompt.extendsPrevious),
    ...(parsed.ok ? {} : { problem: parsed.problem }),
  });

  const action = parsed.ok ? parsed.action : NO_ACTION;
  const acted = recorder.now();
  const result = await session.step(action);
  const valid = result.valid && parsed.ok;
  recorder.transition(
    {
      call: id,
      role,
      anchor,
      action,
      valid,
      rewards: result.rewards,
      at: acted,
      environmentMs: tenths(performance.now() - answered),
      ...(turns.attempt > 0 && { attempt: turns.attempt }),
      ...(result.facts && { facts: result.facts }),
      ...(result.info !== undefined && { notes: { info: result.info } }),
    },
    result.done ? result.success : undefined,
  );
  seat.turns++;
  seat.lastCall = id;
  seat.held = completion.trainable === true ? prompt.promptIds.length + completion.ids.length : keep;
  seat.problem = parsed.ok ? undefined : parsed.problem;
  seat.past = continued(prompt, messages, completion);
  return 'done';
}

/** A user's context that fails ends its episode, like any other code of users. */
function promptOf(
  context: ContextStrategy,
  past: History,
  fresh: readonly Message[],
  renderer: Renderer,
): Prompt {
  try {
    return context.next(past, fresh, renderer);
  } catch (error) {
    const isDefinition = TurnwiseError.isInstance(error) && error.fields.definition !== undefined;
    if (!isDefinition) throw error;
    throw new EpisodeEnd('failed:policy', error.message, error);
  }
}

/** How the call hangs together with the role's last one. */
function continuation({ lastCall }: Seat, extendsLast: boolean) {
  if (lastCall === undefined) return {};
  return extendsLast ? { parent: lastCall } : ({ newPath: 'window' } as const);
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
