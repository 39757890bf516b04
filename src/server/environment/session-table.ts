/**
 * The open sessions of an environment server: how many there may be, how long each lives without a word from its client,
 * and steps that are taken once however often they are asked for. Knows nothing of HTTP or WebSockets.
 */

import { randomUUID } from 'node:crypto';
import { TurnwiseError } from '../../core/errors.ts';
import type { Rng } from '../../core/rng.ts';
import type { Session, Snapshot } from '../../env/session.ts';
import { viewOf } from '../../env/wire.ts';
import { type ServerFigures, serverFigures } from './figures.ts';
import type { SessionLimits } from './limits.ts';
import { noSnapshots } from './open-episode.ts';
import { closeQuietly, type Entry, type OpenSession, type StepOutcome } from './open-session.ts';
import { type HeldSnapshot, SnapshotTable } from './snapshot-table.ts';
import { within } from './within.ts';

export type { OpenSession, StepOutcome } from './open-session.ts';

export class SessionTable {
  readonly limits: SessionLimits;
  readonly figures: ServerFigures = serverFigures();
  readonly snapshots: SnapshotTable;
  readonly #entries = new Map<string, Entry>();
  /** Openings by idempotency key, as long as the session lives. */
  readonly #opened = new Map<
    string,
    { readonly body: string; readonly entry: Promise<Entry>; claims: number }
  >();
  readonly #sweeper: NodeJS.Timeout;
  /** Sessions that are being opened hold a place already. */
  #opening = 0;
  #closing = false;

  constructor(limits: SessionLimits) {
    this.limits = limits;
    this.snapshots = new SnapshotTable(limits);
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(5, Math.min(1000, limits.leaseMs / 4)));
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#entries.size + this.#opening;
  }

  /** As text that Prometheus reads. */
  metrics(environment: string): string {
    return this.figures.text(this.size, this.snapshots.size, this.limits.maxSessions, environment);
  }

  /**
   * @param key the same key and body give the same session, for as long as it is open
   * @throws TurnwiseError `session-limit`, `idempotency-conflict`, `environment-timeout`, and what `start` raises
   */
  async open(
    start: () => Promise<Session>,
    options: {
      readonly leaseMs?: number | undefined;
      readonly key?: string | undefined;
      readonly body?: string;
    } = {},
    nextStep = 0,
  ): Promise<OpenSession> {
    const { key, body = '' } = options;
    const leaseMs = Math.min(options.leaseMs ?? this.limits.leaseMs, this.limits.leaseMs);
    const earlier = key === undefined ? undefined : this.#opened.get(key);
    if (earlier === undefined) {
      const entry = this.#begin(start, leaseMs, nextStep);
      if (key === undefined) return await entry;
      this.#opened.set(key, { body, entry, claims: 1 });
      entry.then(
        ({ ending }) => ending.signal.addEventListener('abort', () => this.#opened.delete(key)),
        () => this.#opened.delete(key),
      );
      return await entry;
    }
    if (earlier.body !== body) {
      throw new TurnwiseError('idempotency-conflict', {
        what: 'The idempotency key was used for another request',
        next: 'Use a new key for a new session.',
      });
    }
    earlier.claims++;
    const entry = await earlier.entry;
    this.#renew(entry);
    return entry;
  }

  /**
   * Take the step of that number. The last number again, with the same action, gives the stored answer.
   *
   * @throws TurnwiseError `session-unknown`, `step-conflict`, `step-out-of-order`, `session-busy`, `environment-timeout`,
   * and what the environment raises
   */
  step(id: string, step: number, action: string): Promise<StepOutcome> {
    const entry = this.#find(id);
    const { last } = entry;
    if (last?.step === step) {
      if (last.action === action) return last.outcome;
      throw new TurnwiseError('step-conflict', {
        what: `Step ${step} was requested before, with another action`,
        next: 'A step that was taken cannot be taken differently; take a snapshot before it instead.',
        fields: { step },
      });
    }
    if (step !== entry.nextStep) {
      throw new TurnwiseError('step-out-of-order', {
        what: 'The steps of a session follow one another',
        seen: `step ${step}`,
        allowed: `step ${entry.nextStep}${last === undefined ? '' : `, or step ${last.step} again`}`,
        fields: { step, next: entry.nextStep },
      });
    }
    this.#refuseIfBusy(entry);
    const outcome = this.#take(entry, step, action);
    entry.last = { step, action, outcome };
    // A step that failed was not taken: the session is where it was before.
    outcome.catch(() => {
      entry.last = last;
    });
    return outcome;
  }

  /** Hold the place of a session. @throws TurnwiseError `snapshot-unsupported` and as `open` */
  async snapshot(id: string, key?: string): Promise<HeldSnapshot> {
    const entry = this.#find(id);
    this.#refuseIfBusy(entry);
    const { session, nextStep, leaseMs } = entry;
    if (session.snapshot === undefined) throw noSnapshots();
    const take = (): Promise<Snapshot> => session.snapshot!();
    const name = key === undefined ? undefined : JSON.stringify([id, nextStep, key]);
    return await this.snapshots.take(take, { nextStep, leaseMs, key: name }, () => this.#requireRoom());
  }

  /** A session that goes on from a snapshot. @throws TurnwiseError `snapshot-unknown` and as `open` */
  async reopen(id: string, chance: Rng | undefined, key?: string): Promise<OpenSession> {
    const { snapshot, leaseMs, nextStep } = this.snapshots.find(id);
    const body = JSON.stringify(['snapshot', id, chance?.state]);
    return await this.open(() => snapshot.open(chance && { chance }), { leaseMs, key, body }, nextStep);
  }

  /** The session, whose lease this renews. @throws TurnwiseError `session-unknown` */
  read(id: string): OpenSession {
    return this.#find(id);
  }

  /** @throws TurnwiseError `session-unknown`, also for a session that was closed before */
  async close(id: string): Promise<void> {
    const entry = this.#find(id);
    this.figures.closed++;
    await this.#end(entry);
  }

  /** End a session that nobody was there to be given, unless another request with the same key was answered. */
  async abandon(id: string, key?: string): Promise<void> {
    const claimed = key === undefined ? undefined : this.#opened.get(key);
    if (claimed && --claimed.claims > 0) return;
    const entry = this.#entries.get(id);
    if (entry) await this.#end(entry);
  }

  /** End every session; nothing can be opened afterwards. */
  async shutDown(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#sweeper);
    const ends = [...this.#entries.values()].map((entry) => this.#end(entry));
    await Promise.all([...ends, this.snapshots.shutDown()]);
  }

  async #begin(start: () => Promise<Session>, leaseMs: number, nextStep: number): Promise<Entry> {
    this.#requireRoom();
    this.#opening++;
    let opened: Promise<Session> | undefined;
    try {
      opened = start();
      const session = await within(this.limits.stepTimeoutMs, opened, 'opening a session');
      const entry: Entry = {
        id: randomUUID(),
        session,
        leaseMs,
        ending: new AbortController(),
        view: viewOf(session),
        nextStep,
        last: undefined,
        busy: 0,
        deadline: performance.now() + leaseMs,
      };
      if (this.#closing) {
        await closeQuietly(session);
        throw new TurnwiseError('session-limit', { what: 'The server is shutting down' });
      }
      this.#entries.set(entry.id, entry);
      this.figures.opened++;
      return entry;
    } catch (error) {
      // A session that opens too late has nobody who could close it.
      opened?.then(closeQuietly, () => {});
      throw error;
    } finally {
      this.#opening--;
    }
  }

  #requireRoom(): void {
    const taken = this.size + this.snapshots.places;
    if (!this.#closing && taken < this.limits.maxSessions) return;
    this.figures.refused++;
    throw new TurnwiseError('session-limit', {
      what: this.#closing ? 'The server is shutting down' : 'The server has no room for another session',
      seen: `${taken} open`,
      allowed: `${this.limits.maxSessions} at once`,
      next: 'Close sessions that are done, or start the server with a higher --sessions.',
      fields: { open: taken, limit: this.limits.maxSessions },
    });
  }

  async #take(entry: Entry, step: number, action: string): Promise<StepOutcome> {
    const started = performance.now();
    entry.busy++;
    try {
      const result = await within(
        this.limits.stepTimeoutMs,
        entry.session.step(action, entry.ending.signal),
        `step ${step}`,
        entry.ending.signal,
      );
      entry.view = viewOf(entry.session);
      entry.nextStep = step + 1;
      return { ...result, step, view: entry.view };
    } catch (error) {
      this.figures.failed++;
      // A step that may still be running leaves nothing that could be relied on.
      if (TurnwiseError.isInstance(error) && error.code === 'environment-timeout') void this.#end(entry);
      throw error;
    } finally {
      entry.busy--;
      this.#renew(entry);
      this.figures.observeStep((performance.now() - started) / 1000);
    }
  }

  #find(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.deadline < performance.now()) {
      throw new TurnwiseError('session-unknown', {
        what: 'There is no such session',
        seen: id.slice(0, 64),
        next: 'It was closed, its lease ended, or it never existed. Open a new one.',
        fields: { session: id.slice(0, 64) },
      });
    }
    this.#renew(entry);
    return entry;
  }

  #renew(entry: Entry): void {
    entry.deadline = performance.now() + entry.leaseMs;
  }

  #refuseIfBusy(entry: Entry): void {
    if (entry.busy === 0) return;
    throw new TurnwiseError('session-busy', {
      what: 'The last step of this session is still under way',
      next: 'Wait for its answer first.',
    });
  }

  #sweep(): void {
    const now = performance.now();
    this.figures.reclaimed += this.snapshots.sweep(now);
    for (const entry of this.#entries.values()) {
      // A step under way has its own deadline, and renews the lease when it ends.
      if (entry.deadline >= now || entry.busy > 0) continue;
      this.figures.reclaimed++;
      void this.#end(entry);
    }
  }

  async #end(entry: Entry): Promise<void> {
    if (!this.#entries.delete(entry.id)) return;
    entry.ending.abort(new TurnwiseError('session-unknown', { what: 'The session was closed' }));
    await within(this.limits.stepTimeoutMs, closeQuietly(entry.session), 'closing a session').catch(() => {});
  }
}
