/**
 * How the environment servers of AgentGym differ: two dialects of one idea, and the quirks of each. What is common is in
 * agentgym.ts.
 */

import type { Json, JsonObject } from '../../core/json/json.ts';

export interface AgentGymServer {
  /** Routes are mounted under this. */
  readonly prefix?: string;
  /** What a session is called in requests. */
  readonly sessionName: 'id' | 'env_idx';
  /** What the number of the task is called in `reset`. */
  readonly taskName: 'data_idx' | 'game' | 'seed' | 'session_id' | 'item_id' | 'id' | 'idx';
  /** Further fields of every `reset`. */
  readonly resetFields?: JsonObject;
  /** Whether `create` must be given an `id`. */
  readonly createTakesId?: boolean;
  /** Servers without a close route keep their sessions; they are reset and used again instead. */
  readonly closes: boolean;
  /** Sessions that the server keeps apart: more share their state. */
  readonly sessions?: number;
  /** Final reward (or score) from which the task counts as solved. */
  readonly solvedAt: number;
  /** The observation of a reset that failed. */
  readonly resetFailure?: string;
  readonly maxTurns: number;
}

const toolServer: AgentGymServer = {
  sessionName: 'env_idx',
  taskName: 'id',
  createTakesId: true,
  closes: false,
  solvedAt: 1,
  maxTurns: 15,
};

/** By the name after `#` in an address. */
export const agentGymServers: Readonly<Record<string, AgentGymServer>> = {
  textcraft: { sessionName: 'id', taskName: 'data_idx', closes: true, solvedAt: 1, maxTurns: 30 },
  babyai: { sessionName: 'id', taskName: 'data_idx', closes: true, solvedAt: Number.MIN_VALUE, maxTurns: 20 },
  sciworld: { sessionName: 'id', taskName: 'data_idx', closes: true, solvedAt: 100, maxTurns: 30 },
  alfworld: {
    sessionName: 'id',
    taskName: 'game',
    resetFields: { world_type: 'Text' },
    closes: false,
    solvedAt: 1,
    maxTurns: 30,
  },
  // These two take 1 for every move but the one that solves the task.
  maze: { prefix: '/maze', sessionName: 'id', taskName: 'game', closes: false, solvedAt: 0, maxTurns: 15 },
  wordle: { prefix: '/wordle', sessionName: 'id', taskName: 'seed', closes: false, solvedAt: 0, maxTurns: 8 },
  webshop: {
    sessionName: 'env_idx',
    taskName: 'session_id',
    closes: false,
    sessions: 8000,
    solvedAt: 1,
    maxTurns: 10,
  },
  sqlgym: {
    sessionName: 'env_idx',
    taskName: 'item_id',
    closes: false,
    sessions: 8,
    solvedAt: 1,
    maxTurns: 1,
  },
  searchqa: { ...toolServer, closes: true, maxTurns: 5 },
  weather: toolServer,
  movie: toolServer,
  todo: toolServer,
  sheet: toolServer,
  academia: toolServer,
  webarena: {
    sessionName: 'env_idx',
    taskName: 'idx',
    resetFields: { seed: 0 },
    closes: true,
    solvedAt: 1,
    resetFailure: 'TimeoutError',
    maxTurns: 25,
  },
};

/** The session in an answer to `create`: a bare number, or a field of an object. */
export function sessionOf(value: Json, { sessionName }: AgentGymServer): number | undefined {
  const found = isObject(value) ? value[sessionName] : value;
  return typeof found === 'number' && Number.isInteger(found) ? found : undefined;
}

/** The text in an answer to `reset` or `step`: `observation` or `state` of an object, the first of a list, or all of it. */
export function textOf(value: Json): string | undefined {
  const found = Array.isArray(value)
    ? value[0]
    : isObject(value)
      ? (value.observation ?? value.state)
      : value;
  return typeof found === 'string' ? found : undefined;
}

export interface AgentGymStep {
  readonly text: string;
  readonly reward: number;
  readonly done: boolean;
  /** What success is judged by: the score where there is one. */
  readonly score: number;
}

export function stepOf(value: Json): AgentGymStep | undefined {
  const text = textOf(value);
  if (!isObject(value) || text === undefined || typeof value.reward !== 'number') return undefined;
  const done = value.done ?? (value.terminated === true || value.truncated === true);
  if (typeof done !== 'boolean') return undefined;
  const score = typeof value.score === 'number' ? value.score : value.reward;
  return { text, reward: value.reward, done, score };
}

/** Failures come with status 200 and a field that says so. */
export function errorOf(value: Json): string | undefined {
  if (!isObject(value) || value.error === undefined || value.error === null) return undefined;
  return typeof value.error === 'string' ? value.error : JSON.stringify(value.error);
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
