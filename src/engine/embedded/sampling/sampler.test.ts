import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleAll } from '../../../policy/sampler.ts';
import type { SampleRequest } from '../../engine.ts';
import { Sampler, type SamplerOptions } from './sampler.ts';
import type { RowDecoder } from './slots.ts';

const vocabulary = 7;

/** A model without weights: the next token is certain, a hash of all tokens in the row. */
const successor = (tokens: readonly number[]): number =>
  tokens.reduce((hash, token) => (hash * 31 + token + 1) % 10007, 7) % vocabulary;

class FakeDecoder implements RowDecoder {
  readonly vocabulary: number = vocabulary;
  readonly calls: { firstRow: number; lengths: number[] }[] = [];
  rows: number[][] = [];
  failAtCall = Number.POSITIVE_INFINITY;
  logit = 100;
  freed = 0;

  async step(firstRow: number, chunks: readonly Int32Array[]): Promise<Float32Array> {
    this.calls.push({ firstRow, lengths: chunks.map((chunk) => chunk.length) });
    if (this.calls.length > this.failAtCall) throw new Error('the decoder broke');
    await Promise.resolve();
    const logits = new Float32Array(chunks.length * vocabulary);
    for (const [index, chunk] of chunks.entries()) {
      this.#row(firstRow + index).push(...chunk);
      logits[index * vocabulary + successor(this.rows[firstRow + index]!)] = this.logit;
    }
    return logits;
  }

  swap(a: number, b: number): void {
    const kept = this.#row(a);
    this.rows[a] = this.#row(b);
    this.rows[b] = kept;
  }

  truncate(row: number, length: number): void {
    this.#row(row).length = Math.min(length, this.#row(row).length);
  }

  copy(from: number, to: number, length: number): void {
    this.rows[to] = this.#row(from).slice(0, length);
  }

  clear(): void {
    this.rows = [];
  }

  free(): void {
    this.clear();
    this.freed++;
  }

  #row(row: number): number[] {
    this.rows[row] ??= [];
    return this.rows[row];
  }
}

function continuation(prompt: readonly number[], count: number): number[] {
  const tokens = [...prompt];
  for (let k = 0; k < count; k++) tokens.push(successor(tokens));
  return tokens.slice(prompt.length);
}

const request = (conversation: string, prompt: readonly number[], maxTokens: number): SampleRequest => ({
  conversation,
  keep: 0,
  append: Int32Array.from(prompt),
  sampling: { temperature: 1, topP: 1, topK: 0, maxTokens },
  stopIds: [],
  seed: conversation,
});

function samplerOf(options: Partial<SamplerOptions> = {}): { sampler: Sampler; decoder: FakeDecoder } {
  const decoder = new FakeDecoder();
  const sampler = new Sampler(decoder, {
    slots: 4,
    contextLength: 1000,
    chunkTokens: 8,
    callTokens: 1000,
    sharedTokens: 1000,
    ...options,
  });
  return { sampler, decoder };
}

describe('Sampler', () => {
  it('gives every request its own continuation, whatever else happens in the batch', async () => {
    const turn = fc.record({
      conversation: fc.integer({ min: 0, max: 6 }),
      fresh: fc.array(fc.integer({ min: 0, max: vocabulary - 1 }), { minLength: 1, maxLength: 20 }),
      maxTokens: fc.integer({ min: 1, max: 6 }),
      rewrite: fc.boolean(),
      /** Conversations with one opening share its tokens. */
      opening: fc.integer({ min: 0, max: 2 }),
      release: fc.boolean(),
    });
    const rounds = fc.array(
      fc.uniqueArray(turn, { selector: ({ conversation }) => conversation, maxLength: 7 }),
      { maxLength: 6 },
    );
    const limits = fc.record({
      slots: fc.integer({ min: 1, max: 8 }),
      chunkTokens: fc.integer({ min: 1, max: 12 }),
      callTokens: fc.integer({ min: 1, max: 40 }),
      sharedTokens: fc.integer({ min: 1, max: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(rounds, limits, async (plan, options) => {
        const { sampler } = samplerOf(options);
        const histories = new Map<number, number[]>();
        for (const round of plan) {
          const prompts = round.map(({ conversation, fresh, rewrite, opening }) => {
            const history = histories.get(conversation) ?? Array<number>(opening * 10).fill(opening);
            return [...(rewrite ? history.slice(0, history.length >> 1) : history), ...fresh];
          });
          // One call for each request: they join whatever is running.
          const results = await Promise.all(
            round.map(({ conversation, maxTokens }, index) =>
              sampleAll(sampler, [request(`${conversation}`, prompts[index]!, maxTokens)]),
            ),
          );
          for (const [index, { conversation, maxTokens, release }] of round.entries()) {
            const [result] = results[index]!;
            expect([...result!.ids]).toEqual(continuation(prompts[index]!, maxTokens));
            histories.set(conversation, [...prompts[index]!, ...result!.ids]);
            if (release) sampler.release([`${conversation}`]);
          }
          expect(sampler.conversations).toBeLessThanOrEqual(options.slots);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('reads what prompts begin with once, whether they begin together, later, or after it ended', async () => {
    const { sampler, decoder } = samplerOf({ slots: 8, chunkTokens: 64, sharedTokens: 20 });
    const opening = Array(40).fill(3);
    const ask = async (...requests: SampleRequest[]): Promise<number> => {
      const before = sampler.statistics.forwardTokens;
      for (const [index, { ids }] of (await sampleAll(sampler, requests)).entries())
        expect([...ids]).toEqual(continuation([...requests[index]!.append], 2));
      return sampler.statistics.forwardTokens - before;
    };
    const own = (name: string, ...tokens: number[]) => request(name, [...opening, ...tokens], 2);
    // The opening and two tokens of its own; two each of the others; the token of each that was sampled first.
    expect(await ask(own('a', 1, 2), own('b', 2, 2), own('c', 1, 4))).toBe(40 + 2 + 2 + 1 + 3);
    expect(await ask(own('d', 5))).toBe(1 + 1);
    sampler.release(['a', 'b', 'c']);
    expect(await ask(own('e', 6))).toBe(1 + 1);
    // Too little in common.
    expect(await ask(request('f', [3, 3, 3, 4], 2))).toBe(4 + 1);
    expect(decoder.calls[0]).toEqual({ firstRow: 0, lengths: [42] });
  });

  it('copies what was waited for before its row is released', async () => {
    const { sampler } = samplerOf({ slots: 8, chunkTokens: 64, sharedTokens: 20 });
    const prompt = Array(40).fill(3);
    const names = ['a', 'b', 'c', 'd'];
    const ends = names.map((name) => sampler.sample(request(name, prompt, 1)));
    void ends[0]!.then(() => sampler.release(['a']));
    for (const { ids } of await Promise.all(ends)) expect([...ids]).toEqual(continuation(prompt, 1));
    // All of it once, and the last token of the others, which is fed in any case.
    expect(sampler.statistics.forwardTokens).toBe(40 + 3);
  });

  it('reads once more what was waited for, where its conversation is released on the way', async () => {
    const { sampler, decoder } = samplerOf({ slots: 8, chunkTokens: 16, sharedTokens: 20 });
    const prompt = Array(40).fill(3);
    const first = sampler.sample(request('a', prompt, 1));
    const others = ['b', 'c', 'd'].map((name) => sampler.sample(request(name, prompt, 1)));
    while (decoder.calls.length < 2) await Promise.resolve();
    sampler.release(['a']);
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    for (const { ids } of await Promise.all(others)) expect([...ids]).toEqual(continuation(prompt, 1));
    expect(sampler.statistics.forwardTokens).toBe(32 + 40 + 2);
  });

  it('replaces finished rows at once, and feeds each batch from consecutive rows', async () => {
    const { sampler, decoder } = samplerOf({ slots: 2 });
    await sampleAll(sampler, [request('a', [1], 1), request('b', [1], 3), request('c', [1], 2)]);
    expect(decoder.calls).toEqual([
      { firstRow: 0, lengths: [1, 1] },
      { firstRow: 0, lengths: [1, 1] },
      { firstRow: 0, lengths: [1, 1] },
    ]);
  });

  it('feeds a long prompt in chunks between which others go on', async () => {
    const { sampler, decoder } = samplerOf();
    await sampleAll(sampler, [request('long', Array(20).fill(1), 1), request('short', [1], 4)]);
    expect(decoder.calls.map(({ lengths }) => lengths)).toEqual([[8, 1], [8, 1], [4, 1], [1]]);
  });

  it('keeps rows with many new tokens apart from those with few, where padding would cost more than a call', async () => {
    const { sampler, decoder } = samplerOf({ chunkTokens: 64 });
    await sampleAll(sampler, [
      request('a', Array(64).fill(1), 1),
      request('b', [1], 1),
      request('c', [2, 1], 1),
    ]);
    expect(decoder.calls).toEqual([
      { firstRow: 0, lengths: [64] },
      { firstRow: 1, lengths: [1, 2] },
    ]);
  });

  it('moves rows only when the set of busy conversations changes', async () => {
    const { sampler, decoder } = samplerOf({ slots: 8 });
    const names = ['a', 'b', 'c', 'd'];
    await sampleAll(
      sampler,
      names.map((name) => request(name, [1], 1)),
    );
    await sampleAll(
      sampler,
      names.slice(2).map((name) => request(name, [1, 2, 3], 1)),
    );
    expect(decoder.calls.map(({ firstRow, lengths }) => [firstRow, lengths.length])).toEqual([
      [0, 4],
      [0, 2],
    ]);
    expect(decoder.rows[0]).toEqual([1, 2, 3]);
    expect(sampler.conversations).toBe(4);
  });

  it('evicts the idle conversation that was used least recently', async () => {
    const { sampler } = samplerOf({ slots: 2 });
    const ask = async (name: string): Promise<number> => {
      const before = sampler.statistics.forwardTokens;
      await sampleAll(sampler, [request(name, Array(5).fill(2), 1)]);
      return sampler.statistics.forwardTokens - before;
    };
    expect(await ask('a')).toBe(5);
    expect(await ask('b')).toBe(5);
    expect(await ask('a')).toBe(1);
    expect(await ask('c')).toBe(5);
    expect(await ask('a')).toBe(1);
    expect(await ask('b')).toBe(5);
  });

  it('finishes what was asked before a pause, and holds back what is asked during it', async () => {
    const { sampler, decoder } = samplerOf();
    const order: string[] = [];
    const early = sampleAll(sampler, [request('a', [1], 5)]).then(() => order.push('early'));
    const idle = sampler.pause().then(() => order.push('idle'));
    const late = sampleAll(sampler, [request('a', [1], 1)]).then(() => order.push('late'));
    await Promise.all([early, idle]);
    expect(decoder.rows).toEqual([]);
    order.push('resume');
    sampler.resume();
    await late;
    expect(order).toEqual(['early', 'idle', 'resume', 'late']);
  });

  it('rejects everything pending when the decoder fails, and works again afterwards', async () => {
    const { sampler, decoder } = samplerOf({ slots: 1 });
    decoder.failAtCall = 2;
    const results = await Promise.allSettled([
      sampleAll(sampler, [request('a', [1], 5)]),
      sampleAll(sampler, [request('b', [1], 5)]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(decoder.freed).toBe(1);
    decoder.failAtCall = Number.POSITIVE_INFINITY;
    const [result] = await sampleAll(sampler, [request('a', [1, 2], 2)]);
    expect([...result!.ids]).toEqual(continuation([1, 2], 2));
  });

  it('tells the likeliest tokens at each place, to those who ask', async () => {
    const { sampler } = samplerOf();
    const [told, other] = await sampleAll(sampler, [
      { ...request('a', [1, 2], 3), topLogprobs: 2 },
      request('b', [1, 2], 3),
    ]);
    expect(told!.top!.map((place) => place.length)).toEqual([2, 2, 2]);
    expect(told!.top!.map(([first]) => first!.id)).toEqual([...told!.ids]);
    expect(told!.top!.map(([first]) => Math.fround(first!.logprob))).toEqual([...told!.logprobs]);
    expect(other).not.toHaveProperty('top');
  });

  it('stops at a log-probability that is not finite, naming the conversation', async () => {
    const { sampler, decoder } = samplerOf();
    decoder.logit = Number.NaN;
    await expect(
      sampleAll(sampler, [request('episode 3', [1], 1)]),
    ).rejects.toThrowErrorMatchingInlineSnapshot(
      `[TurnwiseError: The model gave a log-probability that is not finite. Seen: NaN for token 0 of conversation episode 3. Lower the learning rate or the gradient clipping norm, and go back to an earlier checkpoint.]`,
    );
  });
});
