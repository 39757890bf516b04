/** The log of a run as somebody reads it who watches: every byte once, and of the many lines with metrics only the last. */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Generation } from './generations.ts';
import { parseEvent, type TimedEvent } from './log-lines.ts';

export interface TailLine {
  readonly event: TimedEvent;
  /** Bytes from the start of the file to the end of the line. */
  readonly end: number;
}

export interface Tail {
  /** The file is another one, or was cut: everything that was read before is void. */
  readonly restarted: boolean;
  readonly lines: readonly TailLine[];
}

/** At most so much is read at once; a longer line is no event. */
const chunkBytes = 4 * 2 ** 20;
/** How lines begin that are only metrics, which metrics.bin has too. */
const metricLines = ['{"type":"step",', '{"type":"clone",'].map((text) => Buffer.from(text));
/** What makes a line more than metrics: it opens a generation, or tells how imitation went. */
const tellsMore = ['"keeps":', '"clone/checked_episodes":'].map((text) => Buffer.from(text));

export class EventTail {
  readonly #path: string;
  #offset: number;
  #inode: number | undefined;
  #generations: Generation[] = [];
  #damaged = 0;

  /** @param offset where to begin: the end of a line that was read before */
  constructor(path: string, offset = 0) {
    this.#path = path;
    this.#offset = offset;
  }

  /** Bytes read, up to the end of the last whole line. */
  get offset(): number {
    return this.#offset;
  }

  get generations(): readonly Generation[] {
    return this.#generations;
  }

  /** Whole lines so far that are no events. */
  get damaged(): number {
    return this.#damaged;
  }

  /**
   * What was appended since the last call. A line that is not finished yet comes when it is.
   *
   * @param all whether every line is wanted; otherwise, of lines that are only metrics, the last of each call alone
   */
  next(all = false): Tail {
    let file: number;
    try {
      file = openSync(this.#path, 'r');
    } catch {
      return { restarted: false, lines: [] };
    }
    try {
      const { ino, size } = fstatSync(file);
      const restarted = size < this.#offset || (this.#inode !== undefined && ino !== this.#inode);
      if (restarted) {
        this.#offset = 0;
        this.#generations = [];
        this.#damaged = 0;
      }
      this.#inode = ino;
      const lines: TailLine[] = [];
      let skipped: { readonly text: Buffer; readonly end: number; readonly place: number } | undefined;
      while (this.#offset < size) {
        const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - this.#offset));
        const bytes = chunk.subarray(0, readSync(file, chunk, 0, chunk.length, this.#offset));
        const before = this.#offset;
        for (let start = 0; ; ) {
          const end = bytes.indexOf(0x0a, start) + 1;
          if (end === 0) break;
          const text = bytes.subarray(start, end - 1);
          start = end;
          this.#offset += text.length + 1;
          if (text.length === 0) continue;
          if (!all && isOnlyMetrics(text)) {
            skipped = { text, end: this.#offset, place: lines.length };
            continue;
          }
          this.#add(text, lines);
        }
        // A line that is not finished, or one that is no event for its length.
        if (this.#offset === before) {
          if (bytes.length < chunkBytes) break;
          this.#offset += bytes.length;
        }
      }
      const event = skipped && parseEvent(skipped.text.toString('utf8'));
      if (skipped && event) lines.splice(skipped.place, 0, { event, end: skipped.end });
      return { restarted, lines };
    } finally {
      closeSync(file);
    }
  }

  #add(text: Buffer, lines: TailLine[]): void {
    const event = parseEvent(text.toString('utf8'));
    if (!event) {
      this.#damaged++;
      return;
    }
    const { generation, from = -1 } = event;
    if (generation !== undefined && generation !== this.#generations.at(-1)?.generation) {
      this.#generations.push({ generation, from });
    }
    lines.push({ event, end: this.#offset });
  }
}

function isOnlyMetrics(line: Buffer): boolean {
  const begins = metricLines.some((head) => line.subarray(0, head.length).equals(head));
  return begins && !tellsMore.some((text) => line.includes(text));
}
