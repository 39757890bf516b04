/**
 * Continuous batching: requests join and leave the batch at any token, and conversations keep their rows of the cache
 * between turns, so that a turn computes only what is new.
 */

import { ChoiceWalk } from '../../../core/choices.ts';
import { TurnwiseError } from '../../../core/errors.ts';
import { Rng } from '../../../core/rng.ts';
import { Conversations, TokenList } from '../../../policy/conversations.ts';
import type { TokenProbability } from '../../../policy/sampler.ts';
import type { SampleRequest } from '../../engine.ts';
import { type CallLimits, planCalls } from './call-plan.ts';
import { type Job, pendingOf, type Sampled, type Slot } from './slot.ts';
import { chooseAmong, chooseToken, likeliestTokens } from './token-choice.ts';

/** A model with a cache of rows; the scheduler decides which conversation has which row. */
export interface RowDecoder {
  readonly vocabulary: number;
  /** Feeds `chunks[i]` to row `firstRow` + i; returns the logits after each chunk's last token, [B, V]. */
  step(firstRow: number, chunks: readonly Int32Array[]): Promise<Float32Array>;
  swap(a: number, b: number): void;
  truncate(row: number, length: number): void;
  /** Forgets every row. */
  clear(): void;
  free(): void;
}

export interface SamplerOptions extends CallLimits {
  /** Rows of the cache. */
  readonly slots: number;
  /** Longest sequence, prompt and completion together. */
  readonly contextLength: number;
}

export interface SamplerStatistics {
  /** Tokens fed to the model, without and with padding. */
  forwardTokens: number;
  paddedTokens: number;
  calls: number;
}

/** Of a job that has no row yet. */
const nothing = new TokenList();

export class Sampler {
  readonly statistics: SamplerStatistics = { forwardTokens: 0, paddedTokens: 0, calls: 0 };
  readonly #options: SamplerOptions;
  readonly #decoder: RowDecoder;
  #waiting: Job[] = [];
  /** Jobs that arrived during a pause. */
  #held: Job[] = [];
  /** Those whose conversation was released while they had a job. */
  readonly #ended: Set<Slot> = new Set();
  readonly #conversations = new Conversations();
  #pauses = 0;
  /** In order of last use: the first idle one is evicted first. */
  readonly #slots: Map<string, Slot> = new Map();
  readonly #slotOfRow: (Slot | undefined)[] = [];
  #running: Promise<void> | undefined;

  constructor(decoder: RowDecoder, options: SamplerOptions) {
    this.#decoder = decoder;
    this.#options = options;
  }

  /** Conversations that hold a row. */
  get conversations(): number {
    return this.#slots.size;
  }

  /** Requests that are made together begin together. */
  sample(request: SampleRequest): Promise<Sampled> {
    return new Promise((resolve, reject) => {
      const rng = Rng.of(request.seed);
      const walk = request.choices && new ChoiceWalk(request.choices);
      const job = {
        request,
        rng,
        tokens: nothing,
        logprobs: [],
        top: [],
        resolve,
        reject,
        ...(walk && { walk }),
      };
      (this.#pauses > 0 ? this.#held : this.#waiting).push(job);
      this.#start();
    });
  }

  release(conversations: readonly string[]): void {
    const gone = new Set(conversations);
    const stays = (job: Job): boolean => {
      if (!gone.has(job.request.conversation)) return true;
      job.reject(released(job.request.conversation));
      return false;
    };
    this.#waiting = this.#waiting.filter(stays);
    this.#held = this.#held.filter(stays);
    for (const conversation of gone) {
      const slot = this.#slots.get(conversation);
      // A row that is being fed goes when it has been.
      if (slot?.job) this.#ended.add(slot);
      else if (slot) this.#forget(slot);
      this.#conversations.release(conversation);
    }
    if (this.#slots.size === 0) this.#reset();
  }

  /**
   * Finishes what has been asked so far and then forgets all caches; what is asked from now on waits for `resume`.
   * Resolves when the sampler is idle.
   */
  async pause(): Promise<void> {
    this.#pauses++;
    await this.#running;
    this.#reset();
  }

  resume(): void {
    if (--this.#pauses > 0) return;
    this.#waiting.push(...this.#held.splice(0));
    this.#start();
  }

  #start(): void {
    if (this.#running !== undefined || this.#waiting.length === 0 || this.#pauses > 0) return;
    // Whoever asks in the same breath belongs to the first batch.
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = undefined;
        this.#start();
      });
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        this.#drop();
        this.#admit();
        const busy = this.#slotOfRow.filter((slot) => slot?.job !== undefined) as Slot[];
        if (busy.length === 0) return;
        let firstRow = 0;
        for (const call of planCalls(
          busy.map((slot) => pendingOf(slot).length),
          this.#options,
        )) {
          const members = call.map((index) => busy[index]!);
          await this.#feed(firstRow, members);
          firstRow += call.length;
        }
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Gives rows to waiting jobs, in order; a job whose conversation is busy, or that finds no row, waits on. */
  #admit(): void {
    if (this.#waiting.length === 0) return;
    const stillWaiting: Job[] = [];
    const evictable = this.#evictable();
    for (const job of this.#waiting) {
      const slot = this.#slotFor(job.request.conversation, evictable);
      if (slot === undefined) {
        stillWaiting.push(job);
        continue;
      }
      try {
        this.#begin(job, slot);
      } catch (error) {
        job.reject(error);
      }
    }
    this.#waiting = stillWaiting;
  }

  /** The job's prompt takes the place of what the conversation held; of the row stays whatever both begin with. */
  #begin(job: Job, slot: Slot): void {
    const { request } = job;
    const { keep, append } = request;
    const before = this.#conversations.of(request.conversation);
    const common = keep + (keep <= before.length ? before.agrees(keep, append) : 0);
    job.tokens = this.#conversations.open(request, this.#options.contextLength);
    slot.job = job;
    // At least the last token of the prompt is fed again: its logits are needed.
    slot.cached = Math.min(slot.cached, common, job.tokens.length - 1);
    this.#decoder.truncate(slot.row, slot.cached);
    this.#force(slot);
  }

  /** Ends the jobs of conversations that were released. */
  #drop(): void {
    if (this.#ended.size === 0) return;
    for (const slot of this.#ended) {
      slot.job?.reject(released(slot.conversation));
      this.#forget(slot);
    }
    this.#ended.clear();
    if (this.#slots.size === 0) this.#reset();
  }

  /** Idle slots, the first to be evicted first: those that nobody waits for, least recently used before others. */
  #evictable(): Slot[] {
    const awaited = new Set(this.#waiting.map(({ request }) => request.conversation));
    const idle = [...this.#slots.values()].filter((slot) => slot.job === undefined);
    return [
      ...idle.filter((slot) => !awaited.has(slot.conversation)),
      ...idle.filter((slot) => awaited.has(slot.conversation)),
    ];
  }

  #slotFor(conversation: string, evictable: Slot[]): Slot | undefined {
    const known = this.#slots.get(conversation);
    if (known !== undefined) {
      if (known.job !== undefined) return undefined;
      this.#slots.delete(conversation);
      this.#slots.set(conversation, known);
      return known;
    }
    if (this.#slots.size >= this.#options.slots) {
      let victim = evictable.shift();
      // Some may have been given a job since the list was made.
      while (victim !== undefined && victim.job !== undefined) victim = evictable.shift();
      if (victim === undefined) return undefined;
      this.#forget(victim);
    }
    let row = this.#slotOfRow.indexOf(undefined);
    if (row < 0) row = this.#slotOfRow.length;
    const slot: Slot = { conversation, row, cached: 0, job: undefined };
    this.#slotOfRow[row] = slot;
    this.#slots.set(conversation, slot);
    return slot;
  }

  #forget(slot: Slot): void {
    this.#decoder.truncate(slot.row, 0);
    this.#slotOfRow[slot.row] = undefined;
    this.#slots.delete(slot.conversation);
  }

  /** Back to the state of a new sampler, so that what follows does not depend on what came before. */
  #reset(): void {
    this.#slots.clear();
    this.#slotOfRow.length = 0;
    this.#decoder.clear();
  }

  async #feed(firstRow: number, slots: readonly Slot[]): Promise<void> {
    const rows = this.#gather(firstRow, slots);
    const chunks = rows.map((slot) => pendingOf(slot, this.#options.chunkTokens));
    const logits = await this.#decoder.step(firstRow, chunks);
    const longest = Math.max(...chunks.map((chunk) => chunk.length));
    this.statistics.calls++;
    this.statistics.paddedTokens += longest * rows.length;
    for (const [index, slot] of rows.entries()) {
      this.statistics.forwardTokens += chunks[index]!.length;
      slot.cached += chunks[index]!.length;
      if (pendingOf(slot).length > 0) continue;
      const vocabulary = this.#decoder.vocabulary;
      this.#choose(slot, logits.subarray(index * vocabulary, (index + 1) * vocabulary));
    }
  }

  #choose(slot: Slot, logits_V: Float32Array): void {
    const job = slot.job!;
    const { request, walk } = job;
    const allowed = walk?.next();
    const { id, logprob } = allowed
      ? chooseAmong(logits_V, allowed, request.sampling, job.rng.next())
      : chooseToken(logits_V, request.sampling, job.rng.next());
    if (!Number.isFinite(logprob)) {
      throw new TurnwiseError('non-finite-logits', {
        what: 'The model gave a log-probability that is not finite',
        seen: `${logprob} for token ${job.logprobs.length} of conversation ${request.conversation}`,
        next: 'Lower the learning rate or the gradient clipping norm, and go back to an earlier checkpoint',
        fields: { conversation: request.conversation },
      });
    }
    const { topLogprobs = 0, sampling } = request;
    const top = topLogprobs > 0 ? likeliestTokens(logits_V, sampling.temperature, topLogprobs, allowed) : [];
    if (this.#take(slot, id, logprob, top)) this.#force(slot);
  }

  /** Takes the tokens that alone may come next: the model is not asked. */
  #force(slot: Slot): void {
    for (;;) {
      const next = slot.job?.walk?.next();
      if (next?.length !== 1) return;
      const id = next[0]!;
      if (!this.#take(slot, id, 0, [{ id, logprob: 0 }])) return;
    }
  }

  /** The next token of the slot's job, which ends with it or goes on (true). */
  #take(slot: Slot, id: number, logprob: number, top: readonly TokenProbability[]): boolean {
    const job = slot.job!;
    const { request, walk } = job;
    job.tokens.push([id]);
    job.logprobs.push(logprob);
    walk?.take(id);
    const { topLogprobs = 0 } = request;
    if (topLogprobs > 0) job.top.push(top);
    const stopped = walk ? walk.next().length === 0 : request.stopIds.includes(id);
    const count = job.logprobs.length;
    const full = job.tokens.length >= this.#options.contextLength;
    if (!stopped && !full && count < request.sampling.maxTokens) return true;
    slot.job = undefined;
    job.resolve({
      ids: job.tokens.slice(job.tokens.length - count).slice(),
      logprobs: Float32Array.from(job.logprobs),
      finish: stopped ? 'stop' : 'length',
      ...(topLogprobs > 0 && { top: job.top }),
    });
    return false;
  }

  /** Swaps rows so that `slots` have the rows from `firstRow` on, without gaps; returns them by row. */
  #gather(firstRow: number, slots: readonly Slot[]): Slot[] {
    const end = firstRow + slots.length;
    const members = new Set(slots);
    const outside = slots.filter(({ row }) => row < firstRow || row >= end).sort((a, b) => a.row - b.row);
    for (let row = firstRow; row < end; row++) {
      const present = this.#slotOfRow[row];
      if (present !== undefined && members.has(present)) continue;
      const incoming = outside.shift()!;
      this.#decoder.swap(row, incoming.row);
      this.#slotOfRow[incoming.row] = present;
      this.#slotOfRow[row] = incoming;
      if (present !== undefined) present.row = incoming.row;
      incoming.row = row;
    }
    return this.#slotOfRow.slice(firstRow, end) as Slot[];
  }

  #fail(error: unknown): void {
    for (const slot of this.#slots.values()) slot.job?.reject(error);
    for (const job of this.#waiting) job.reject(error);
    this.#waiting = [];
    this.#ended.clear();
    this.#reset();
    // A cache with values that are not finite would spoil the rows that reuse its memory.
    this.#decoder.free();
  }
}

function released(conversation: string): TurnwiseError {
  return new TurnwiseError('cancelled', {
    what: `Conversation ${conversation} was released before its completion ended`,
    fields: { conversation },
  });
}
