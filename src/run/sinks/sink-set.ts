/** The sinks of one run. What a sink throws is kept as a sentence, and ends the sink alone. */

import { setTimeout as sleep } from 'node:timers/promises';
import { thrownText } from '../../core/safe-text.ts';
import type { TimedEvent } from '../../store/log-lines.ts';
import type { RunEnd, Sink, SinkRun, StoredEpisodes } from './sink.ts';

const CLOSE_LIMIT_MS = 5000;

type Told = void | Promise<void>;

export class SinkSet {
  /** With its number, by which warnings name it. */
  readonly #working = new Map<Sink, number>();
  readonly #pending = new Set<Promise<void>>();
  #failures: string[] = [];

  static async open(sinks: readonly Sink[], run: SinkRun): Promise<SinkSet> {
    const set = new SinkSet();
    for (const [index, sink] of sinks.entries()) set.#working.set(sink, index + 1);
    await Promise.all(sinks.map((sink) => set.#guard(sink, () => sink.open?.(run))));
    return set;
  }

  event(event: TimedEvent): void {
    this.#tell((sink) => sink.event(event));
  }

  episodes(stored: StoredEpisodes): void {
    this.#tell((sink) => sink.episodes?.(stored));
  }

  #tell(call: (sink: Sink) => Told | undefined): void {
    for (const sink of this.#working.keys()) {
      const done = this.#guard(sink, () => call(sink));
      if (done === undefined) continue;
      this.#pending.add(done);
      void done.finally(() => this.#pending.delete(done));
    }
  }

  /** A sink that does not end is left behind. */
  async close(end: RunEnd): Promise<void> {
    const over = new AbortController();
    const late = sleep(CLOSE_LIMIT_MS, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([this.#closeAll(end), late]);
    over.abort();
  }

  async #closeAll(end: RunEnd): Promise<void> {
    await Promise.all(this.#pending);
    await Promise.all([...this.#working.keys()].map((sink) => this.#guard(sink, () => sink.close?.(end))));
  }

  /** One sentence for each sink that failed since this was last asked. */
  takeFailures(): readonly string[] {
    const failures = this.#failures;
    this.#failures = [];
    return failures;
  }

  /** Nothing where the call is over; a promise that never rejects where it is not. */
  #guard(sink: Sink, call: () => Told | undefined): Promise<void> | undefined {
    try {
      return call()?.catch((error: unknown) => this.#drop(sink, error));
    } catch (error) {
      this.#drop(sink, error);
      return undefined;
    }
  }

  #drop(sink: Sink, error: unknown): void {
    const number = this.#working.get(sink);
    // Calls under way when it failed may fail as well.
    if (number === undefined) return;
    this.#working.delete(sink);
    this.#failures.push(`Sink ${number} failed and gets no more events: ${thrownText(error)}`);
  }
}
