/** Lines of JSON with a process, over a socket in the folder of its runtime. What it sends is data, and bounded. */

import { createServer, type Server, type Socket } from 'node:net';

/** Longest that may wait to be read, in characters. */
const MOST_WAITING = 8_000_000;

export type Said = Readonly<Record<string, unknown>>;

export class Channel {
  readonly #socket: Socket;
  readonly #said: (Said | undefined)[] = [];
  #waiting: ((said: Said | undefined) => void) | undefined;
  #text = '';

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.unref();
    socket.on('error', () => {});
    socket.on('close', () => this.#hear(undefined));
    socket.on('data', (text: string) => {
      this.#text += text;
      if (this.#text.length > MOST_WAITING) socket.destroy();
      const lines = this.#text.split('\n');
      this.#text = lines.pop() ?? '';
      for (const line of lines) this.#hear(parsed(line));
    });
  }

  /** The first process that connects; undefined when nobody does in time, or `given up` is called. */
  static async accept(
    path: string,
    begin: () => void,
    limitMs: number,
    failed: Promise<never>,
  ): Promise<Channel | undefined> {
    const server: Server = createServer();
    try {
      return await Promise.race([
        new Promise<Channel | undefined>((resolve, reject) => {
          const timer = setTimeout(() => resolve(undefined), limitMs);
          server.once('connection', (socket) => {
            clearTimeout(timer);
            resolve(new Channel(socket));
          });
          server.once('error', reject);
          server.listen(path, begin);
        }),
        failed,
      ]);
    } finally {
      server.close();
    }
  }

  send(message: Said): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** The next line; undefined once the other side is gone, or nothing came in time. */
  async next(limitMs?: number): Promise<Said | undefined> {
    if (this.#said.length > 0) return this.#said.shift();
    if (this.#socket.destroyed) return undefined;
    this.#socket.ref();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        this.#waiting = resolve;
        if (limitMs !== undefined) timer = setTimeout(() => this.#hear(undefined), limitMs);
      });
    } finally {
      clearTimeout(timer);
      this.#socket.unref();
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(said: Said | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(said);
    else if (said !== undefined) this.#said.push(said);
  }
}

function parsed(line: string): Said {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Said) : {};
  } catch {
    return {};
  }
}
