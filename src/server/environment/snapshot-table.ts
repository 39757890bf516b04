/** The snapshots that clients of an environment server hold, each for as long as its lease. Knows nothing of HTTP. */

import { randomUUID } from 'node:crypto';
import { TurnwiseError } from '../../core/errors.ts';
import type { Snapshot } from '../../env/session.ts';
import type { SessionLimits } from './limits.ts';
import { within } from './within.ts';

/** Free snapshots are memory only, so there may be more of them than sessions, by this factor. */
const FREE_FACTOR = 16;

export interface HeldSnapshot {
  readonly id: string;
  readonly snapshot: Snapshot;
  readonly leaseMs: number;
  /** The number of the next step of sessions that go on from it. */
  readonly nextStep: number;
}

interface Entry extends HeldSnapshot {
  readonly key: string | undefined;
  deadline: number;
}

export interface TakeOptions extends Pick<HeldSnapshot, 'leaseMs' | 'nextStep'> {
  /** The same key gives the same snapshot, for as long as it is held. */
  readonly key: string | undefined;
}

export class SnapshotTable {
  readonly #limits: SessionLimits;
  readonly #entries = new Map<string, Entry>();
  /** By idempotency key, as long as the snapshot is held. */
  readonly #taken = new Map<string, Promise<Entry>>();
  #closing = false;

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many sessions' places those take that are not free. */
  get places(): number {
    let places = 0;
    for (const { snapshot } of this.#entries.values()) if (snapshot.cost !== 'free') places++;
    return places;
  }

  /**
   * @param requireRoom throws where there is no place of a session left, which snapshots that are not free take
   * @throws TurnwiseError `session-limit`, `environment-timeout`, and what `take` raises
   */
  async take(take: () => Promise<Snapshot>, as: TakeOptions, requireRoom: () => void): Promise<HeldSnapshot> {
    const { key } = as;
    if (key === undefined) return await this.#hold(take, as, requireRoom);
    const earlier = this.#taken.get(key);
    if (earlier) return await earlier;
    const entry = this.#hold(take, as, requireRoom);
    this.#taken.set(key, entry);
    entry.catch(() => this.#taken.delete(key));
    return await entry;
  }

  /** The snapshot, whose lease this renews. @throws TurnwiseError `snapshot-unknown` */
  find(id: string): HeldSnapshot {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.deadline < performance.now()) {
      throw new TurnwiseError('snapshot-unknown', {
        what: 'There is no such snapshot',
        seen: id.slice(0, 64),
        next: 'It was given back, its lease ended, or it never existed.',
        fields: { snapshot: id.slice(0, 64) },
      });
    }
    entry.deadline = performance.now() + entry.leaseMs;
    return entry;
  }

  /** @throws TurnwiseError `snapshot-unknown` */
  async dispose(id: string): Promise<void> {
    this.find(id);
    await this.#end(id);
  }

  /** Let go of one that nobody was there to be given. */
  abandon(id: string): Promise<void> {
    return this.#end(id);
  }

  /** Let go of those whose lease ended. Gives their number. */
  sweep(now: number): number {
    const ended = [...this.#entries.values()].filter(({ deadline }) => deadline < now);
    for (const { id } of ended) void this.#end(id);
    return ended.length;
  }

  /** Let go of all; none can be taken afterwards. */
  async shutDown(): Promise<void> {
    this.#closing = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.#end(id)));
  }

  async #hold(take: () => Promise<Snapshot>, as: TakeOptions, requireRoom: () => void): Promise<Entry> {
    const limit = this.#limits.maxSessions * FREE_FACTOR;
    if (this.size >= limit) {
      throw new TurnwiseError('session-limit', {
        what: 'The server has no room for another snapshot',
        seen: `${this.size} held`,
        allowed: `${limit} at once`,
        next: 'Give back those that are done, or start the server with a higher --sessions.',
        fields: { held: this.size, limit },
      });
    }
    const taking = take();
    let snapshot: Snapshot;
    try {
      snapshot = await within(this.#limits.stepTimeoutMs, taking, 'a snapshot');
    } catch (error) {
      // One that comes too late has nobody who could give it back.
      taking.then(disposeQuietly, () => {});
      throw error;
    }
    try {
      if (this.#closing || snapshot.cost !== 'free') requireRoom();
    } catch (error) {
      await disposeQuietly(snapshot);
      throw error;
    }
    const entry: Entry = { ...as, id: randomUUID(), snapshot, deadline: performance.now() + as.leaseMs };
    this.#entries.set(entry.id, entry);
    return entry;
  }

  async #end(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    if (entry.key !== undefined) this.#taken.delete(entry.key);
    const disposing = disposeQuietly(entry.snapshot);
    await within(this.#limits.stepTimeoutMs, disposing, 'letting go of a snapshot').catch(() => {});
  }
}

async function disposeQuietly(snapshot: Snapshot): Promise<void> {
  await snapshot.dispose().catch(() => {});
}
