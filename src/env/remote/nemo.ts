/** NeMo Gym's resources servers as worlds: a session is a cookie, each tool is a route, and `/verify` gives the reward. */

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { type Message, system } from '../../core/messages.ts';
import type { FailureOrigin } from '../../core/stop.ts';
import type { Split, TaskSet } from '../environment.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import { type ActionProtocol, NO_ACTION } from '../protocol.ts';
import { AGENT, type Role, type Session, type StepResult } from '../session.ts';
import { type DescribedTool, toolProtocol } from '../tool-protocol.ts';
import type { World } from '../world.ts';
import { demonstratedOptions, withDemonstrations } from './demonstrations.ts';
import { type Answer, blaming, type Call, exchange, parseAnswer, refused } from './http.ts';
import { type NemoRow, readNemoRows } from './nemo-data.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/** Every tenth row is for testing, and the one after it for validation. */
const SPLIT_PERIOD = 10;

const verified = z.looseObject({
  reward: z.number(),
  reward_components: z.json().optional(),
  /** The reward measures nothing, because the verifier or its infrastructure failed. */
  mask_sample: z.boolean().default(false),
  failure_reason: z.string().nullish(),
});

const NAME = 'nemo';

/**
 * The resources server at `url`; its tasks are rows of `data`, a file of JSON lines.
 *
 * @throws TurnwiseError `remote-unreachable`, `remote-timeout`
 */
export async function connectNemo(
  _name: string,
  url: string,
  data: string,
): Promise<WorldFactory<NemoOptions>> {
  const base = url.replace(/\/+$/, '');
  await exchange({ method: 'GET', url: `${base}/`, timeoutMs: CONNECT_TIMEOUT_MS });
  return defineWorld({
    // The server says nothing of itself.
    name: NAME,
    description: 'A resources server of NeMo Gym.',
    options: optionsWith(data),
    create: (chosen) => withDemonstrations(nemoWorld(base, chosen), chosen.demonstrations),
  });
}

type NemoOptions = ReturnType<typeof optionsWith>;

function optionsWith(data: string) {
  return demonstratedOptions.extend({
    data: z.string().default(data).describe('File of tasks, one JSON object a line'),
    heldOut: z.string().default('').describe('File of test tasks; without it every tenth row of data is one'),
    maxTurns: z.int().min(1).default(16).describe('Turns before the answer so far is verified'),
  });
}

function nemoWorld(base: string, chosen: z.output<NemoOptions>): World {
  const read = (): Tasks => readTasks(chosen.data, chosen.heldOut);
  // Without a file the world can still say what kind of world it is: it is asked that before settings are applied.
  let known = chosen.data === '' ? undefined : read();
  const tasks = (): Tasks => {
    known ??= read();
    return known;
  };
  return {
    name: NAME,
    description: 'A resources server of NeMo Gym.',
    roles: [AGENT],
    maxTurns: chosen.maxTurns,
    get protocol() {
      return tasks().protocol;
    },
    tasks: (split): TaskSet<Json> => ({
      size: tasks().rows[split].length,
      at: (index) => ({ split, index }),
    }),
    async open(task) {
      const { split, index } = task as { readonly split: Split; readonly index: number };
      const { rows, protocol } = tasks();
      const session = new NemoSession(base, rows[split][index]!, protocol, chosen);
      await session.seed();
      return session;
    },
  };
}

interface Tasks {
  readonly rows: Readonly<Record<Split, readonly NemoRow[]>>;
  /** For the tools of all rows together. */
  readonly protocol: ActionProtocol;
}

/** @throws TurnwiseError `nemo-data` */
function readTasks(data: string, heldOut: string): Tasks {
  const rows = splitRows(data, heldOut);
  const tools = new Map(
    [...rows.train, ...rows.validation, ...rows.test].flatMap((row) =>
      row.tools.map((tool) => [tool.name, tool]),
    ),
  );
  return { rows, protocol: answerOrTool([...tools.values()]) };
}

function splitRows(data: string, heldOut: string): Readonly<Record<Split, readonly NemoRow[]>> {
  const rows = readNemoRows(data);
  const place = (index: number): number => index % SPLIT_PERIOD;
  if (heldOut !== '') {
    const test = readNemoRows(heldOut);
    return { train: rows, validation: test, test };
  }
  return {
    test: rows.filter((_, index) => place(index) === 0),
    validation: rows.filter((_, index) => place(index) === 1),
    train: rows.filter((_, index) => place(index) > 1),
  };
}

/** What the agent does: the name and arguments of a call, or its answer. */
type Act = { readonly name: string; readonly arguments: JsonObject } | { readonly answer: string };

/** A tool call where there is one in the text; anything else is the answer, and ends the episode. */
function answerOrTool(tools: readonly DescribedTool[]): ActionProtocol {
  const calls = toolProtocol(tools);
  return {
    ...calls,
    instructions: `${calls.instructions} When you are done, answer without calling a tool.`,
    parse: (text) => {
      if (text.includes('<tool_call>')) return calls.parse(text);
      const answer = text.trim();
      if (answer === '') return { ok: false, problem: 'The answer was empty.' };
      return { ok: true, action: JSON.stringify({ answer }) };
    },
    format: (action) => {
      const act = JSON.parse(action) as Act;
      return 'answer' in act ? act.answer : calls.format(action);
    },
  };
}

class NemoSession implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly #base: string;
  readonly #row: NemoRow;
  readonly #timeoutMs: number;
  readonly #maxTurns: number;
  readonly #cookies = new Map<string, string>();
  /** What the agent did, in the form of an OpenAI response. */
  readonly #output: JsonObject[] = [];
  #messages: readonly Message[];
  #turns = 0;
  #done = false;

  constructor(base: string, row: NemoRow, protocol: ActionProtocol, chosen: z.output<NemoOptions>) {
    this.#base = base;
    this.#row = row;
    this.#timeoutMs = chosen.timeoutMs;
    this.#maxTurns = chosen.maxTurns;
    this.#messages = row.tools.length === 0 ? row.messages : opening(protocol.instructions!, row.messages);
  }

  toMove(): Role | undefined {
    return this.#done ? undefined : AGENT;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  /** What was done so far: the protocol does not show the state. */
  anchor(): string {
    const acts = this.#output.map(({ type, name, arguments: input, output }) => [type, name, input, output]);
    return JSON.stringify([this.#row.row.id ?? this.#row.messages.at(-1)?.content ?? '', acts]);
  }

  async seed(): Promise<void> {
    const call = this.#call('/seed_session', this.#row.row, 'environment');
    const answer = await this.#ask(call);
    if (answer.status >= 300) throw refused(call, answer);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    this.#turns++;
    const act = action === NO_ACTION ? undefined : (JSON.parse(action) as Act);
    if (act === undefined) this.#messages = [];
    else if ('answer' in act) this.#output.push(answerItem(act.answer));
    else await this.#useTool(act.name, act.arguments, signal);
    const over = this.#turns >= this.#maxTurns || (act !== undefined && 'answer' in act);
    if (!over) {
      return { rewards: { [AGENT]: 0 }, done: false, success: { [AGENT]: false }, valid: act !== undefined };
    }
    const { reward, reward_components: parts } = await this.#verify(signal);
    this.#done = true;
    this.#messages = [];
    return {
      rewards: { [AGENT]: reward },
      done: true,
      success: { [AGENT]: reward >= 1 },
      valid: act !== undefined,
      ...(parts === undefined ? {} : { info: { reward_components: parts } as Json }),
    };
  }

  async close(): Promise<void> {}

  /** The agent reads whatever the tool says, also where it refuses; a tool that breaks down ends the episode. */
  async #useTool(name: string, input: JsonObject, signal: AbortSignal): Promise<void> {
    const call = this.#call(`/${encodeURIComponent(name)}`, input, 'tool', signal);
    const answer = await this.#ask(call);
    if (answer.status >= 500) throw refused(call, answer);
    const callId = `call_${randomUUID()}`;
    this.#output.push(
      { type: 'function_call', call_id: callId, name, arguments: JSON.stringify(input), status: 'completed' },
      { type: 'function_call_output', call_id: callId, output: answer.text },
    );
    this.#messages = [{ role: 'tool', content: answer.text, toolCallId: callId }];
  }

  async #verify(signal: AbortSignal): Promise<z.output<typeof verified>> {
    const { responses_create_params: params } = this.#row.row as { responses_create_params: JsonObject };
    const response = {
      id: `resp_${randomUUID()}`,
      object: 'response',
      created_at: 0,
      model: 'policy',
      output: this.#output,
      tools: params.tools ?? [],
      tool_choice: params.tool_choice ?? 'auto',
      parallel_tool_calls: false,
    };
    const call = this.#call('/verify', { ...this.#row.row, response }, 'grader', signal);
    const answer = await this.#ask(call);
    if (answer.status >= 300) throw refused(call, answer);
    const result = parseAnswer(call, answer, verified);
    if (!result.mask_sample) return result;
    const seen = result.failure_reason || 'mask_sample, without a reason';
    throw new TurnwiseError(
      'remote-refused',
      blaming(call, { what: `POST ${call.url} gave a reward that is not to be used`, seen }),
    );
  }

  #call(path: string, body: JsonObject, origin: FailureOrigin, signal?: AbortSignal): Call {
    return {
      method: 'POST',
      url: `${this.#base}${path}`,
      body,
      origin,
      timeoutMs: this.#timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /** The cookie is the session: it goes with every request, and any answer may change it. */
  async #ask(call: Call): Promise<Answer> {
    const cookie = [...this.#cookies].map(([key, value]) => `${key}=${value}`).join('; ');
    const answer = await exchange(cookie === '' ? call : { ...call, headers: { cookie } });
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair = ''] = line.split(';');
      const separator = pair.indexOf('=');
      if (separator > 0) this.#cookies.set(pair.slice(0, separator).trim(), pair.slice(separator + 1).trim());
    }
    return answer;
  }
}

/** The instructions, then what the row says: in one system message, since many chat templates know only one. */
function opening(instructions: string, messages: readonly Message[]): readonly Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [system(instructions), ...messages];
  return [system(`${instructions}\n\n${first.content}`), ...rest];
}

function answerItem(text: string): JsonObject {
  return {
    type: 'message',
    id: `msg_${randomUUID()}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
}
