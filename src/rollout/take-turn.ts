/** One turn of a role: its context gives a conversation, the policy completes it, and the environment takes the action. */

import type { Call, EpisodeKey, NewPath, Role, Transition } from '../core/episode.ts';
import { keyParts, keyText } from '../core/episode-key.ts';
import { assistant, type Message, type ToolDeclaration } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import type { StopReason } from '../core/stop.ts';
import { NO_ACTION, tellProblem } from '../env/protocol.ts';
import type { World } from '../env/world.ts';
import { isCompletion } from '../model/chat/renderer.ts';
import { idsOfPrompt, linkOf, type Prompt } from '../model/chat/token-path.ts';
import type { Completion, CompletionRequest } from '../policy/policy.ts';
import { actChoices } from './act-choices.ts';
import { addressed } from './agent-names.ts';
import { EpisodeEnd } from './boundary.ts';
import { type Asked, answerTo, type Guard, type NextAct, nextAct } from './context/next-act.ts';
import {
  isPlain,
  promptIdsOf,
  type Rendered,
  recordedParts,
  type Setting,
  withCall,
} from './context/thread.ts';
import type { EpisodeOptions, EpisodeRequest } from './episode-options.ts';
import type { GuardedSession, GuardOptions } from './guard/guarded-session.ts';
import type { Seat } from './kept-place.ts';
import { type Recorder, tenths } from './recorder.ts';
import type { EpisodeTurns } from './turns/episode-turns.ts';

/** An episode under way, before a turn of `seat`. */
export interface Present {
  readonly seat: Seat;
  readonly session: GuardedSession;
  readonly seats: ReadonlyMap<Role, Seat>;
  readonly recorder: Recorder;
  readonly guard: GuardOptions;
  readonly turns: EpisodeTurns;
}

/** Messages that `seat` has not read yet. */
function freshFor(
  { seat, session, recorder, turns }: Present,
  { names }: EpisodeOptions,
): readonly Message[] {
  if (seat.thread.answered) return seat.thread.answered;
  const shown = session.observe(seat.role);
  const observed = seat.problem === undefined ? shown : tellProblem(seat.problem, shown);
  const name = seat.thread.turns === 0 ? names?.[seat.role] : undefined;
  const named = name === undefined ? observed : addressed(observed, name);
  return turns.shown(recorder.nextCall) ?? turns.withSaid(named, seat.said);
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
export async function promptAt(
  present: Present,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<Int32Array | undefined> {
  const { seat } = present;
  const asks = new EpisodeEnd('early-stop', 'the context asks first');
  try {
    const setting = settingOf(seat.role, request, options);
    const next = await nextAct(
      seat.thread,
      freshFor(present, options),
      setting,
      guardOf(present),
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

const guardOf = ({ guard: { boundary, timeoutMs }, session: { place } }: Present): Guard => ({
  boundary,
  timeoutMs,
  place,
});

/** One turn: context, completion, action, what came back. Returns 'done' while the episode may go on. */
export async function takeTurn(
  present: Present,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<StopReason> {
  const { seat, session, recorder, turns } = present;
  const turn: TurnAt = {
    ...{ seat, recorder, session, request, options },
    attempt: turns.attempt,
    guard: guardOf(present),
    fresh: freshFor(present, options),
    anchor: session.anchor(seat.role),
  };
  const setting = settingOf(seat.role, request, options);
  const next = await nextAct(seat.thread, turn.fresh, setting, turn.guard, (asked) => complete(turn, asked));
  if ('stop' in next) return next.stop;
  const choices = options.choices ? actChoices(session, options) : undefined;
  const [longest, texts] = choices && 'texts' in choices ? [choices.longest, choices.texts] : [1];
  if (options.contextLength - next.rendered.prompt.length < longest) return 'context-overflow';
  return act(turn, next, setting, texts);
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
  readonly attempt: number;
}

/** Complete a prompt that the strategy asks for. It is no act, so it shows nothing new. */
async function complete(turn: TurnAt, { purpose, rendered, script }: Asked): Promise<Call> {
  const { recorder, options, session } = turn;
  const author = options.policy.authorOf?.(turn.seat.role) ?? options.policy.author;
  const { call, completion } = await sample(turn, rendered, {
    purpose,
    why: 'asked',
    ...(author.kind === 'script' && { script: () => script?.(session.inner) }),
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
  choices?: readonly string[],
): Promise<StopReason> {
  const { seat, recorder, session, options, fresh, guard } = turn;
  const { rendered } = next;
  const sampled = await sample(turn, rendered, {
    purpose: 'act',
    why: 'window',
    ...(choices && { choices }),
  });
  const answered = performance.now();
  const { completion } = sampled;
  const base: Call = {
    ...sampled.call,
    messages: fresh,
    ...(isPlain(rendered, fresh) ? {} : { parts: recordedParts(rendered.parts, fresh, sampled.call.id) }),
  };
  const thread = {
    // Its path holds the tokens of the record, and no others.
    ...withCall(next.thread, { ...rendered.prompt, context: base.context }, base),
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
    ...(turn.attempt > 0 && { attempt: turn.attempt }),
    ...(result.metrics && { metrics: result.metrics }),
    ...(result.facts && { facts: result.facts }),
    ...(result.info !== undefined && { notes: { info: result.info } }),
  };
  recorder.transition(transition, result.done ? result.success : undefined);
  seat.thread = { ...thread, transitions: [...thread.transitions, transition] };
  seat.problem = parsed.ok ? undefined : parsed.problem;
  return 'done';
}

/** Have the policy complete a prompt. */
async function sample(
  { seat, recorder, session, guard: { boundary }, request, options }: TurnAt,
  rendered: Rendered,
  {
    purpose,
    why,
    choices,
    script,
  }: {
    readonly purpose: string;
    readonly why: NewPath;
    readonly choices?: readonly string[];
    readonly script?: () => string | undefined;
  },
): Promise<{ readonly call: Call; readonly completion: Completion }> {
  const { policy, renderer } = options;
  const { role } = seat;
  const { key, drawsAs = key } = request;
  const { prompt, said, tools } = rendered;
  const id = recorder.nextCall;
  const at = recorder.now();
  const began = performance.now();
  const room = options.contextLength - prompt.length;
  const { store } = recorder;
  const sampling = store.sampling(options.sampling, Math.min(renderer.maxTurnTokens, room));
  const completion = await boundary.step('policy', `completing ${session.place}`, undefined, (signal) =>
    policy.complete({
      key,
      conversation: conversationOf(key, role),
      seedKey: [options.seed, ...policyKeyOf(options), ...keyParts(drawsAs), id].join('/'),
      // Made when they are read: policies that read tokens never do, and many turns are many messages.
      get messages() {
        return said.map((one) => (isCompletion(one) ? assistant(one.text) : one));
      },
      ...keptAndNew(seat, prompt),
      sampling,
      role,
      session: session.inner,
      ...(choices && { choices }),
      ...(script && { script }),
      signal,
    }),
  );
  if (completion.trainable === true) seat.held = id;
  const waitMs = completion.waitMs ?? 0;
  // What may be absent comes last: properties after it take ten times as long.
  const call: Call = {
    id,
    conversation: role,
    role,
    by: store.author(completion.by),
    purpose,
    sampling,
    context: store.ids(prompt.context),
    ids: store.ids(completion.ids),
    logprobs: store.numbers(completion.logprobs),
    messages: [],
    text: completion.text,
    finish: completion.finish,
    trainable: completion.trainable,
    at,
    waitMs: tenths(waitMs),
    policyMs: tenths(performance.now() - began - waitMs),
    ...linkOf(prompt, why),
    ...(completion.choices && { choices: completion.choices }),
    ...(tools && { tools: recorder.declare(tools), reply: renderer.read(completion.text, tools) }),
  };
  return { call, completion };
}

/** The prompt by what the sampler holds of it: a number of tokens of the conversation, and those after them. */
function keptAndNew({ held, thread }: Seat, prompt: Prompt): Pick<CompletionRequest, 'keep' | 'append'> {
  if (held === undefined) return { keep: 0, append: idsOfPrompt(prompt) };
  if (prompt.path?.call === held) return { keep: prompt.kept, append: prompt.context };
  const ids = idsOfPrompt(prompt);
  const path = thread.paths.find(({ call }) => call === held);
  const keep = path?.tokens.agrees(0, ids) ?? 0;
  return { keep, append: ids.slice(keep) };
}

const policyKeyOf = ({ policyKey = '' }: Pick<EpisodeOptions, 'policyKey'>): string[] =>
  policyKey === '' ? [] : [policyKey];

/** Names one role's side of an episode in the sampler's cache. */
export function conversationOf(key: EpisodeKey, role: Role): string {
  return `${keyText(key)}/${role}`;
}
