/** The conversation of the next act: the strategy is asked for it, and asks the policy for more first. */

import { badDefinition } from '../../core/definition.ts';
import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { isThenable } from '../../core/safe-text.ts';
import type { StopReason } from '../../core/stop.ts';
import type { Completion } from '../../model/chat/renderer.ts';
import { type Boundary, EpisodeEnd } from '../boundary.ts';
import { callStrategy, checkedWindow, plainMessages, plainState } from './checks.ts';
import type { Ask, Conversation, View } from './strategy.ts';
import { type Rendered, rendering, type Setting, type Thread, viewOf, withCall } from './thread.ts';

/** Completions that a strategy may ask for before one act. */
const MOST_ASKED = 64;

/** What a strategy asks for. */
export interface Asked {
  readonly purpose: string;
  readonly rendered: Rendered;
  /** What a scripted player writes. */
  readonly script:
    | ((session: Parameters<NonNullable<Setting['context']['strategy']['script']>>[2]) => string)
    | undefined;
}

export interface Guard {
  readonly boundary: Boundary;
  /** Longest that the strategy may take, completions that it asks for aside. */
  readonly timeoutMs: number;
  /** Names the episode and its turn in messages. */
  readonly place: string;
}

export type NextAct =
  | { readonly stop: StopReason }
  | { readonly thread: Thread; readonly rendered: Rendered; readonly view: View };

/**
 * @param complete samples and records what the strategy asks for; absent: whatever asks has no next act here
 * @throws EpisodeEnd where the strategy fails; whatever `complete` throws
 */
export async function nextAct(
  start: Thread,
  fresh: readonly Message[],
  setting: Setting,
  { boundary, timeoutMs, place }: Guard,
  complete: (asked: Asked) => Promise<Call>,
): Promise<NextAct> {
  const { strategy, subject } = setting.context;
  let thread = start;
  let render = rendering(setting, thread, fresh);
  const view = viewOf(setting, thread, fresh, (conversation) => render(conversation));
  let isOpen = true;
  let asked = 0;
  /** Ends the episode, whatever the strategy makes of it. */
  let ended: { readonly error: unknown } | { readonly stop: StopReason } | undefined;
  let queue: Promise<unknown> | undefined;
  const deadline = idleDeadline(
    timeoutMs,
    () => new EpisodeEnd('timeout', `building the context of ${place} took longer than ${timeoutMs} ms`),
  );

  const completed = async (purpose: string, conversation: Conversation): Promise<Call> => {
    requirePurpose(subject, purpose);
    if (ended) throw new Error('The episode is over');
    if (++asked > MOST_ASKED)
      throw badDefinition(
        subject,
        'asks without end',
        `${asked} questions before one act`,
        `at most ${MOST_ASKED}`,
      );
    const rendered = render(conversation);
    if (setting.contextLength - rendered.prompt.length < 1) {
      ended = { stop: 'context-overflow' };
      throw new Error(`The prompt of "${purpose}" leaves no room for an answer`);
    }
    const now = viewOf(setting, thread, fresh, (other) => render(other));
    const script =
      strategy.script &&
      ((session: Parameters<NonNullable<typeof strategy.script>>[2]) =>
        strategy.script!(purpose, now, session));
    let call: Call;
    try {
      call = await complete({ purpose, rendered, script });
    } catch (error) {
      ended = { error };
      throw error;
    }
    thread = withCall(thread, rendered.prompt, call, setting.renderer.size ? withoutIds(call) : call);
    render = rendering(setting, thread, fresh);
    return call;
  };
  const ask: Ask = (purpose, conversation) => {
    if (!isOpen)
      return Promise.reject(
        badDefinition(subject, 'asks after its window', purpose, 'asking before it returns'),
      );
    deadline.pause();
    const answer = (queue ?? Promise.resolve())
      .then(() => completed(purpose, conversation))
      .finally(() => deadline.go());
    queue = answer.catch(() => {});
    return answer;
  };

  const what = `building the context of ${place}`;
  let given: unknown;
  try {
    given = boundary.call('policy', what, () => callStrategy(subject, () => strategy.window(view, ask)));
    if (isThenable(given)) {
      const opening = given;
      given = await boundary.step('policy', what, undefined, () => deadline.within(opening), false);
    }
  } catch (error) {
    ended ??= { error };
  } finally {
    isOpen = false;
  }
  // Episodes play in step: one that is being completed must not be left behind.
  const before = thread;
  if (queue) await queue;
  if (ended && 'error' in ended) throw ended.error;
  if (ended) return ended;
  return boundary.call('policy', what, () => {
    if (thread !== before)
      throw badDefinition(
        subject,
        'must wait for its questions',
        'a question without an answer',
        'await ask(…)',
      );
    const window = checkedWindow(subject, given);
    if ('stop' in window) return window;
    thread = { ...thread, state: window.state };
    const rendered = render(window.conversation);
    const { prompt, said } = rendered;
    const isEmpty = prompt.length === 0 && setting.renderer.size === undefined;
    if (isEmpty || (said.length === 0 && fresh.length > 0)) {
      throw badDefinition(
        subject,
        'must give a conversation of at least one token',
        'no tokens',
        'some parts',
      );
    }
    return { thread, rendered, view };
  });
}

/** What the strategy answers to a call of its own tools; undefined where it leaves the call to the environment. */
export function answerTo(
  call: Call,
  { thread, view }: { readonly thread: Thread; readonly view: View },
  { context: { strategy, subject } }: Setting,
  { boundary, place }: Guard,
): Thread | undefined {
  if (strategy.answer === undefined) return undefined;
  return boundary.call('policy', `answering in the context of ${place}`, () => {
    const given = callStrategy(subject, () =>
      strategy.answer!(call, { ...view, calls: thread.calls.toArray(), state: thread.state }),
    ) as { readonly messages?: unknown; readonly state?: unknown } | undefined;
    if (given === undefined) return undefined;
    if (typeof given !== 'object' || given === null || isThenable(given)) {
      throw badDefinition(subject, 'must answer at once', given, '{ messages, state } or undefined');
    }
    const answered = plainMessages(subject, given.messages);
    return { ...thread, answered, state: plainState(subject, given.state) };
  });
}

function requirePurpose(subject: string, purpose: unknown): void {
  if (typeof purpose === 'string' && purpose !== 'act' && /^[a-z][a-z0-9-]{0,31}$/.test(purpose)) return;
  throw badDefinition(
    subject,
    'asks for no known purpose',
    purpose,
    'a few lower-case letters, digits and hyphens, but not "act"',
  );
}

/** Of a model whose tokens are its own affair. */
export const withoutIds = ({ id, text }: Completion): Completion => ({ id, ids: [], text });

/** Ends what does nothing for so long; paused while others work for it. */
function idleDeadline(
  ms: number,
  late: () => Error,
): { within<T>(work: PromiseLike<T>): Promise<T>; pause(): void; go(): void } {
  let timer: NodeJS.Timeout | undefined;
  let paused = 0;
  let expire: (() => void) | undefined;
  const start = (): void => {
    clearTimeout(timer);
    if (expire && paused === 0) timer = setTimeout(expire, ms);
  };
  return {
    within: async (work) => {
      try {
        return await new Promise((resolve, reject) => {
          expire = () => reject(late());
          start();
          Promise.resolve(work).then(resolve, reject);
        });
      } finally {
        expire = undefined;
        clearTimeout(timer);
      }
    },
    pause: () => {
      paused++;
      clearTimeout(timer);
    },
    go: () => {
      paused--;
      start();
    },
  };
}
