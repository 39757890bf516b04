/** OpenEnv servers as worlds: an episode is a WebSocket, and how actions are written follows from the server's schema. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { canonicalJson, type Json, type JsonObject } from '../../core/json/json.ts';
import { type Message, system, user } from '../../core/messages.ts';
import type { Rng } from '../../core/rng.ts';
import type { Split, TaskSet } from '../environment.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import { AGENT, type Role, type Session, type StepResult } from '../session.ts';
import { environmentAnswer } from '../wire.ts';
import type { PlayerKind, World } from '../world.ts';
import { demonstratedOptions, withDemonstrations } from './demonstrations.ts';
import { type Described, settingsOf, taskCount } from './described.ts';
import { type Answer, callJson, exchange } from './http.ts';
import { keyHeaders } from './key.ts';
import { type ActionForm, actionForm, messagesOf } from './openenv-forms.ts';
import { type OpenEnvAnswer, OpenEnvSocket } from './openenv-socket.ts';
import { saidName } from './said-name.ts';

const SPLITS: readonly Split[] = ['train', 'validation', 'test'];
const CONNECT_TIMEOUT_MS = 10_000;
/** How long an episode waits for a place that another one is giving up. */
const ROOM_WAIT_MS = 5_000;
const ROOM_PAUSE_MS = 50;

const MAX_TURNS = 30;

type OpenEnvOptions = ReturnType<typeof optionsWith>;

function optionsWith(maxTurns: number) {
  return demonstratedOptions.extend({
    maxTurns: z
      .int()
      .min(1)
      .default(maxTurns)
      .describe('Turns before the episode ends; OpenEnv knows no limit'),
    instructions: z.string().default('').describe('Told to the agent before everything else'),
  });
}

const schemaAnswer = z.looseObject({ action: z.record(z.string(), z.json()) });
const metadataAnswer = z.looseObject({
  name: z.string().optional(),
  description: z.string(),
  /** Not of OpenEnv: our own servers describe themselves here. */
  turnwise: environmentAnswer.optional(),
});

/** `index` counts within the split; the seed that the server is given is 3 × index + the number of the split. */
type Task = { readonly split: Split; readonly index: number; readonly seed: number };

interface Server {
  readonly url: string;
  readonly actions: ActionForm;
  readonly description: string;
  /** Of a server of ours: its `reset` takes our own parameters too. */
  readonly described?: Described;
}

/**
 * The environment at an OpenEnv address (`ws://`, `wss://`, `http://` or `https://`), with its action schema read.
 *
 * @throws TurnwiseError `remote-unreachable`, `remote-timeout`, `remote-refused`, `remote-answer-invalid`
 */
export async function connectOpenEnv(_name: string, address: string): Promise<WorldFactory<OpenEnvOptions>> {
  const base = address.replace(/^ws/, 'http').replace(/(\/ws)?\/*$/, '');
  const call = { method: 'GET', headers: keyHeaders(), timeoutMs: CONNECT_TIMEOUT_MS } as const;
  const schema = await callJson({ ...call, url: `${base}/schema` }, schemaAnswer);
  const {
    name: said,
    description,
    turnwise: described,
  } = readMetadata(await exchange({ ...call, url: `${base}/metadata` }));
  const server: Server = {
    url: `${base.replace(/^http/, 'ws')}/ws`,
    actions: actionForm(schema.action as JsonObject),
    description,
    ...(described && { described }),
  };
  const own = saidName(described?.name ?? said, 'openenv');
  return defineWorld({
    name: own,
    description,
    options: optionsWith(described?.maxTurns ?? MAX_TURNS),
    // Servers allow one session unless they say otherwise, and cannot be asked.
    settings: described ? settingsOf(described) : { rollout: { concurrency: 1 } },
    create: (chosen) => withDemonstrations(openEnvWorld(own, server, chosen), chosen.demonstrations),
  });
}

function readMetadata(answer: Answer): z.output<typeof metadataAnswer> {
  try {
    return metadataAnswer.parse(JSON.parse(answer.text));
  } catch {
    return { description: 'An environment of an OpenEnv server.' };
  }
}

function openEnvWorld(name: string, server: Server, chosen: z.output<OpenEnvOptions>): World {
  const { described, description, actions } = server;
  return {
    name,
    description,
    roles: [AGENT],
    maxTurns: chosen.maxTurns,
    protocol: actions.protocol,
    tasks: (split): TaskSet<Task> => ({
      size: described ? taskCount(described, split) : Number.POSITIVE_INFINITY,
      at: (index) => ({ split, index, seed: 3 * index + SPLITS.indexOf(split) }),
    }),
    async open(task, rng, startRng) {
      const data = resetParameters(server, task as Task, rng, startRng);
      const { socket, answer } = await openSocket(server, data, chosen.timeoutMs);
      return new OpenEnvSession(socket, actions, chosen, answer);
    },
    ...(described?.scripts && { script: askScript }),
  };
}

async function askScript(session: Session, kind: PlayerKind, rng: Rng): Promise<string | undefined> {
  if (!(session instanceof OpenEnvSession) || session.toMove() === undefined) return undefined;
  return await session.script(kind, rng);
}

function resetParameters(
  server: Server,
  { split, index, seed }: Task,
  rng: Rng,
  startRng: Rng | undefined,
): JsonObject {
  if (!server.described) return { seed, episode_id: `${rng.uint32()}-${rng.uint32()}` };
  const chance = { episode: rng.state, ...(startRng === undefined ? {} : { start: startRng.state }) };
  return { seed, split, index, chance };
}

type Observed = Extract<OpenEnvAnswer, { type: 'observation' }>['data'];

/** A socket whose episode has begun. Waits a little for room: a server ends an episode only after its socket has closed. */
async function openSocket(
  server: Server,
  data: JsonObject,
  timeoutMs: number,
): Promise<{ socket: OpenEnvSocket; answer: Observed }> {
  const deadline = performance.now() + Math.min(ROOM_WAIT_MS, timeoutMs);
  for (;;) {
    const socket = await OpenEnvSocket.connect(server.url, timeoutMs);
    try {
      const answer = await socket.ask('reset', data, timeoutMs);
      if (answer.type === 'observation') return { socket, answer: answer.data };
      socket.close();
      if (answer.type !== 'error' || answer.data.code !== 'CAPACITY_REACHED')
        throw serverError(server.url, answer);
      if (performance.now() > deadline) throw noRoom(server.url, answer.data);
    } catch (error) {
      socket.close();
      throw error;
    }
    await sleep(ROOM_PAUSE_MS);
  }
}

class OpenEnvSession implements Session {
  readonly roles: readonly Role[] = [AGENT];
  readonly #socket: OpenEnvSocket;
  readonly #actions: ActionForm;
  readonly #timeoutMs: number;
  #observation: JsonObject;
  #messages: readonly Message[];
  #done: boolean;

  constructor(
    socket: OpenEnvSocket,
    actions: ActionForm,
    chosen: z.output<OpenEnvOptions>,
    opening: Observed,
  ) {
    this.#socket = socket;
    this.#actions = actions;
    this.#timeoutMs = chosen.timeoutMs;
    this.#observation = opening.observation as JsonObject;
    this.#done = opening.done;
    const told = [chosen.instructions, actions.protocol.instructions ?? ''].filter((text) => text !== '');
    this.#messages = [
      ...(told.length === 0 ? [] : [system(told.join('\n\n'))]),
      ...messagesOf(this.#observation),
    ];
  }

  toMove(): Role | undefined {
    return this.#done ? undefined : AGENT;
  }

  observe(): readonly Message[] {
    return this.#messages;
  }

  /** What was observed: the server's own state may hold what the agent cannot know. */
  anchor(): string {
    return canonicalJson(this.#observation);
  }

  async step(action: string, signal: AbortSignal): Promise<StepResult> {
    const data = this.#actions.read(action);
    if (data === undefined) return this.#refuse('The action cannot be read.');
    const answer = await this.#socket.ask('step', data, this.#timeoutMs, signal);
    if (answer.type === 'error' && answer.data.code === 'VALIDATION_ERROR') {
      return this.#refuse(`${answer.data.message} ${JSON.stringify(answer.data.errors ?? [])}`);
    }
    if (answer.type !== 'observation') throw serverError('the server', answer);
    const { observation, reward, done } = answer.data;
    this.#observation = observation as JsonObject;
    this.#done = done;
    this.#messages = messagesOf(this.#observation);
    const { valid, success, info } = observation;
    const earned = Number(reward ?? 0);
    return {
      rewards: { [AGENT]: earned },
      done,
      success: { [AGENT]: typeof success === 'boolean' ? success : done && earned > 0 },
      valid: typeof valid === 'boolean' ? valid : true,
      ...(info === undefined ? {} : { info: info as Json }),
    };
  }

  /** What a scripted player of the server would write. It draws from a copy of `rng`, which moves on by one draw. */
  async script(player: PlayerKind, rng: Rng): Promise<string | undefined> {
    const data = { player, chance: rng.state };
    rng.next();
    const answer = await this.#socket.ask('script', data, this.#timeoutMs);
    if (answer.type !== 'script') throw serverError('the server', answer);
    return answer.data.text ?? undefined;
  }

  async close(): Promise<void> {
    this.#socket.close();
  }

  /** Nothing happened; the agent is told why. */
  #refuse(problem: string): StepResult {
    this.#messages = [user(problem), ...messagesOf(this.#observation)];
    return { rewards: { [AGENT]: 0 }, done: false, success: { [AGENT]: false }, valid: false };
  }
}

function serverError(url: string, answer: OpenEnvAnswer): TurnwiseError {
  const seen =
    answer.type === 'error'
      ? `${answer.data.code}: ${answer.data.message}`
      : `an answer of type ${answer.type}`;
  return new TurnwiseError('remote-refused', {
    what: `${url} could not go on with the episode`,
    seen,
    fields: { url, origin: 'environment' },
  });
}

function noRoom(
  url: string,
  { active_sessions: active, max_sessions: limit }: Record<string, unknown>,
): TurnwiseError {
  return new TurnwiseError('remote-full', {
    what: `${url} has no room for another episode`,
    ...(typeof limit === 'number' ? { seen: `${active} of ${limit} sessions are open` } : {}),
    next: 'Play fewer at once with --set rollout.concurrency=N, or raise the limit of the server.',
    fields: { url, origin: 'environment' },
  });
}
