/** One turn of a role: its context gives a conversation, the policy completes it, and the environment takes the action. */

import type { Constraint } from '../core/constraint.ts';
import type { Call, Role } from '../core/episode.ts';
import { keyParts } from '../core/episode-key.ts';
import type { Message } from '../core/messages.ts';
import { Rng } from '../core/rng.ts';
import type { StopReason } from '../core/stop.ts';
import { declaredTools, NO_ACTION, tellProblem } from '../env/protocol.ts';
import { callConstraint } from '../env/tool-protocol.ts';
import { authorOf } from '../policy/policy.ts';
import { type ActChoices, actChoices } from './act-choices.ts';
import { addressed } from './agent-names.ts';
import { EpisodeEnd } from './boundary.ts';
import { deliveredAction, factsIn } from './context/delivered.ts';
import { answerTo, type Guard, type NextAct, nextAct, scriptedAct } from './context/next-act.ts';
import type { Asked } from './context/questions.ts';
import { promptIdsOf, type Setting, withCall } from './context/thread.ts';
import type { EpisodeOptions, EpisodeRequest } from './episode-options.ts';
import type { GuardedSession, GuardOptions } from './guard/guarded-session.ts';
import type { Seat } from './kept-place.ts';
import { type Recorder, tenths } from './recorder.ts';
import { sampleCall, type TurnAt } from './sample-call.ts';
import type { Restriction } from './turn-request.ts';
import type { EpisodeTurns } from './turns/episode-turns.ts';

/** An episode under way, before a turn of `seat`. */
export interface Present {
  readonly seat: Seat;
  readonly session: GuardedSession;
  readonly seats: ReadonlyMap<Role, Seat>;
  readonly recorder: Recorder;
  readonly guard: GuardOptions;
  readonly turns: EpisodeTurns;
  /** Names the random streams of its completions. */
  readonly draws: string;
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
  return turns.shown(recorder.nextCall, recorder.nextTransition) ?? turns.withSaid(named, seat.said);
}

function settingOf(
  { seat: { role }, recorder, turns }: Present,
  { task, key }: EpisodeRequest,
  { context, renderer, contextLength, world, seed }: EpisodeOptions,
  choices: ActChoices | undefined,
): Setting {
  const tools = declaredTools(world.protocol);
  // Within a prefix that is said again, the context draws what it drew there.
  const drawsAs = turns.keyAt(recorder.nextTransition);
  return {
    context,
    renderer,
    role,
    task,
    split: key.split,
    ...(tools && { tools }),
    contextLength,
    ...(choices && 'texts' in choices && { longestAct: choices.longest }),
    limit: turns.limit,
    rng: (calls) => Rng.of('context', seed, ...keyParts(drawsAs), role, calls),
  };
}

const choicesAt = ({ session }: Present, options: EpisodeOptions): ActChoices | undefined =>
  options.choices ? actChoices(session, options) : undefined;

/** The prompt at a place, for critics; undefined where the context asks for something first. */
export async function promptAt(
  present: Present,
  request: EpisodeRequest,
  options: EpisodeOptions,
): Promise<Int32Array | undefined> {
  const { seat } = present;
  const asks = new EpisodeEnd('early-stop', 'the context asks first');
  try {
    const setting = settingOf(present, request, options, choicesAt(present, options));
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
  const { seat, session, recorder, turns, draws } = present;
  const fresh = freshFor(present, options);
  const anchor = session.anchor(seat.role);
  const guard = guardOf(present);
  const turn: TurnAt = { seat, recorder, session, guard, request, options, fresh, anchor, turns, draws };
  const choices = choicesAt(present, options);
  const setting = settingOf(present, request, options, choices);
  const next = await nextAct(seat.thread, turn.fresh, setting, turn.guard, (asked) => complete(turn, asked));
  if ('stop' in next) return next.stop;
  const constraint = choices === undefined ? constraintIn(options) : undefined;
  const [longest, texts] = choices && 'texts' in choices ? [choices.longest, choices.texts] : [1];
  if (options.contextLength - next.rendered.prompt.length < longest) return 'context-overflow';
  const own =
    authorOf(options.policy, seat.role).kind === 'script' ? actOfScript(turn, next, setting) : undefined;
  const restriction: Restriction = {
    ...(texts && { choices: texts }),
    ...(constraint && { constraint }),
    ...(own && { script: (planned) => own(session.inner, planned), plans: true }),
  };
  return act(turn, next, setting, texts || constraint || own ? restriction : FREE);
}

/** What a scripted player writes in place of an act that it comes to, where its context or its turn control has a say in it. */
function actOfScript(
  { seat, recorder, session, turns, options }: TurnAt,
  next: Exclude<NextAct, { stop: StopReason }>,
  setting: Setting,
): ReturnType<typeof scriptedAct> {
  const own = scriptedAct(next, setting);
  if (!turns.writes) return own;
  return (inner, planned) => {
    const text = own ? own(inner, planned) : (planned ?? '');
    const at = { role: seat.role, turns: seat.thread.turns };
    const more = turns.written(text, at, () => recorder.soFar());
    const [before, after] = [text, more].map((one) => session.parse(options.renderer.answer(one)));
    return before!.ok && after!.ok && before!.action === after!.action ? more : text;
  };
}

const FREE: Restriction = {};

/** What acts are held to besides choices: calls of tools, to the schemas of their arguments. */
function constraintIn({ constrained, context, renderer, world }: EpisodeOptions): Constraint | undefined {
  if (!constrained || context.strategy.answer || !renderer.tokenTexts?.()) return undefined;
  return callConstraint(world.protocol);
}

/** Complete a prompt that the strategy asks for. It is no act, so it shows nothing new. */
async function complete(turn: TurnAt, { purpose, rendered, script }: Asked): Promise<Call> {
  const { recorder, options, session } = turn;
  const author = authorOf(options.policy, turn.seat.role);
  const { plans = false } = options.context.strategy;
  const written: Restriction =
    author.kind === 'script' ? { script: (planned) => script?.(session.inner, planned), plans } : FREE;
  const { call, completion } = await sampleCall(turn, rendered, purpose, 'asked', [], written);
  const untrained = completion.trainable === true && !options.context.trained;
  const asked = recorder.store.call(untrained ? { ...call, trainable: 'left-out' } : call);
  recorder.call(asked);
  return asked;
}

/** The act, and what the environment does because of it, or the strategy answers to it. */
async function act(
  turn: TurnAt,
  next: Exclude<NextAct, { stop: StopReason }>,
  setting: Setting,
  restriction: Restriction,
): Promise<StopReason> {
  const { seat, recorder, session, turns, options, fresh, guard } = turn;
  const { rendered } = next;
  const sampled = await sampleCall(turn, rendered, 'act', 'window', fresh, restriction);
  const answered = performance.now();
  const { completion } = sampled;
  const base = recorder.store.call(sampled.call);
  // Its path holds the tokens of the record, and no others.
  const prompt = { ...rendered.prompt, context: base.context };
  const thread = withCall({ ...next.thread, turns: next.thread.turns + 1 }, prompt, base, base, fresh);
  const own = answerTo(base, { ...next, thread }, setting, guard);
  if (own) {
    // A call of the strategy's own tool is the strategy's, as what it asks for is.
    const untrained = base.trainable === true && !options.context.trained;
    recorder.call(untrained ? { ...base, trainable: 'left-out' } : base);
    seat.thread = own;
    seat.problem = undefined;
    return 'done';
  }
  const parsed = session.parse(options.renderer.answer(completion.text));
  const call: Call = parsed.ok ? base : { ...base, problem: parsed.problem };
  recorder.call(call);
  const place = { ...next, thread };
  const { protocol } = session.part ?? options.world;
  const action = parsed.ok
    ? deliveredAction(parsed.action, place, setting, protocol, guard.boundary)
    : NO_ACTION;
  const at = recorder.now();
  const result = await session.step(action);
  const valid = result.valid && parsed.ok;
  const known = factsIn(place, setting, guard.boundary);
  const transition = recorder.store.transition({
    call: call.id,
    role: seat.role,
    anchor: turn.anchor,
    action,
    valid,
    rewards: result.rewards,
    at,
    environmentMs: tenths(performance.now() - answered),
    ...(turns.attempt > 0 && { attempt: turns.attempt }),
    ...(result.metrics && { metrics: result.metrics }),
    ...((result.facts || known) && { facts: { ...known, ...result.facts } }),
    ...(result.info !== undefined && { notes: { info: result.info } }),
  });
  recorder.transition(transition, result.done ? result.success : undefined);
  seat.thread = { ...thread, transitions: thread.transitions.with(transition) };
  seat.problem = parsed.ok ? undefined : parsed.problem;
  return 'done';
}
