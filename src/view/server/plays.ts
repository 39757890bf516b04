/** Episodes that somebody plays: each in a process of its own, so that the viewer itself only ever reads. */

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SSEStreamingApi } from 'hono/streaming';
import { z } from 'zod';
import { TurnwiseError } from '../../core/errors.ts';
import { parseStrict } from '../../core/json/parse-strict.ts';
import type { PlayEvent, PlayMove, PlayRequest } from '../play/messages.ts';
import type { RunsFolder } from './runs-folder.ts';

const index = z.int().min(0);
const requestSchema = z.strictObject({
  run: z.string(),
  checkpoint: index.optional(),
  split: z.enum(['train', 'validation', 'test']),
  task: index,
  from: z
    .strictObject({
      place: z.string(),
      group: index,
      member: index,
      label: z.string().optional(),
      turns: index,
    })
    .optional(),
  attempt: index,
  work: z.enum(['states', 'measure', 'entropies']).optional(),
  continuations: z.int().min(1).max(64).optional(),
});
const moveSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('sample') }),
  z.strictObject({ kind: z.literal('rest') }),
  z.strictObject({ kind: z.literal('type'), text: z.string().max(16_384) }),
]);

const mostAtOnce = 2;
/** With those that are over, which a page may still read. */
const mostKept = 16;
const idleMs = 10 * 60_000;
/** After one of these nothing comes. */
const lastKinds: ReadonlySet<string> = new Set(['end', 'done', 'problem'] satisfies PlayEvent['kind'][]);

interface Play {
  readonly child: ChildProcess;
  readonly events: PlayEvent[];
  wake: () => void;
  over: boolean;
  idle: NodeJS.Timeout;
}

/** Beside this file where it was built too, and in dist/ where it runs from source. */
const files = ['../play/play-process.js', '../../../dist/src/view/play/play-process.js'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export class Plays {
  readonly #folder: RunsFolder;
  readonly #besideTraining: boolean;
  readonly #plays = new Map<string, Play>();
  #opened = 0;

  /** @param besideTraining whether it may take the processor from runs that go on */
  constructor(folder: RunsFolder, besideTraining: boolean) {
    this.#folder = folder;
    this.#besideTraining = besideTraining;
  }

  /** Begin an episode. @throws TurnwiseError `config-invalid`, `run-unknown`, `play-busy` */
  open(body: unknown): string {
    const request = parseStrict(requestSchema, body, 'A request to play') as PlayRequest;
    const run = this.#folder.find(request.run);
    const training = this.#folder.list().find((one) => one.state() === 'running');
    if (training && !this.#besideTraining) throw busy(training.name);
    this.#makeRoom();
    const file = files.find((path) => existsSync(path)) ?? files[0]!;
    const child = fork(file, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] });
    const id = String(++this.#opened);
    const play: Play = { child, events: [], wake: () => {}, over: false, idle: this.#idle(id) };
    this.#plays.set(id, play);
    child.on('message', (event) => {
      play.events.push(event as PlayEvent);
      this.#touch(id, play);
      play.wake();
    });
    const ended = (): void => {
      const last = play.events.at(-1)?.kind ?? '';
      if (!play.over && !lastKinds.has(last)) {
        play.events.push({
          kind: 'problem',
          code: 'unexpected',
          message: 'The process that plays has ended.',
        });
      }
      play.over = true;
      play.wake();
    };
    child.once('exit', ended);
    child.once('error', ended);
    child.send({ root: this.#folder.root, request: { ...request, run: run.name } });
    return id;
  }

  /** @throws TurnwiseError `config-invalid`, `play-unknown` */
  move(id: string, body: unknown): void {
    const move: PlayMove = parseStrict(moveSchema, body, 'A move');
    const play = this.#find(id);
    this.#touch(id, play);
    if (play.child.connected) play.child.send(move);
  }

  /** Tell what has happened and what happens, until the episode is over. @throws TurnwiseError `play-unknown` */
  async tell(id: string, after: number, stream: SSEStreamingApi): Promise<void> {
    const play = this.#find(id);
    stream.onAbort(() => play.wake());
    for (let next = after; !stream.aborted; ) {
      for (; next < play.events.length; next++) {
        await stream.writeSSE({
          event: 'play',
          id: String(next + 1),
          data: JSON.stringify(play.events[next]),
        });
      }
      if (play.over) break;
      await new Promise<void>((resolve) => {
        play.wake = resolve;
      });
    }
  }

  close(): void {
    for (const id of this.#plays.keys()) this.#end(id);
  }

  #find(id: string): Play {
    const play = this.#plays.get(id);
    if (!play) {
      throw new TurnwiseError('play-unknown', {
        what: 'This episode is over and gone',
        next: 'Begin another',
      });
    }
    return play;
  }

  /** Stop it, whatever it does. @throws TurnwiseError `play-unknown` */
  stop(id: string): void {
    this.#find(id);
    this.#end(id);
  }

  /** The oldest makes room: whoever opened it went on to another. */
  #makeRoom(): void {
    const under = [...this.#plays].filter(([, { over }]) => !over);
    if (under.length >= mostAtOnce) this.#end(under[0]![0]);
    const oldest = this.#plays.size >= mostKept ? this.#plays.keys().next().value : undefined;
    if (oldest !== undefined) this.#end(oldest);
  }

  #touch(id: string, play: Play): void {
    clearTimeout(play.idle);
    play.idle = this.#idle(id);
  }

  #idle(id: string): NodeJS.Timeout {
    return setTimeout(() => this.#end(id), idleMs).unref();
  }

  #end(id: string): void {
    const play = this.#plays.get(id);
    if (!play) return;
    this.#plays.delete(id);
    clearTimeout(play.idle);
    play.over = true;
    play.child.kill();
    play.wake();
  }
}

function busy(run: string): TurnwiseError {
  return new TurnwiseError('play-busy', {
    what: `The run "${run}" is training, and playing would take the processor from it`,
    next: 'Wait for its end, or start the viewer with --play',
    fields: { run },
  });
}
