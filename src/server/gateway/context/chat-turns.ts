/** Chats of a session under its context: which conversation the model reads, what it is asked for first, what is answered for it. */

import type { Call, NewPath, Role, Split } from '../../../core/episode.ts';
import type { Json } from '../../../core/json/json.ts';
import type { Message } from '../../../core/messages.ts';
import { Rng } from '../../../core/rng.ts';
import { AGENT } from '../../../env/session.ts';
import { noIds } from '../../../model/chat/renderer.ts';
import { Boundary } from '../../../rollout/boundary.ts';
import { fullContext } from '../../../rollout/context/contexts.ts';
import { deliveredReply, factsIn } from '../../../rollout/context/delivered.ts';
import { type ActAt, answerTo, nextAct, scriptedAct } from '../../../rollout/context/next-act.ts';
import { type Asked, withoutIds } from '../../../rollout/context/questions.ts';
import type { Context } from '../../../rollout/context/strategy.ts';
import {
  isPlain,
  newThread,
  promptIdsOf,
  type Rendered,
  type Setting,
  type Thread,
  withCall,
} from '../../../rollout/context/thread.ts';
import { unwatched } from '../../../rollout/watch.ts';
import type { AnsweredChoice, CallRecorder, Origin, Placement, RecordedCall } from '../call-recorder.ts';
import type { CallRequest, ChatCall } from '../call-request.ts';
import type { ChatModel, ModelRequest } from '../chat-model.ts';
import type { LiveAnswer } from '../dialects/coming.ts';
import { overflow } from '../policy-model.ts';
import { ACT } from '../purpose.ts';
import { joined, messagesRead, offeredIn, originOf } from './prompt-of-call.ts';

/** Longest that a context may take before an act, completions that it asks for aside. */
const STRATEGY_MS = 60_000;

/** What a session is opened with. */
export interface ChatOptions {
  /** Names every conversation of the session. */
  readonly name: string;
  /** Names all randomness of the session. */
  readonly seed: string | number;
  readonly model: ChatModel;
  /** Models of the other roles, each with a role of its own. Their answers are acts, and learned from, like those of `model`. */
  readonly seats?: readonly ChatModel[];
  /** Calls after which further ones are refused. */
  readonly maxCalls: number;
  readonly task?: Json;
  readonly split?: Split;
  /** What the model reads of a conversation. Default: all that the client sends. */
  readonly context?: Context;
}

/** Whether a model plays one of the session's roles, and is none that the agent asks besides. */
export const isOwn = (model: ChatModel, { model: first, seats = [] }: ChatOptions): boolean =>
  model === first || seats.includes(model);

/** The role that a model plays; who plays none speaks with the first. */
export const roleOf = (model: ChatModel, options: ChatOptions): Role =>
  (isOwn(model, options) ? model.role : options.model.role) ?? AGENT;

/** A request under way. */
export interface SessionTurn {
  readonly model: ChatModel;
  readonly placed: Placement;
  /** Of its choices. */
  readonly conversations: readonly string[];
  readonly signal: AbortSignal;
  readonly askedMs: number;
  /** Hears the answer while it is sampled, where there is one choice. */
  readonly live?: LiveAnswer;
}

export interface ToSample extends Pick<ModelRequest, 'promptIds' | 'script' | 'plans'> {
  readonly origin: Origin;
  /** Names what is asked. */
  readonly key: string;
  readonly live?: LiveAnswer;
}

/** What a session does for its chats. */
interface ForChats {
  readonly recorder: CallRecorder;
  /** Aborted when the session is over. */
  readonly ended: AbortSignal;
  /** Count a call. @throws ApiError where there were as many as there may be */
  accept(): void;
  sample(call: CallRequest, what: ToSample, turn: SessionTurn): Promise<AnsweredChoice[]>;
}

export class ChatTurns {
  readonly #options: ChatOptions;
  readonly #session: ForChats;
  readonly #boundary: Boundary;
  /** What was said, by call. */
  readonly #messages: Map<number, Message> = new Map();
  /** What calls showed that begin an edited conversation. */
  readonly #shownAnew: Map<number, readonly Message[]> = new Map();

  constructor(options: ChatOptions, session: ForChats) {
    this.#options = options;
    this.#session = session;
    this.#boundary = new Boundary(session.ended, unwatched);
  }

  close(): void {
    this.#boundary.close();
  }

  /** What the model reads is up to its context, which may ask for more first, and answer to tools of its own. */
  async answer(request: ChatCall, turn: SessionTurn): Promise<AnsweredChoice[]> {
    const { model, placed } = turn;
    const { context: chosen = fullContext } = this.#options;
    const context = isOwn(model, this.#options) ? chosen : fullContext;
    const setting = this.#settingOf(request, model, context);
    let thread = placed.base?.thread ?? newThread(context);
    let fresh = placed.rest;
    for (let first = true; ; first = false) {
      const guard = { boundary: this.#boundary, timeoutMs: STRATEGY_MS, place: this.#options.name };
      const next = await nextAct(thread, fresh, setting, guard, (asked) =>
        this.#complete(asked, request, turn, context),
      );
      if ('stop' in next) throw overflow(setting.contextLength, setting.contextLength);
      const { rendered } = next;
      const told = first ? placed.fresh : fresh;
      const origin = this.#origin(rendered, first ? placed : undefined, told, request, 'window');
      const read = messagesRead(
        rendered,
        first && placed.said.length === 0 && isPlain(rendered, fresh) ? request.messages : undefined,
        this.#messages,
      );
      const call = { ...request, messages: read, tools: origin.tools ?? [] };
      const promptIds = promptIdsOf(rendered);
      // A context with tools of its own may answer in the client's place.
      const live = context.strategy.answer || context.strategy.deliver ? undefined : turn.live;
      const own = model.author.kind === 'script' ? scriptedAct(next, setting) : undefined;
      const asked = {
        ...{ promptIds, origin, key: placed.key },
        ...(live && { live }),
        ...(own && { script: (planned?: string) => own(undefined, planned), plans: true }),
      };
      const sampled = await this.#session.sample(call, asked, turn);
      const answered = sampled.map((choice) =>
        this.#after(choice, next.thread, rendered, fresh, setting, turn),
      );
      const only = answered.length === 1 ? answered[0]! : undefined;
      const answer = only && answerTo(only.known, { ...next, thread: only.thread }, setting, guard);
      if (answer === undefined) {
        return answered.map(({ choice, thread: after, path }) =>
          this.#told(choice, { thread: after, view: next.view }, path, request, turn, setting),
        );
      }
      const { call: made } = only!.choice;
      const untrained = made.trainable === true && !context.trained;
      this.#session.recorder.keep({
        call: untrained ? { ...made, trainable: 'left-out' } : made,
        anchor: placed.anchor,
        model: model.name,
        path: only!.path,
        hidden: true,
      });
      this.#session.accept();
      thread = answer;
      fresh = answer.answered ?? [];
    }
  }

  #origin(
    rendered: Rendered,
    placed: Placement | undefined,
    told: readonly Message[],
    request: ChatCall,
    why: NewPath,
  ): Origin {
    const path = rendered.prompt.path && this.#session.recorder.pathOf(rendered.prompt.path.call);
    return originOf(rendered, path, placed, told, request, why, this.#shownAnew);
  }

  #settingOf(request: ChatCall, model: ChatModel, context: Context): Setting {
    const { seed, task = null, split, maxCalls, name } = this.#options;
    return {
      context,
      renderer: model.renderer ?? noIds,
      role: roleOf(model, this.#options),
      task,
      ...(split && { split }),
      ...(request.tools.length > 0 && { tools: request.tools }),
      offered: offeredIn(request),
      contextLength: model.contextLength ?? Number.POSITIVE_INFINITY,
      limit: maxCalls,
      rng: (calls) => Rng.of('context', seed, name, calls),
    };
  }

  /** Complete what a context asks for. The client is told nothing of it. */
  async #complete(
    { purpose, rendered, script }: Asked,
    request: ChatCall,
    turn: SessionTurn,
    context: Context,
  ): Promise<Call> {
    const origin = this.#origin(rendered, undefined, [], request, 'asked');
    const call: ChatCall = {
      ...request,
      purpose,
      choices: 1,
      toolChoice: 'auto',
      strictTools: [],
      stop: [],
      maxTokens: undefined,
      responseFormat: { type: 'text' },
      messages: messagesRead(rendered, undefined, this.#messages),
      tools: rendered.tools ?? [],
    };
    const wanted: ToSample = {
      promptIds: promptIdsOf(rendered),
      origin,
      key: `${turn.placed.key}/${purpose}`,
      // What comes next is the agent's to say, so no act is planned here.
      ...(turn.model.author.kind === 'script' && { script: () => script?.(undefined, undefined) }),
    };
    const [choice] = await this.#session.sample(call, wanted, turn);
    const { call: made, answer, message } = choice!;
    const untrained = made.trainable === true && !context.trained;
    const asked: Call = { ...made, ...(untrained && { trainable: 'left-out' }) };
    this.#messages.set(asked.id, message);
    this.#session.recorder.keep({
      call: asked,
      anchor: turn.placed.anchor,
      model: turn.model.name,
      path: joined(answer),
      hidden: true,
    });
    return asked;
  }

  /** A conversation after one of the choices for its next act. */
  #after(
    choice: AnsweredChoice,
    thread: Thread,
    rendered: Rendered,
    fresh: readonly Message[],
    { renderer }: Setting,
    { model }: SessionTurn,
  ): {
    readonly choice: AnsweredChoice;
    readonly thread: Thread;
    readonly known: Call;
    readonly path: Int32Array;
  } {
    const { call, answer } = choice;
    // To its context it is an act, and all that stood before it was shown.
    const known: Call = { ...call, purpose: ACT, messages: fresh };
    const { forced = [] } = answer;
    const ids = [...forced, ...answer.ids];
    const text = forced.length === 0 ? answer.text : renderer.text(ids);
    const completion = { id: call.id, ids, text };
    const after = withCall(
      thread,
      rendered.prompt,
      known,
      model.renderer ? completion : withoutIds(completion),
    );
    this.#messages.set(call.id, choice.message);
    if (call.messages !== fresh) this.#shownAnew.set(call.id, fresh);
    return { choice, known, thread: { ...after, turns: thread.turns + 1 }, path: joined(answer) };
  }

  #told(
    { call, answer, message: written, ref }: AnsweredChoice,
    at: ActAt,
    path: Int32Array,
    request: ChatCall,
    { model, placed: { anchor, said } }: SessionTurn,
    setting: Setting,
  ): AnsweredChoice {
    const message = deliveredReply(written, at, setting, this.#boundary);
    const facts = factsIn(at, setting, this.#boundary);
    const recorded: RecordedCall = {
      ...{ call, anchor, model: model.name, path, thread: at.thread },
      ...(facts && { facts }),
      ...(said.length > 0 && { said }),
    };
    this.#session.recorder.keep(recorded);
    this.#session.recorder.answered(request, message, recorded, ref);
    return { call, answer, message, ref };
  }
}
