/** Environments of another Turnwise process, over our own protocol: everything that a local one can do, snapshots and scripts too. */

import type { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import type { Message } from '../../core/messages.ts';
import type { Rng, RngState } from '../../core/rng.ts';
import { declaredTool } from '../declared-tools.ts';
import type { Split, TaskSet } from '../environment.ts';
import { defineWorld, type WorldFactory } from '../factory.ts';
import { wordCallProtocol } from '../live/word-call-protocol.ts';
import type { WorldPart } from '../mix/part.ts';
import type { ActionProtocol } from '../protocol.ts';
import { rawProtocol } from '../raw-protocol.ts';
import type { Role, Session, Snapshot, SnapshotCost, StepResult } from '../session.ts';
import { tagProtocol } from '../tag-protocol.ts';
import { toolProtocol } from '../tool-protocol.ts';
import {
  environmentAnswer,
  scriptAnswer,
  sessionAnswer,
  snapshotAnswer,
  stepAnswer,
  type WireView,
} from '../wire.ts';
import type { PlayerKind, World } from '../world.ts';
import { type Described, settingsOf, taskCount } from './described.ts';
import { callJson } from './http.ts';
import { keyHeaders } from './key.ts';
import { remoteOptions } from './options.ts';
import { saidName } from './said-name.ts';
import { TurnwiseClient } from './turnwise-client.ts';

type Task = { readonly split: Split; readonly index: number };

/** What leads to a place of a pure environment, as the server opens it: plain JSON. */
type Route = {
  readonly split: Split;
  readonly index: number;
  readonly chance: { readonly episode: RngState; readonly start?: RngState };
  readonly path: readonly { readonly chance?: RngState; readonly actions: readonly string[] }[];
};

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The environment that `turnwise env serve` serves at `url`, described by its server.
 *
 * @throws TurnwiseError `group-scores-remote`, `remote-unreachable`, `remote-timeout`, `remote-refused`, `remote-answer-invalid`
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
  if (described.scoresGroups) {
    throw new TurnwiseError('group-scores-remote', {
      what: `"${described.name}" compares the episodes of a group, which its server at ${base} does not see`,
      next: 'Train in the process that has it, by its file; or serve it without scoreGroup',
      fields: { environment: name },
    });
  }
  const own = saidName(described.name, name);
  return defineWorld({
    name: own,
    description: described.description,
    options: remoteOptions,
    settings: settingsOf(described),
    create: ({ timeoutMs }) => remoteWorld(own, base, described, timeoutMs),
  });
}

function remoteWorld(name: string, base: string, described: Described, timeoutMs: number): World {
  const { description, roles, maxTurns, facts, pure, scripts } = described;
  const client = new TurnwiseClient(base, timeoutMs);
  // Of a pure environment a place is the way to it, wherever it runs.
  const snapshots = pure ? 'free' : described.snapshots;
  return {
    name,
    description,
    roles,
    maxTurns,
    facts,
    ...(pure && { repeats: true as const }),
    ...(snapshots && { snapshots }),
    protocol: protocolOf(described.action),
    tasks: (split): TaskSet<Task> => ({
      size: taskCount(described, split),
      at: (index) => ({ split, index }),
    }),
    async open(task, rng, startRng) {
      const { split, index } = task as Task;
      const chance = { episode: rng.state, ...(startRng === undefined ? {} : { start: startRng.state }) };
      const opened = await client.post('/v1/sessions', { split, index, chance }, sessionAnswer);
      const route = pure ? { split, index, chance, path: [] } : undefined;
      return new TurnwiseSession({ client, roles, snapshots, opened, route });
    },
    ...(scripts && { script: askScript }),
  };
}

async function askScript(session: Session, kind: PlayerKind, rng: Rng): Promise<string | undefined> {
  if (!(session instanceof TurnwiseSession) || session.toMove() === undefined) return undefined;
  return await session.script(kind, rng);
}

function protocolOf({ form, answers, tools = [] }: Described['action']): ActionProtocol {
  const declared = tools.map((tool) => declaredTool(tool.function));
  if (form === 'tools') return toolProtocol(declared, { answers });
  if (form === 'calls') return wordCallProtocol(declared, { answers });
  return form === 'tags' ? tagProtocol : rawProtocol;
}

interface SessionParts {
  readonly client: TurnwiseClient;
  readonly roles: readonly Role[];
  readonly snapshots: SnapshotCost | null;
  readonly opened: z.output<typeof sessionAnswer>;
  /** What led there, where repeating it does so again. */
  readonly route: Route | undefined;
}

export class TurnwiseSession implements Session {
  readonly roles: readonly Role[];
  readonly part?: WorldPart;
  readonly snapshot?: () => Promise<Snapshot>;
  readonly #parts: SessionParts;
  readonly #client: TurnwiseClient;
  readonly #path: string;
  /** Since it was opened. */
  readonly #actions: string[] = [];
  #view: WireView;
  #step: number;

  constructor(parts: SessionParts) {
    const { client, roles, snapshots, opened, route } = parts;
    this.roles = roles;
    this.#parts = parts;
    this.#client = client;
    this.#path = `/v1/sessions/${opened.session}`;
    this.#view = opened.view;
    this.#step = opened.step;
    if (opened.part) {
      const { name, maxTurns, action } = opened.part;
      this.part = { name, maxTurns, protocol: protocolOf(action) };
    }
    if (route) this.snapshot = async () => this.#wayHere(route);
    else if (snapshots) this.snapshot = () => this.#hold();
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
    this.#actions.push(action);
    this.#view = view;
    this.#step = step + 1;
    const { info, metrics, ...plain } = result;
    return { ...plain, ...(metrics && { metrics }), ...(info !== undefined && { info }) };
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

  /** Costs nothing until it is opened, here and on the server. */
  #wayHere({ path, ...start }: Route): Snapshot {
    const here: Route = { ...start, path: [...path, { actions: [...this.#actions] }] };
    const { anchor } = this.#view;
    return {
      cost: 'free',
      open: async ({ chance } = {}) => {
        const fresh = chance && [{ chance: chance.state, actions: [] }];
        const route: Route = { ...here, path: [...here.path, ...(fresh ?? [])] };
        const opened = await this.#client.post('/v1/sessions', route, sessionAnswer);
        const session = new TurnwiseSession({ ...this.#parts, opened, route });
        if (opened.view.anchor === anchor) return session;
        await session.close();
        throw ledElsewhere(opened.view.anchor, anchor);
      },
      toJson: () => here,
      dispose: async () => {},
    };
  }

  /** Held by the server, until it is given back or its lease ends. */
  async #hold(): Promise<Snapshot> {
    const { snapshot, cost } = await this.#client.post(`${this.#path}/snapshot`, {}, snapshotAnswer);
    const path = `/v1/snapshots/${snapshot}`;
    return {
      cost,
      open: async ({ chance } = {}) => {
        const body = chance ? { chance: chance.state } : {};
        const opened = await this.#client.post(`${path}/sessions`, body, sessionAnswer);
        return new TurnwiseSession({ ...this.#parts, opened });
      },
      dispose: () => this.#client.remove(path),
    };
  }
}

function ledElsewhere(seen: string, expected: string): TurnwiseError {
  return new TurnwiseError('replay-differs', {
    what: 'The server says that its environment is pure, and the same chance and actions led it to another state',
    seen: seen.slice(0, 500),
    allowed: expected.slice(0, 500),
    next: 'Take what its step reads outside the state out of it, or leave `pure` out of its world',
  });
}
