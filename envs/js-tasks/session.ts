/** A live episode of a programming question: a sandbox, two tools, and an answer that is checked by value. */

import type { Json } from '../../src/core/json/json.ts';
import type { Message } from '../../src/core/messages.ts';
import type { RunResult, Runtime } from '../../src/env/runtime/runtime.ts';
import { AGENT, type Role, type Session, type Snapshot, type StepResult } from '../../src/env/session.ts';
import { answerOf, expertRuns, type JsTask, show } from './tasks.ts';

/** How a session reads actions and words what it says; one for the tiny model and one for models that can read. */
export interface Wording {
  opening(task: JsTask): readonly Message[];
  /** Runs the action on `tools`; undefined when it is not one. */
  act(action: string, tools: JsTools): Promise<string> | undefined;
  evaluated(result: RunResult): string;
  /** `invalid` is an action that could not be read. */
  ended(verdict: 'right' | 'wrong'): string;
  readonly invalid: string;
  tell(content: string): Message;
}

export interface JsTools {
  run(code: string): Promise<string>;
  submit(expression: string): Promise<string>;
}

/** Values of the variables, read after each call; null where a variable is missing or not plain. */
export interface Variables {
  readonly xs: unknown;
  readonly ys: unknown;
  readonly word: unknown;
  readonly r: unknown;
}

const SNAPSHOT = `JSON.stringify({ xs, ys, word, r: typeof r === 'undefined' ? null : r })`;

export class JsSession implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly task: JsTask;
  readonly #wording: Wording;
  readonly #runtime: Runtime;
  #snapshot = '';
  #messages: readonly Message[];
  /** What the last call said. */
  #last = '';
  #verdict: 'right' | 'wrong' | undefined;
  /** The value submitted; empty before. */
  #answer = '';
  #code = '';
  #turns = 0;

  private constructor(task: JsTask, wording: Wording, runtime: Runtime) {
    this.task = task;
    this.#wording = wording;
    this.#runtime = runtime;
    this.#messages = wording.opening(task);
  }

  /**
   * Raises what the runtime raises when it fails itself.
   *
   * @param runtime that has the library
   */
  static async open(task: JsTask, wording: Wording, runtime: Runtime): Promise<JsSession> {
    const session = new JsSession(task, wording, runtime);
    const held = (list: readonly number[]): Json => (task.packed ? show(list) : list);
    const variables = { xs: held(task.xs), ys: held(task.ys), word: task.word };
    const values = Object.entries(variables).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    await runtime.run(`var ${values.join(', ')};`);
    session.#snapshot = JSON.stringify({ ...variables, r: null });
    return session;
  }

  toMove(): Role | undefined {
    return this.#verdict === undefined ? AGENT : undefined;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  anchor(): string {
    return `${this.task.outer} of ${this.task.inner} of ${this.task.source} ${this.#snapshot}`;
  }

  /** What the agent was told last, for scripts. */
  get last(): string {
    return this.#last;
  }

  get variables(): Variables | undefined {
    try {
      return JSON.parse(this.#snapshot) as Variables;
    } catch {
      return undefined;
    }
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const calls: Json[] = [];
    const before = this.#snapshot;
    const said = await this.#wording.act(action, {
      run: (code) => {
        calls.push({ name: 'run', arguments: { code } });
        this.#code += ` ${code}`;
        return this.#run(code, signal);
      },
      submit: (expression) => {
        this.#code += ` ${expression}`;
        return this.#submit(expression, signal);
      },
    });
    this.#last = said ?? this.#wording.invalid;
    this.#messages = [this.#wording.tell(this.#last)];
    const success = this.#verdict === 'right';
    return {
      rewards: { [AGENT]: success ? 1 : 0 },
      done: this.#verdict !== undefined,
      success: { [AGENT]: success },
      valid: said !== undefined,
      info: { credit: this.#known(calls, this.#snapshot !== before || this.#verdict !== undefined) },
    };
  }

  /** What credit may know of a turn. Submitting is answering, not a call. */
  #known(calls: readonly Json[], effective: boolean): Json {
    const { inner, outer, source } = this.task;
    const mentioned = new Set(this.#code.match(/\w+/g));
    const named = [inner, outer, source].filter((name) => mentioned.has(name));
    const first = this.#turns++ === 0;
    const expert = expertRuns(this.task);
    return {
      calls,
      answer: this.#answer,
      correct: this.#verdict === 'right',
      effectiveActions: effective ? 1 : 0,
      entityShare: named.length / 3,
      // Of the whole episode, so that once is enough.
      ...(first && {
        goldenCalls: expert.map((code) => ({ name: 'run', arguments: { code } })),
        neededCalls: expert.length,
      }),
    };
  }

  /** Free, since the runtime is a snapshot of its memory until a call is made. No chance is drawn in an episode. */
  async snapshot(): Promise<Snapshot> {
    const held = await this.#copy();
    return { cost: 'free', open: () => held.#copy(), dispose: () => held.close() };
  }

  async #copy(): Promise<JsSession> {
    const copy = new JsSession(this.task, this.#wording, await this.#runtime.fork());
    copy.#snapshot = this.#snapshot;
    copy.#messages = this.#messages;
    copy.#last = this.#last;
    copy.#verdict = this.#verdict;
    copy.#answer = this.#answer;
    copy.#code = this.#code;
    copy.#turns = this.#turns;
    return copy;
  }

  render(): string {
    return `${this.task.outer} of ${this.task.inner} of ${this.task.source}\n${this.#snapshot}`;
  }

  async close(): Promise<void> {
    await this.#runtime.close();
  }

  async #run(code: string, signal: AbortSignal): Promise<string> {
    const result = await this.#runtime.run(code, { signal });
    await this.#remember(signal);
    return this.#wording.evaluated(result);
  }

  /** A value ends the episode, right or wrong. An expression that raises says so and costs the turn. */
  async #submit(expression: string, signal: AbortSignal): Promise<string> {
    const result = await this.#runtime.run(`(${expression}\n)`, { signal });
    if (result.error !== undefined) return this.#wording.evaluated(result);
    this.#answer = result.output;
    this.#verdict = result.output === show(answerOf(this.task)) ? 'right' : 'wrong';
    return this.#wording.ended(this.#verdict);
  }

  async #remember(signal: AbortSignal): Promise<void> {
    const { output, error } = await this.#runtime.run(SNAPSHOT, { signal });
    try {
      this.#snapshot = error === undefined ? String(JSON.parse(output)) : error;
    } catch {
      this.#snapshot = output;
    }
  }
}
