/** A conversation as its strategy sees it before an act. What happened is made as it is read: most look at little of it. */

import type { Call, Role, Split, Transition } from '../../core/episode.ts';
import type { Json } from '../../core/json/json.ts';
import type { Message, ToolDeclaration } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { listGetter } from '../record/listed-getters.ts';
import type { Conversation, View } from './strategy.ts';
import type { Rendering, Setting, Thread } from './thread.ts';

export class ThreadView implements View {
  readonly role: Role;
  readonly task: Json;
  declare readonly split?: Split;
  readonly fresh: readonly Message[];
  readonly showsTools: boolean;
  readonly budget: number;
  readonly longest: number;
  readonly longestAct: number;
  readonly turn: number;
  readonly limit: number;
  readonly options: object;
  readonly state: Json;
  declare readonly calls: readonly Call[];
  declare readonly transitions: readonly Transition[];
  declare readonly rng: Rng;
  declare readonly tokens: (conversation: Conversation) => number;
  declare readonly tools?: readonly ToolDeclaration[];
  readonly #setting: Setting;
  readonly #thread: Thread;
  readonly #rendering: Rendering;
  #rng: Rng | undefined;

  constructor(setting: Setting, thread: Thread, fresh: readonly Message[], rendering: Rendering) {
    const { state } = thread;
    this.role = setting.role;
    this.task = setting.task;
    this.fresh = fresh;
    this.showsTools = setting.renderer.declares === true;
    this.budget = setting.contextLength - 1;
    this.longest = setting.renderer.maxTurnTokens;
    this.longestAct = setting.longestAct ?? this.longest;
    this.turn = thread.turns;
    this.limit = setting.limit;
    this.options = setting.context.options;
    // Its own: a strategy that changes it must not change what others go on from.
    this.state = typeof state === 'object' && state !== null ? structuredClone(state) : state;
    this.#setting = setting;
    this.#thread = thread;
    this.#rendering = rendering;
    for (const [name, getter] of FIELDS) listGetter.call(this, name, getter);
    if (setting.tools) this.tools = setting.tools;
    if (setting.split) this.split = setting.split;
  }

  static calls(view: ThreadView): readonly Call[] {
    return view.#thread.calls.toArray();
  }

  static transitions(view: ThreadView): readonly Transition[] {
    return view.#thread.transitions.toArray();
  }

  static rng(view: ThreadView): Rng {
    view.#rng ??= view.#setting.rng(view.#thread.calls.length);
    return view.#rng;
  }

  static tokens(view: ThreadView): View['tokens'] {
    return (conversation) => view.#rendering.of(conversation).prompt.length;
  }
}

/** The same functions for all views, so that engines know them by one shape. */
const FIELDS = (['calls', 'transitions', 'rng', 'tokens'] as const).map(
  (name) =>
    [
      name,
      function (this: ThreadView): unknown {
        return ThreadView[name](this);
      },
    ] as const,
);
