/** A worker thread and the calls that it owes an answer. */

import { Worker } from 'node:worker_threads';
import { TurnwiseError } from '../../core/errors.ts';
import { shareNativeCalls } from '../../graph/node/native-calls.ts';
import { Outbox } from './outbox.ts';
import { type Answer, engineFailed, reviveError } from './worker-messages.ts';

/** Callers that go on before the event loop has its turn: about two milliseconds of episodes in small environments. */
const ANSWERS_AT_ONCE = 32;

/** Hears what a call tells before it is done. */
export type Hearer = (told: unknown) => void;

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly heard: Hearer | undefined;
}

/** Calls are answered by their number. When the thread dies, every pending and later call is rejected. */
export class WorkerLink<Call extends { readonly id: number }> {
  failure: TurnwiseError | undefined;
  readonly #worker: Worker;
  readonly #outbox: Outbox<Call>;
  readonly #pending = new Map<number, Pending>();
  #calls = 0;

  constructor(entry: URL, { name, workerData }: { name: string; workerData: unknown }) {
    shareNativeCalls();
    this.#worker = new Worker(entry, {
      workerData,
      name,
      // The large arrays live outside the heap, and wait for a collection of the young generation. Of 2, 8 and 16 MB, 8 takes a
      // twentieth less time than 2 for 60 MB more; 16 takes no less.
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    });
    this.#worker.on('message', (answers: readonly Answer[]) => void this.#receive(answers));
    this.#outbox = new Outbox((calls, transfer) => {
      // An idle engine must not keep the process alive; one that owes an answer must.
      this.#worker.ref();
      this.#worker.postMessage(calls, transfer);
    });
    this.#worker.on('error', (error) => this.#fail(engineFailed(error)));
    this.#worker.on('exit', (code) =>
      this.#fail(engineFailed(new Error(`the engine's thread ended with code ${code}`))),
    );
  }

  /** `transfer` names buffers that are handed over; the caller must not use them afterwards. */
  call(call: Unnumbered<Call>, transfer: readonly ArrayBuffer[] = [], heard?: Hearer): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.failure !== undefined) {
        reject(this.failure);
        return;
      }
      const id = this.#calls++;
      this.#pending.set(id, { resolve, reject, heard });
      this.#outbox.push({ id, ...call } as unknown as Call, transfer);
    });
  }

  async terminate(): Promise<void> {
    this.failure ??= alreadyClosed();
    await this.#worker.terminate();
  }

  async #receive(answers: readonly Answer[]): Promise<void> {
    for (const [index, answer] of answers.entries()) {
      // Timers and the terminal must not wait until all have gone on.
      if (index > 0 && index % ANSWERS_AT_ONCE === 0) await new Promise(setImmediate);
      const call = this.#pending.get(answer.id);
      if ('told' in answer) {
        call?.heard?.(answer.told);
        continue;
      }
      this.#pending.delete(answer.id);
      // An answer may come after the thread failed; whoever waits for its end must not be left without anything to wait for.
      if (this.#pending.size === 0 && this.failure === undefined) this.#worker.unref();
      if ('error' in answer) call?.reject(reviveError(answer.error));
      else call?.resolve(answer.value);
    }
  }

  #fail(error: TurnwiseError): void {
    this.failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.failure);
    this.#pending.clear();
  }
}

/** A call without its number, whatever kind of call it is. */
type Unnumbered<Call> = Call extends unknown ? Omit<Call, 'id'> : never;

export function alreadyClosed(): TurnwiseError {
  return new TurnwiseError('engine-closed', {
    what: 'The engine was used after it was closed',
    next: 'Create another engine',
  });
}
