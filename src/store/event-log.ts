/** The append-only log of a run: one JSON object a line. The last line may be cut short by a killed process. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { TurnwiseError } from '../core/errors.ts';
import { writeError } from '../core/write-error.ts';
import type { StoredEvent } from '../train/events.ts';
import type { Disk } from './disk.ts';

/** An event as it is stored: with the time it was written (ISO 8601). */
export type TimedEvent = StoredEvent & { readonly time: string };

export class EventLog {
  readonly path: string;
  readonly #disk: Disk;
  readonly #continueWith: string;
  #bytes: number;

  /** @param continueWith the command that continues the run, for error messages */
  constructor(path: string, disk: Disk, continueWith: string) {
    this.path = path;
    this.#disk = disk;
    this.#continueWith = continueWith;
    this.#bytes = existsSync(path) ? statSync(path).size : 0;
  }

  /** Length of the log: what a checkpoint remembers, so that a resumed run can cut what came after. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Add an event with the present time. It is with the operating system when this returns.
   *
   * @throws TurnwiseError `disk-full`, `disk-failed`: the log then ends where it ended before
   */
  append(event: StoredEvent): TimedEvent {
    const stored: TimedEvent = { ...event, time: new Date().toISOString() };
    const line = `${JSON.stringify(stored)}\n`;
    try {
      this.#disk.append(this.path, line);
    } catch (error) {
      if (existsSync(this.path)) this.#disk.truncate(this.path, this.#bytes);
      const kept = 'All events before this one are kept, and so is the last checkpoint';
      throw writeError(error, this.path, kept, `continue with: ${this.#continueWith}`);
    }
    this.#bytes += Buffer.byteLength(line);
    return stored;
  }

  /** Cut everything after the first `bytes` bytes. */
  truncate(bytes: number): void {
    if (bytes > this.#bytes) {
      throw new TurnwiseError('checkpoint-corrupt', {
        what: 'The event log is shorter than the checkpoint says',
        seen: `${this.#bytes} bytes in ${this.path}`,
        allowed: `at least ${bytes} bytes`,
        next: 'Resume from an earlier checkpoint by deleting this one, or restore the file',
        fields: { path: this.path, bytes: this.#bytes, expected: bytes },
      });
    }
    if (bytes === this.#bytes) return;
    // A checkpoint of another run may remember a length that falls into the middle of a line here.
    if (bytes > 0 && readFileSync(this.path)[bytes - 1] !== 0x0a) {
      throw new TurnwiseError('checkpoint-foreign', {
        what: 'The event log has no line that ends where the checkpoint says',
        seen: `byte ${bytes} of ${this.path} is in the middle of a line`,
        next: 'Resume from a checkpoint of this run: delete this one',
        fields: { path: this.path, bytes },
      });
    }
    this.#disk.truncate(this.path, bytes);
    this.#bytes = bytes;
  }

  /** Cut a last line that a killed process left unfinished. */
  repair(): void {
    if (!existsSync(this.path)) return;
    const end = readFileSync(this.path).lastIndexOf(0x0a) + 1;
    if (end < this.#bytes) this.truncate(end);
  }

  /** All whole events, oldest first. */
  read(): TimedEvent[] {
    return readEvents(this.path);
  }
}

/**
 * All whole events of a log; an unfinished last line is left out.
 *
 * @throws TurnwiseError `events-corrupt` where a whole line is not JSON
 */
export function readEvents(path: string): TimedEvent[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as TimedEvent;
    } catch (cause) {
      throw new TurnwiseError('events-corrupt', {
        what: 'The event log of this run has a line that is not JSON',
        seen: `${path}, line ${index + 1}: ${line.slice(0, 60)}`,
        next: 'Restore the file, or delete that line if the rest is wanted for reading only',
        fields: { path, line: index + 1 },
        cause,
      });
    }
  });
}
