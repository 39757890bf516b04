/** A chess engine as a process that speaks UCI, the protocol of Stockfish and most others. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface EngineOptions {
  /** The command, with its arguments. */
  readonly command: string;
  /** Its strength, where it can be limited. */
  readonly elo: number;
  readonly moveMs: number;
}

/** Beyond the time of a move: an engine that says nothing for so long is given up. */
const patienceMs = 10_000;

export class ChessEngine {
  readonly #process: ChildProcess;
  readonly #options: EngineOptions;
  readonly #waiting = new Set<{ take(line: string): void; fail(error: Error): void }>();
  #ended: Error | undefined;

  private constructor(options: EngineOptions) {
    this.#options = options;
    const [file = '', ...rest] = options.command.split(/\s+/);
    this.#process = spawn(file, rest, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#process.on('error', (cause) => this.#end(`cannot be started: ${cause.message}`));
    this.#process.on('exit', (code, signal) => this.#end(`ended with ${signal ?? `code ${code}`}`));
    // A pipe to a process that is gone fails, which its end tells already.
    this.#process.stdin!.on('error', () => {});
    createInterface({ input: this.#process.stdout! }).on('line', (line) => {
      for (const one of this.#waiting) one.take(line);
    });
  }

  /** @throws Error where the command is missing, or does not answer as an engine does */
  static async start(options: EngineOptions, signal: AbortSignal): Promise<ChessEngine> {
    const engine = new ChessEngine(options);
    try {
      let canLimit = false;
      await engine.#ask('uci', signal, (line) => {
        if (line.includes('option name UCI_Elo ')) canLimit = true;
        return line === 'uciok' ? line : undefined;
      });
      if (canLimit) {
        engine.#say('setoption name UCI_LimitStrength value true');
        engine.#say(`setoption name UCI_Elo value ${options.elo}`);
      }
      await engine.#ask('isready', signal, (line) => (line === 'readyok' ? line : undefined));
      return engine;
    } catch (error) {
      engine.close();
      throw error;
    }
  }

  /** Its move in the position, as squares: `e7e5`, `a2a1q`. */
  async bestMove(fen: string, signal: AbortSignal): Promise<string> {
    this.#say(`position fen ${fen}`);
    return this.#ask(
      `go movetime ${this.#options.moveMs}`,
      signal,
      (line) => /^bestmove (\S+)/.exec(line)?.[1],
    );
  }

  close(): void {
    this.#process.kill('SIGKILL');
  }

  #say(line: string): void {
    this.#process.stdin!.write(`${line}\n`);
  }

  /** Says `line`, and waits for the one in which `read` finds what was asked for. */
  #ask(line: string, signal: AbortSignal, read: (line: string) => string | undefined): Promise<string> {
    signal.throwIfAborted();
    if (this.#ended) throw this.#ended;
    return new Promise((resolve, reject) => {
      const stop = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        this.#waiting.delete(one);
        settle();
      };
      const fail = (error: Error): void => stop(() => reject(error));
      const one = {
        fail,
        take: (said: string) => {
          const found = read(said.trim());
          if (found !== undefined) stop(() => resolve(found));
        },
      };
      const aborted = (): void => fail(signal.reason as Error);
      const timer = setTimeout(
        () => fail(this.#problem(`did not answer "${line}" within ${patienceMs + this.#options.moveMs} ms`)),
        patienceMs + this.#options.moveMs,
      );
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.add(one);
      this.#say(line);
    });
  }

  #end(how: string): void {
    this.#ended ??= this.#problem(how);
    for (const one of [...this.#waiting]) one.fail(this.#ended);
  }

  #problem(how: string): Error {
    return new Error(`The chess engine "${this.#options.command}" ${how}`);
  }
}
