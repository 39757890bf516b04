/** Environments of another Turnwise process, over our own protocol: everything that a local one can do, forks and scripts too. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import { declaredTool } from '../declared-tools.ts';
import type { Split, TaskSet } from '../environment.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import type { ActionProtocol } from '../protocol.ts';
import { rawProtocol } from '../raw-protocol.ts';
import type { Role, Session, StepResult } from '../session.ts';
import { tagProtocol } from '../tag-protocol.ts';
import { toolProtocol } from '../tool-protocol.ts';
import { environmentAnswer, scriptAnswer, sessionAnswer, stepAnswer, type WireView } from '../wire.ts';
import type { PlayerKind, World } from '../world.ts';
import { type Described, settingsOf, taskCount } from './described.ts';
import { type Answer, type Call, callJson, exchange, parseAnswer, refused } from './http.ts';
import { keyHeaders } from './key.ts';
import { remoteOptions } from './options.ts';

type Task = { readonly split: Split; readonly index: number };

/** Pauses before a lost exchange is tried again; every request can be repeated, because it carries a key. */
const RETRY_PAUSES_MS = [50, 250, 1000] as const;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The environment that `turnwise env serve` serves at `url`, described by its server.
 *
 * @throws TurnwiseError `remote-unreachable`, `remote-timeout`, `remote-refused`, `remote-answer-invalid`
 */
export async function connectTurnwise(
  name: string,
  url: string,
): Promise<WorldFactory<typeof remoteOptions>> {
  const base = url.replace(/\/+$/, '');
  const described = await callJson(
    { method: 'GET', url: `${base}/v1/environment`, headers: keyHeaders(), timeoutMs: CONNECT_TIMEOUT_MS },
    environmentAnswer,
  );
  return defineWorld({
    name,
    description: described.description,
    options: remoteOptions,
    settings: settingsOf(described),
    create: ({ timeoutMs }) => remoteWorld(name, base, described, timeoutMs),
  });
}

function remoteWorld(name: string, base: string, described: Described, timeoutMs: number): World {
  const { description, roles, maxTurns, facts, scripts } = described;
  const client = new Client(base, timeoutMs);
  return {
    name,
    description,
    roles,
    maxTurns,
    facts,
    protocol: protocolOf(described.action),
    tasks: (split): TaskSet<Task> => ({
      size: taskCount(described, split),
      at: (index) => ({ split, index }),
    }),
    async open(task, rng, startRng) {
      const { split, index } = task as Task;
      const chance = { episode: rng.state, ...(startRng === undefined ? {} : { start: startRng.state }) };
      const opened = await client.post('/v1/sessions', { split, index, chance }, sessionAnswer);
      return new TurnwiseSession(client, roles, opened);
    },
    ...(scripts && { script: askScript }),
  };
}

async function askScript(session: Session, kind: PlayerKind, rng: Rng): Promise<string | undefined> {
  if (!(session instanceof TurnwiseSession) || session.toMove() === undefined) return undefined;
  return await session.script(kind, rng);
}

function protocolOf({ form, tools = [] }: Described['action']): ActionProtocol {
  if (form === 'tools') return toolProtocol(tools.map((tool) => declaredTool(tool.function)));
  return form === 'tags' ? tagProtocol : rawProtocol;
}

export class TurnwiseSession implements Session {
  readonly roles: readonly Role[];
  readonly #client: Client;
  readonly #path: string;
  #view: WireView;
  #step: number;

  constructor(client: Client, roles: readonly Role[], opened: z.output<typeof sessionAnswer>) {
    this.roles = roles;
    this.#client = client;
    this.#path = `/v1/sessions/${opened.session}`;
    this.#view = opened.view;
    this.#step = opened.step;
  }

  toMove(): Role | undefined {
    return this.#view.toMove ?? undefined;
  }

  observe(role: Role): readonly Message[] {
    return this.#view.messages[role] ?? [];
  }

  anchor(_role: Role): string {
    return this.#view.anchor;
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const { step, view, ...result } = await this.#client.post(
      `${this.#path}/step`,
      { step: this.#step, action },
      stepAnswer,
      signal,
    );
    this.#view = view;
    this.#step = step + 1;
    const { info, ...plain } = result;
    return info === undefined ? plain : { ...plain, info };
  }

  async fork(): Promise<Session> {
    return new TurnwiseSession(
      this.#client,
      this.roles,
      await this.#client.post(`${this.#path}/fork`, {}, sessionAnswer),
    );
  }

  /** Draws on the server from a copy of `rng`, which moves on by one draw. */
  async script(kind: PlayerKind, rng: Rng): Promise<string | undefined> {
    const body = { player: kind, chance: rng.state };
    rng.next();
    const { action } = await this.#client.post(`${this.#path}/script`, body, scriptAnswer);
    return action ?? undefined;
  }

  render(): string {
    return this.#view.picture ?? this.#view.anchor;
  }

  async close(): Promise<void> {
    await this.#client.remove(this.#path);
  }
}

/** Requests to one server. Those that get no answer are repeated with their key, so that nothing happens twice. */
class Client {
  readonly #base: string;
  readonly #timeoutMs: number;

  constructor(base: string, timeoutMs: number) {
    this.#base = base;
    this.#timeoutMs = timeoutMs;
  }

  async post<Schema extends z.ZodType>(
    path: string,
    body: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<z.output<Schema>> {
    const call: Call = {
      method: 'POST',
      url: `${this.#base}${path}`,
      body,
      headers: { ...keyHeaders(), 'idempotency-key': randomUUID() },
      timeoutMs: this.#timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    };
    const answer = await this.#persist(call);
    if (answer.status < 200 || answer.status > 299) throw refused(call, answer);
    return parseAnswer(call, answer, schema);
  }

  /** A session that is gone already is closed. */
  async remove(path: string): Promise<void> {
    const url = `${this.#base}${path}`;
    const call: Call = { method: 'DELETE', url, headers: keyHeaders(), timeoutMs: this.#timeoutMs };
    const answer = await this.#persist(call);
    if (answer.status !== 204 && answer.status !== 404) throw refused(call, answer);
  }

  /** Until there is an answer other than "no room now", within the time for one call. */
  async #persist(call: Call): Promise<Answer> {
    const deadline = Date.now() + this.#timeoutMs;
    for (let attempt = 0; ; attempt++) {
      const pauseMs = RETRY_PAUSES_MS[Math.min(attempt, RETRY_PAUSES_MS.length - 1)]!;
      const late = Date.now() + pauseMs >= deadline;
      try {
        const answer = await exchange(call);
        if (answer.status !== 503 || late) return answer;
      } catch (error) {
        const lost = TurnwiseError.isInstance(error) && error.code === 'remote-unreachable';
        if (!lost || late || attempt >= RETRY_PAUSES_MS.length) throw error;
      }
      await sleep(pauseMs, undefined, call.signal === undefined ? {} : { signal: call.signal });
    }
  }
}
