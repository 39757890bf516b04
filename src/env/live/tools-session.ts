/** A live episode of tools: the author's context, the calls so far, and a score when it is over. */

import { TurnwiseError } from '../../core/errors.ts';
import { fingerprint } from '../../core/fingerprint.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/json/json.ts';
import { type Message, user } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { thrownText, valueText } from '../../core/safe-text.ts';
import type { FailureOrigin } from '../../core/stop.ts';
import { checkMessages, checkReward, episodeOver } from '../checks.ts';
import { checkedMetrics } from '../scores/metrics.ts';
import { AGENT, type Role, type Session, type StepResult } from '../session.ts';
import { answerIn, readCall } from '../tool-protocol.ts';
import type { Score, ToolEpisode, ToolsDefinition, ToolUse } from './define-tools.ts';

export class ToolsSession<Task, Context> implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly context: Context;
  readonly #definition: ToolsDefinition<Task, Context>;
  readonly #task: Task;
  readonly #answers: boolean;
  readonly #calls: ToolUse[] = [];
  #answer: string | undefined;
  #turns = 0;
  #done = false;
  #closed = false;
  #messages: readonly Message[] = [];

  private constructor(
    definition: ToolsDefinition<Task, Context>,
    task: Task,
    context: Context,
    answers: boolean,
  ) {
    this.#definition = definition;
    this.#task = task;
    this.context = context;
    this.#answers = answers;
  }

  /** @throws what `setup` and `prompt` throw; a context that was made is torn down */
  static async open<Task, Context>(
    definition: ToolsDefinition<Task, Context>,
    task: Task,
    { answers, rng, signal }: { readonly answers: boolean; readonly rng: Rng; readonly signal: AbortSignal },
  ): Promise<ToolsSession<Task, Context>> {
    const context = await definition.setup(task, signal, rng);
    const session = new ToolsSession(definition, task, context, answers);
    try {
      const prompt = await unlessAborted(signal, () => definition.prompt(task, context));
      session.#messages = checkMessages(
        definition.name,
        typeof prompt === 'string' ? [user(prompt)] : prompt,
      );
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** The episode so far. */
  get episode(): ToolEpisode<Task> {
    return {
      task: this.#task,
      calls: [...this.#calls],
      ...(this.#answer !== undefined && { answer: this.#answer }),
    };
  }

  toMove(): Role | undefined {
    return this.#done ? undefined : AGENT;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  /** Of all that led here, since the context is the author's own. */
  anchor(): string {
    const { calls, answer = null } = this.episode;
    const way = canonicalJson([this.#task as Json, calls as unknown as Json, answer]);
    return fingerprint(way);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    signal.throwIfAborted();
    if (this.#done) throw episodeOver(this.#definition.name);
    const answer = this.#answers ? answerIn(action) : undefined;
    const used = answer === undefined ? await this.#use(action, signal) : undefined;
    if (answer !== undefined) {
      this.#answer = answer;
      this.#messages = [];
    }
    const valid = answer !== undefined || used !== undefined;
    const over = answer !== undefined || used?.ends === true || ++this.#turns >= this.#definition.maxTurns;
    const score = over ? await this.#score(signal) : undefined;
    this.#done = over;
    return {
      rewards: { [AGENT]: score?.reward ?? 0 },
      done: over,
      success: { [AGENT]: score?.success ?? (score !== undefined && score.reward > 0) },
      valid,
      ...(score?.metrics && { metrics: score.metrics }),
      info: { credit: { calls: used ? [{ name: used.name, arguments: used.input }] : [] } },
    };
  }

  render(): string {
    const lines = this.#calls.map(
      ({ tool, arguments: input, result }) => `${tool} ${canonicalJson(input)}\n  ${result}`,
    );
    return [
      canonicalJson(this.#task as Json),
      ...lines,
      ...(this.#answer === undefined ? [] : [this.#answer]),
    ].join('\n');
  }

  /** Tears down once, whatever happened before. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#definition.teardown?.(this.context);
  }

  /** Run the tool that was called; undefined where none was. */
  async #use(
    action: string,
    signal: AbortSignal,
  ): Promise<{ readonly name: string; readonly input: JsonObject; readonly ends: boolean } | undefined> {
    const { tools } = this.#definition;
    const call = readCall(tools, action);
    if (typeof call === 'string') {
      // What was wrong with the form is told by whoever read it.
      this.#messages = [];
      return undefined;
    }
    const { tool, input } = call;
    const result = await blamed('tool', `Tool "${tool.name}"`, () => tool.run(input, this.context, signal));
    if (typeof result !== 'string') {
      throw failed('tool', `Tool "${tool.name}" returned no text`, valueText(result));
    }
    this.#calls.push({ tool: tool.name, arguments: input, result });
    this.#messages = checkMessages(this.#definition.name, [{ role: 'tool', content: result }]);
    return { name: tool.name, input, ends: tool.ends === true };
  }

  async #score(signal: AbortSignal): Promise<Score> {
    const { name } = this.#definition;
    return await blamed('grader', 'score()', async () => {
      const given: unknown = await this.#definition.score(this.episode, this.context, signal);
      if (typeof given !== 'object' || given === null) {
        throw failed('grader', 'score() returned no score', valueText(given));
      }
      const { reward, success, metrics } = given as Readonly<Record<string, unknown>>;
      if (success !== undefined && typeof success !== 'boolean') {
        throw failed(
          'grader',
          'score() returned a success that is neither true nor false',
          valueText(success),
        );
      }
      return {
        reward: checkReward(name, reward),
        ...(success !== undefined && { success }),
        ...(metrics !== undefined && { metrics: checkedMetrics('score()', metrics) }),
      };
    });
  }
}

/** What `work` gives, unless nobody waits for it any more: then what was made so far must be let go of at once. */
async function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    if (stop) signal.removeEventListener('abort', stop);
  }
}

/** Do `work` of the author's; what it throws is told as this origin's, so that no other is suspected. */
async function blamed<T>(origin: FailureOrigin, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failed(origin, `${what} failed`, thrownText(error), error);
  }
}

function failed(origin: FailureOrigin, what: string, seen: string, cause?: unknown): TurnwiseError {
  return new TurnwiseError('tools-failed', { what, seen, fields: { origin }, cause });
}
