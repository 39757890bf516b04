/** AgentGym's environment servers as worlds, in both dialects. Failures that come with status 200 are failures here. */

import { z } from 'zod';
import { nearest, TurnwiseError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json/json.ts';
import { type Message, system, user } from '../../core/messages.ts';
import type { Split, TaskSet } from '../environment.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import { NO_ACTION } from '../protocol.ts';
import { rawProtocol } from '../raw-protocol.ts';
import { AGENT, type Role, type Session, type StepResult } from '../session.ts';
import { tagProtocol } from '../tag-protocol.ts';
import type { World } from '../world.ts';
import {
  type AgentGymServer,
  agentGymServers,
  errorOf,
  isObject,
  sessionOf,
  stepOf,
  textOf,
} from './agentgym-servers.ts';
import { demonstratedOptions, withDemonstrations } from './demonstrations.ts';
import { blaming, type Call, callJson, exchange, invalidAnswer } from './http.ts';

const CONNECT_TIMEOUT_MS = 10_000;

const count = z.int().min(0);
const options = demonstratedOptions.extend({
  maxTurns: z
    .int()
    .min(0)
    .default(0)
    .describe('Turns before the episode ends; 0 takes the usual number of that server'),
  trainTasks: count.default(200).describe('Tasks to train on: the first of the server'),
  validationTasks: count.default(50).describe('The tasks after those'),
  testTasks: count.default(100).describe('The tasks after those'),
  instructions: z.string().default('').describe('Told to the agent before everything else'),
  actions: z
    .enum(['tags', 'raw'])
    .default('tags')
    .describe('Actions between <action> tags, or the whole text'),
});
type Options = z.output<typeof options>;

/**
 * The AgentGym server at `url`, of the kind `kind` (a key of `agentGymServers`). Its only sign of life is asked for.
 *
 * @throws TurnwiseError `environment-unknown`, `remote-unreachable`, `remote-timeout`
 */
export async function connectAgentGym(
  _name: string,
  url: string,
  kind: string,
): Promise<WorldFactory<typeof options>> {
  const server = Object.hasOwn(agentGymServers, kind) ? agentGymServers[kind] : undefined;
  if (server === undefined) throw unknownKind(kind);
  const base = url.replace(/\/+$/, '');
  await exchange({ method: 'GET', url: `${base}/`, timeoutMs: CONNECT_TIMEOUT_MS });
  return defineWorld({
    name: kind,
    description: `${kind} of an AgentGym server.`,
    options,
    ...(server.sessions !== undefined && {
      settings: { rollout: { concurrency: Math.min(server.sessions, 256) } },
    }),
    create: (chosen) =>
      withDemonstrations(
        agentGymWorld(kind, `${base}${server.prefix ?? ''}`, server, chosen),
        chosen.demonstrations,
      ),
  });
}

function agentGymWorld(kind: string, base: string, server: AgentGymServer, chosen: Options): World {
  const sessions = new SessionPool(base, server, chosen.timeoutMs);
  const { trainTasks, validationTasks, testTasks, instructions } = chosen;
  const ranges: Readonly<Record<Split, readonly [first: number, size: number]>> = {
    train: [0, trainTasks],
    validation: [trainTasks, validationTasks],
    test: [trainTasks + validationTasks, testTasks],
  };
  const protocol = chosen.actions === 'tags' ? tagProtocol : rawProtocol;
  const told = [instructions, protocol.instructions ?? ''].filter((text) => text !== '').join('\n\n');
  return {
    name: kind,
    description: `${kind} of an AgentGym server.`,
    roles: [AGENT],
    maxTurns: chosen.maxTurns === 0 ? server.maxTurns : chosen.maxTurns,
    protocol,
    tasks: (split): TaskSet<Json> => {
      const [first, size] = ranges[split];
      return { size, at: (index) => ({ index: first + index }) };
    },
    async open(task) {
      const { index } = task as { readonly index: number };
      const id = await sessions.take();
      try {
        const opening = await sessions.reset(id, index);
        return new AgentGymSession(sessions, server, id, [
          ...(told === '' ? [] : [system(told)]),
          user(opening),
        ]);
      } catch (error) {
        sessions.drop(id);
        throw error;
      }
    },
  };
}

/** Sessions of one server: created, or used again where it cannot close them. Two episodes never share one. */
class SessionPool {
  readonly #base: string;
  readonly #server: AgentGymServer;
  readonly #timeoutMs: number;
  readonly #live = new Set<number>();
  #idle: number[] = [];

  constructor(base: string, server: AgentGymServer, timeoutMs: number) {
    this.#base = base;
    this.#server = server;
    this.#timeoutMs = timeoutMs;
  }

  async take(): Promise<number> {
    const idle = this.#idle.pop();
    if (idle !== undefined) {
      this.#live.add(idle);
      return idle;
    }
    const call = this.#call('POST', '/create', this.#server.createTakesId ? { id: 0 } : {});
    // Servers that hand out a fixed number of sessions in turn give one again that is in use.
    for (let attempt = 0; attempt <= (this.#server.sessions ?? 0) && attempt <= 8; attempt++) {
      const id = sessionOf(await this.#ask(call), this.#server);
      if (id === undefined) throw invalidAnswer(call, 'no session', 'a session number');
      if (this.#live.has(id)) continue;
      this.#live.add(id);
      return id;
    }
    throw new TurnwiseError('remote-full', {
      what: `${this.#base} gave a session that another episode is using`,
      seen: `${this.#live.size} episodes at once`,
      next: 'Play fewer at once with --set rollout.concurrency=N.',
      fields: { url: this.#base, origin: 'environment' },
    });
  }

  async reset(id: number, task: number): Promise<string> {
    const { sessionName, taskName, resetFields, resetFailure } = this.#server;
    const call = this.#call('POST', '/reset', { ...resetFields, [sessionName]: id, [taskName]: task });
    const opening = textOf(await this.#ask(call));
    if (opening === undefined) throw invalidAnswer(call, 'no observation', 'a text');
    if (opening === resetFailure) throw this.#failed(call, opening);
    return opening;
  }

  /** Never repeated: a step that was lost may have been taken. */
  async step(
    id: number,
    action: string,
    signal: AbortSignal,
  ): Promise<NonNullable<ReturnType<typeof stepOf>>> {
    const call = { ...this.#call('POST', '/step', { [this.#server.sessionName]: id, action }), signal };
    const answer = await this.#ask(call);
    const step = stepOf(answer);
    if (step === undefined)
      throw invalidAnswer(call, JSON.stringify(answer).slice(0, 200), 'text, reward and done');
    return step;
  }

  /** Done with a session in good order. */
  async give(id: number): Promise<void> {
    if (!this.#server.closes) {
      this.#live.delete(id);
      this.#idle = [...this.#idle, id];
      return;
    }
    this.drop(id);
    // Some servers fail on a second close; whatever they say, nothing more can be done.
    await exchange(this.#call('POST', '/close', { [this.#server.sessionName]: id }));
  }

  /** Done with a session that may be broken: it is not used again. */
  drop(id: number): void {
    this.#live.delete(id);
  }

  #call(method: 'POST', path: string, body: JsonObject): Call {
    return { method, url: `${this.#base}${path}`, body, timeoutMs: this.#timeoutMs };
  }

  async #ask(call: Call): Promise<Json> {
    const answer = (await callJson(call, z.json())) as Json;
    const error = errorOf(answer);
    if (error !== undefined && !(isObject(answer) && stepOf(answer) !== undefined))
      throw this.#failed(call, error);
    return answer;
  }

  #failed(call: Call, seen: string): TurnwiseError {
    return new TurnwiseError('remote-refused', blaming(call, { what: `POST ${call.url} failed`, seen }));
  }
}

class AgentGymSession implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly #sessions: SessionPool;
  readonly #server: AgentGymServer;
  readonly #id: number;
  #messages: readonly Message[];
  #latest: string;
  #done = false;
  #broken = false;

  constructor(sessions: SessionPool, server: AgentGymServer, id: number, opening: readonly Message[]) {
    this.#sessions = sessions;
    this.#server = server;
    this.#id = id;
    this.#messages = opening;
    this.#latest = opening.at(-1)!.content;
  }

  toMove(): Role | undefined {
    return this.#done ? undefined : AGENT;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  /** What was read last: the protocol does not show the state. */
  anchor(): string {
    return this.#latest;
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    if (action === NO_ACTION) {
      this.#messages = [user(this.#latest)];
      return { rewards: { [AGENT]: 0 }, done: false, success: { [AGENT]: false }, valid: false };
    }
    this.#broken = true;
    const { text, reward, done, score } = await this.#sessions.step(this.#id, action, signal);
    this.#broken = false;
    this.#done = done;
    this.#latest = text;
    this.#messages = [user(text)];
    return {
      rewards: { [AGENT]: reward },
      done,
      success: { [AGENT]: done && score >= this.#server.solvedAt },
      valid: true,
    };
  }

  async close(): Promise<void> {
    // A step that failed or was given up may still change the session, so it is closed where that can be done.
    if (this.#broken && !this.#server.closes) this.#sessions.drop(this.#id);
    else await this.#sessions.give(this.#id);
  }
}

function unknownKind(kind: string): TurnwiseError {
  const kinds = Object.keys(agentGymServers);
  const near = nearest(kind, kinds);
  return new TurnwiseError('environment-unknown', {
    what:
      kind === '' ? 'An AgentGym address must say which environment it serves' : `AgentGym has no "${kind}"`,
    seen: kind === '' ? 'nothing after #' : `#${kind}`,
    allowed: kinds.join(', '),
    next: near ? `Did you mean "#${near}"?` : 'Write it as agentgym:http://host:port#textcraft',
    fields: { environment: kind },
  });
}
