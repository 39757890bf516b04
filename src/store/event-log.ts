/** The log of a run as its writer sees it: append-only, one JSON object a line. Reading: log-lines.ts. */

import { existsSync } from 'node:fs';
import { exactJson } from '../core/json/exact-json.ts';
import { writeError } from '../core/write-error.ts';
import type { StoredEvent } from '../train/loop/events.ts';
import type { Disk } from './disk.ts';
import { readEventFile, readEvents, type TimedEvent } from './log-lines.ts';

export type { TimedEvent } from './log-lines.ts';

export interface EventLogOptions {
  readonly path: string;
  readonly disk: Disk;
  /** The command that continues the run, for error messages. */
  readonly continueWith: string;
  /** Told of every event, after it is stored. */
  readonly onAppend?: (event: TimedEvent) => void;
}

/** What the next event says first: that a generation begins with it, or that an unfinished line before it is void. */
interface Opening {
  readonly generation?: number;
  readonly keeps: number;
  readonly from?: number;
}

/** What of a checkpoint the log must know. */
export interface SeenByCheckpoint {
  readonly step: number;
  readonly eventBytes: number;
  readonly generation: number;
}

/** Where the log ends: its length, and its length up to the end of its last whole line. */
interface End {
  readonly bytes: number;
  readonly wholeBytes: number;
  readonly generation: number;
}

type Warning = Extract<StoredEvent, { readonly type: 'warning' }>;

export class EventLog {
  readonly path: string;
  readonly #options: EventLogOptions;
  /** Known once it is needed: who only reads need not. */
  #end: End | undefined;
  #opening: Opening | undefined;

  constructor(options: EventLogOptions) {
    this.path = options.path;
    this.#options = options;
  }

  /** Length of the log up to its last whole event: what a checkpoint remembers. */
  get bytes(): number {
    return this.#known().wholeBytes;
  }

  /** Of the run: 1, and one more after every resume. */
  get generation(): number {
    return this.#known().generation;
  }

  /**
   * Add an event with the present time. It is with the operating system when this returns.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`: the log then ends where it ended before
   */
  append(event: StoredEvent): TimedEvent {
    const { disk, continueWith, onAppend } = this.#options;
    const { bytes, wholeBytes, generation } = this.#known();
    const cut = wholeBytes < bytes;
    const opening = this.#opening ?? (cut ? { keeps: wholeBytes } : undefined);
    const names = event.type === 'start' || event.type === 'resume';
    const stored: TimedEvent = {
      ...event,
      ...(names && { generation }),
      ...opening,
      time: new Date().toISOString(),
    };
    // A line of its own, also after what a killed process left of the last one.
    const line = `${cut ? '\n' : ''}${exactJson(stored)}\n`;
    try {
      disk.append(this.path, line);
    } catch (error) {
      if (existsSync(this.path)) disk.truncate(this.path, bytes);
      const kept = 'All events before this one are kept, and so is the last checkpoint';
      throw writeError(error, this.path, kept, `continue with: ${continueWith}`);
    }
    const end = bytes + Buffer.byteLength(line);
    this.#end = { bytes: end, wholeBytes: end, generation };
    this.#opening = undefined;
    onAppend?.(stored);
    return stored;
  }

  /**
   * Go on from a checkpoint, or from nothing: the next event begins a generation, and nothing after what the checkpoint
   * saw counts any more. A damaged or shortened log is no reason to give up intact weights.
   *
   * @returns warnings to be stored after that event
   */
  openGeneration(checkpoint?: SeenByCheckpoint): Warning[] {
    const { damaged } = readEventFile(this.path);
    const end = this.#known();
    const { wholeBytes } = end;
    const generation = Math.max(end.generation, checkpoint?.generation ?? 0) + 1;
    this.#end = { ...end, generation };
    const expected = checkpoint?.eventBytes ?? 0;
    const keeps = Math.min(expected, wholeBytes);
    this.#opening = { generation, keeps, from: checkpoint?.step ?? -1 };
    const warnings = checkpoint
      ? damaged.map(({ line }) => `line ${line} of the event log is not JSON; the run continues without it`)
      : [];
    if (wholeBytes < expected) {
      const lost = expected - wholeBytes;
      warnings.push(
        `the event log is ${lost} bytes shorter than the checkpoint says; the weights are intact, and the run continues from them`,
      );
    }
    return warnings.map((message) => ({ type: 'warning', code: 'events-damaged', message }));
  }

  /** The newest event that counts, also in a log that is damaged. */
  last(): TimedEvent | undefined {
    return readEventFile(this.path).lines.findLast(({ replaced }) => !replaced)?.event;
  }

  /** Flush the log to the device. */
  async flush(): Promise<void> {
    if (existsSync(this.path)) await this.#options.disk.flush(this.path);
  }

  /** The events that count, oldest first. @throws TurnwiseError `events-corrupt` */
  read(): TimedEvent[] {
    return readEvents(this.path);
  }

  /** What the next event follows: after `openGeneration`, the events that the checkpoint saw. */
  kept(): TimedEvent[] {
    const { keeps = Number.POSITIVE_INFINITY } = this.#opening ?? {};
    return readEventFile(this.path).lines.flatMap(({ event, end, replaced }) =>
      replaced || end > keeps ? [] : [event],
    );
  }

  #known(): End {
    if (this.#end) return this.#end;
    const { bytes, wholeBytes, generations } = readEventFile(this.path);
    const generation = Math.max(1, ...generations.map((one) => one.generation));
    this.#end = { bytes, wholeBytes, generation };
    return this.#end;
  }
}
