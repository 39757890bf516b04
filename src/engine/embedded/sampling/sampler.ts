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
import { SharedPrefixes } from './shared-prefix.ts';
import { type Job, pendingCount, pendingOf, type Sampled, type Slot } from './slot.ts';
import { type RowDecoder, Slots } from './slots.ts';
import { chooseAmong, chooseToken, likeliestTokens } from './token-choice.ts';
import type { Walk } from './walk.ts';

export interface SamplerOptions extends CallLimits {
  /** Rows of the cache. */
  readonly slots: number;
  /** Tokens that two prompts share at least, for one to copy them from the other. */
  readonly sharedTokens: number;
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
  #begun = 0;
  readonly #slots: Slots;
  readonly #prefixes: SharedPrefixes;
  #running: Promise<void> | undefined;

  constructor(decoder: RowDecoder, options: SamplerOptions) {
    this.#decoder = decoder;
    this.#slots = new Slots(decoder, options.slots);
    this.#prefixes = new SharedPrefixes(decoder, this.#slots, this.#conversations, options.sharedTokens);
    this.#options = options;
  }

  /** Conversations that hold a row. */
  get conversations(): number {
    return this.#slots.size;
  }

  /**
   * Requests that are made together begin together.
   *
   * @param walk what may come in it, where that is not any token or its choices
   */
  sample(
    request: SampleRequest,
    walk: Walk | undefined = request.choices && new ChoiceWalk(request.choices),
  ): Promise<Sampled> {
    const sampled = new Promise<Sampled>((resolve, reject) => {
      const rng = Rng.of(request.seed);
      const job = {
        request,
        rng,
        tokens: nothing,
        began: 0,
        logprobs: [],
        entropy: 0,
        top: [],
        resolve,
        reject,
        enough: false,
        ...(walk && { walk }),
      };
      (this.#pauses > 0 ? this.#held : this.#waiting).push(job);
      this.#start();
    });
    return walk?.free ? sampled.finally(() => walk.free?.()) : sampled;
  }

  /** Ends the completions of these conversations with their next tokens. */
  finish(conversations: readonly string[]): void {
    for (const conversation of conversations) {
      const job = this.#slots.get(conversation)?.job;
      if (job) job.enough = true;
    }
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
      else if (slot) this.#slots.forget(slot);
      this.#conversations.release(conversation);
    }
    if (this.#slots.size === 0) this.#slots.clear();
  }

  /**
   * Finishes what has been asked so far and then forgets all caches; what is asked from now on waits for `resume`.
   * Resolves when the sampler is idle.
   */
  async pause(): Promise<void> {
    this.#pauses++;
    await this.#running;
    this.#slots.clear();
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
        const busy = this.#slots.busy();
        if (busy.length === 0) return;
        // The row that began first waits for none, so that there is always one that can be fed.
        const ready = busy.filter((slot) => this.#prefixes.ready(slot));
        let firstRow = 0;
        for (const call of planCalls(ready.map(pendingCount), this.#options)) {
          const members = call.map((index) => ready[index]!);
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
    const awaited = new Set(this.#waiting.map(({ request }) => request.conversation));
    const evictable = this.#slots.evictable(awaited);
    for (const job of this.#waiting) {
      const slot = this.#slots.take(job.request.conversation, evictable);
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
    job.began = this.#begun++;
    slot.job = job;
    // At least the last token of the prompt is fed again: its logits are needed.
    slot.cached = Math.min(slot.cached, common, job.tokens.length - 1);
    this.#decoder.truncate(slot.row, slot.cached);
    this.#prefixes.begin(slot);
    this.#force(slot);
  }

  /** Ends the jobs of conversations that were released. */
  #drop(): void {
    if (this.#ended.size === 0) return;
    for (const slot of this.#ended) {
      slot.job?.reject(released(slot.conversation));
      this.#slots.forget(slot);
    }
    this.#ended.clear();
    if (this.#slots.size === 0) this.#slots.clear();
  }

  async #feed(firstRow: number, slots: readonly Slot[]): Promise<void> {
    const rows = this.#slots.gather(firstRow, slots);
    const chunks = rows.map((slot) => pendingOf(slot, this.#options.chunkTokens));
    const logits = await this.#decoder.step(firstRow, chunks);
    const walks = rows.flatMap(({ job }) => (job?.walk?.ready ? [job.walk.ready()] : []));
    if (walks.length > 0) await Promise.all(walks);
    const longest = Math.max(...chunks.map((chunk) => chunk.length));
    this.statistics.calls++;
    this.statistics.paddedTokens += longest * rows.length;
    for (const [index, slot] of rows.entries()) {
      this.statistics.forwardTokens += chunks[index]!.length;
      slot.cached += chunks[index]!.length;
      if (pendingCount(slot) > 0) continue;
      const vocabulary = this.#decoder.vocabulary;
      this.#choose(slot, logits.subarray(index * vocabulary, (index + 1) * vocabulary));
    }
    // Before anybody hears of what was sampled: rows that others wait for may be released at once.
    for (const slot of this.#slots.busy()) this.#prefixes.ready(slot);
  }

  #choose(slot: Slot, logits_V: Float32Array): void {
    const job = slot.job!;
    const { request, walk } = job;
    const allowed = walk?.next();
    const { id, logprob, entropy } = allowed
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
    job.entropy += entropy;
    if (this.#take(slot, id, logprob, top)) this.#force(slot);
  }

  /** Takes the tokens that alone may come next: the model is not asked. */
  #force(slot: Slot): void {
    for (;;) {
      const id = slot.job?.walk?.forced();
      if (id === undefined) return;
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
    if (request.heard?.(id) === false) job.enough = true;
    const stopped = walk ? walk.ended : request.stopIds.includes(id);
    const count = job.logprobs.length;
    const full = job.tokens.length >= this.#options.contextLength;
    if (!stopped && !full && !job.enough && count < request.sampling.maxTokens) return true;
    slot.job = undefined;
    job.resolve({
      ids: job.tokens.slice(job.tokens.length - count),
      logprobs: Float32Array.from(job.logprobs),
      entropy: Math.fround(job.entropy),
      finish: stopped || job.enough ? 'stop' : 'length',
      ...(topLogprobs > 0 && { top: job.top }),
    });
    return false;
  }

  #fail(error: unknown): void {
    for (const slot of this.#slots.busy()) slot.job?.reject(error);
    for (const job of this.#waiting) job.reject(error);
    this.#waiting = [];
    this.#ended.clear();
    this.#slots.clear();
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
