/** The conversation of the next act: the strategy is asked for it, and asks the policy for more first. */

import { badDefinition } from '../../core/definition.ts';
import type { Call } from '../../core/episode.ts';
import type { Message } from '../../core/messages.ts';
import { isThenable } from '../../core/safe-text.ts';
import type { StopReason } from '../../core/stop.ts';
import type { Session } from '../../env/session.ts';
import { type Boundary, EpisodeEnd } from '../boundary.ts';
import { callStrategy, checkedWindow, plainMessages, plainState } from './checks.ts';
import { plannedAct } from './planned-act.ts';
import { type CompleteAsked, Questions } from './questions.ts';
import type { Ask, View } from './strategy.ts';
import { type Rendered, Rendering, type Setting, type Thread, viewOf } from './thread.ts';

export interface Guard {
  readonly boundary: Boundary;
  /** Longest that the strategy may take, completions that it asks for aside. */
  readonly timeoutMs: number;
  /** Names the episode and its turn in messages. */
  readonly place: string;
}

export type NextAct =
  | { readonly stop: StopReason }
  | {
      readonly thread: Thread;
      readonly rendered: Rendered;
      readonly view: View;
    };

/**
 * At once where the strategy gives its window at once: most do, every turn.
 *
 * @param complete samples and records what the strategy asks for; absent: whatever asks has no next act here
 * @throws EpisodeEnd where the strategy fails; whatever `complete` throws
 */
export function nextAct(
  thread: Thread,
  fresh: readonly Message[],
  setting: Setting,
  guard: Guard,
  complete: CompleteAsked,
): NextAct | Promise<NextAct> {
  const { strategy, subject } = setting.context;
  const rendering = new Rendering(setting, thread, fresh);
  const view = viewOf(setting, thread, fresh, rendering);
  let questions: Questions | undefined;
  let isOpen = true;
  const ask: Ask = (purpose, conversation) => {
    if (!isOpen)
      return Promise.reject(
        badDefinition(subject, 'asks after its window', purpose, 'asking before it returns'),
      );
    questions ??= new Questions(rendering, fresh, setting, guard, complete);
    return questions.ask(purpose, conversation);
  };
  let opening: unknown;
  try {
    opening = guard.boundary.call('policy', whatOf(guard), () =>
      callStrategy(subject, () => strategy.window(view, ask)),
    );
  } catch (error) {
    isOpen = false;
    if (!questions) throw error;
    questions.ended ??= { error };
  }
  if (isThenable(opening)) questions ??= new Questions(rendering, fresh, setting, guard, complete);
  else isOpen = false;
  if (!questions) return actOf(opening, rendering, view, fresh, setting, guard);
  return afterQuestions(opening, questions, view, fresh, setting, guard, () => {
    isOpen = false;
  });
}

/**
 * The next act where there is nobody to be asked, since the completions are known.
 *
 * @throws EpisodeEnd `early-stop` where the context asks for something; where it fails, or has no room
 */
export async function nextActUnasked(
  thread: Thread,
  fresh: readonly Message[],
  setting: Setting,
  guard: Guard,
): Promise<Exclude<NextAct, { stop: StopReason }>> {
  const next = await nextAct(thread, fresh, setting, guard, async ({ purpose }) => {
    throw new EpisodeEnd('early-stop', purpose);
  });
  if ('stop' in next) throw new EpisodeEnd(next.stop, guard.place);
  return next;
}

const whatOf = ({ place }: Guard): string => `building the context of ${place}`;

/** The act after all that the strategy asks for; `close` is called once its window is there. */
async function afterQuestions(
  opening: unknown,
  questions: Questions,
  view: View,
  fresh: readonly Message[],
  setting: Setting,
  guard: Guard,
  close: () => void,
): Promise<NextAct> {
  const { boundary } = guard;
  let given = opening;
  try {
    if (isThenable(opening)) {
      const work = (): Promise<unknown> => questions.deadline.within(opening);
      given = await boundary.step('policy', whatOf(guard), undefined, work, false);
    }
  } catch (error) {
    questions.ended ??= { error };
  } finally {
    close();
  }
  // Episodes play in step: one that is being completed must not be left behind.
  const before = questions.thread;
  await questions.settled();
  const { ended, thread, rendering } = questions;
  if (ended && 'error' in ended) throw ended.error;
  if (ended) return ended;
  return boundary.call('policy', whatOf(guard), () => {
    if (thread === before) return actOf(given, rendering, view, fresh, setting, guard);
    const { subject } = setting.context;
    throw badDefinition(
      subject,
      'must wait for its questions',
      'a question without an answer',
      'await ask(…)',
    );
  });
}

/** The act that a window gives. */
function actOf(
  given: unknown,
  rendering: Rendering,
  view: View,
  fresh: readonly Message[],
  { context: { subject }, renderer }: Setting,
  guard: Guard,
): NextAct {
  return guard.boundary.call('policy', whatOf(guard), () => {
    const window = checkedWindow(subject, given);
    if ('stop' in window) return window;
    const thread = { ...rendering.thread, state: window.state };
    const rendered = rendering.of(window.conversation);
    const { prompt, said } = rendered;
    const isEmpty = prompt.length === 0 && renderer.size === undefined;
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

/** Where an act stands: its conversation, and the view of it. */
export interface ActAt {
  readonly thread: Thread;
  readonly view: View;
}

/** The view with what happened since: the calls and the state of the thread. */
const viewAt = ({ thread, view }: ActAt): View => ({
  ...view,
  calls: thread.calls.toArray(),
  state: thread.state,
});

/** What the strategy answers to a call of its own tools; undefined where it leaves the call to the environment. */
export function answerTo(
  call: Call,
  at: ActAt,
  { context: { strategy, subject } }: Setting,
  { boundary, place }: Guard,
): Thread | undefined {
  if (strategy.answer === undefined) return undefined;
  return boundary.call('policy', `answering in the context of ${place}`, () => {
    const given = callStrategy(subject, () => strategy.answer!(call, viewAt(at))) as
      | { readonly messages?: unknown; readonly state?: unknown }
      | undefined;
    if (given === undefined) return undefined;
    if (typeof given !== 'object' || given === null || isThenable(given)) {
      throw badDefinition(subject, 'must answer at once', given, '{ messages, state } or undefined');
    }
    const answered = plainMessages(subject, given.messages);
    return { ...at.thread, answered, state: plainState(subject, given.state) };
  });
}

/** What scripted players write in place of an act that they come to; undefined where the strategy has no say in acts. */
export function scriptedAct(
  at: ActAt,
  { context: { strategy, subject }, renderer }: Setting,
): ((session: Session | undefined, planned: string | undefined) => string) | undefined {
  if (!strategy.plans || strategy.script === undefined) return undefined;
  return (session, planned) => {
    const act = plannedAct(planned, at.view, renderer);
    return callStrategy(subject, () => strategy.script!('act', viewAt(at), session, act)) as string;
  };
}
