import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Conversations, TokenList } from './conversations.ts';
import type { SampleRequest } from './sampler.ts';

const request = (keep: number, append: readonly number[]): SampleRequest => ({
  conversation: 'a',
  keep,
  append: Int32Array.from(append),
  sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 1 },
  stopIds: [],
  seed: '',
});

test('a token list is a list of tokens, however it grows and shrinks', () => {
  const change = fc.oneof(
    fc.record({ push: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 90 }) }),
    // Too large for two bytes, or of no vocabulary.
    fc.record({ push: fc.array(fc.constantFrom(65_535, 65_536, 151_935, -1), { maxLength: 3 }) }),
    // Past the end of a block, and of several.
    fc.record({ push: fc.nat(9000).map((length) => Array.from({ length }, (_, index) => index % 7)) }),
    fc.record({ truncate: fc.nat(200) }),
    fc.record({ truncate: fc.nat(20_000) }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.nat(99), (changes, start) => {
      const list = new TokenList();
      let plain: number[] = [];
      for (const one of changes) {
        if ('push' in one) {
          list.push(one.push);
          plain.push(...one.push);
        } else {
          list.truncate(one.truncate);
          plain = plain.slice(0, one.truncate);
        }
        expect([...list.slice(0)]).toEqual(plain);
      }
      const middle = Math.floor(plain.length / 2);
      expect([...list.slice(middle, middle + 1500)]).toEqual(plain.slice(middle, middle + 1500));
      const from = Math.min(start, plain.length);
      expect(list.agrees(from, [...plain.slice(from), 1])).toBe(plain.length - from);
    }),
  );
});

test('a prompt is what is kept of the conversation, then what is new', () => {
  const conversations = new Conversations();
  conversations.open(request(0, [1, 2, 3]), 100);
  conversations.add('a', [4]);
  expect([...conversations.open(request(4, [5, 6]), 100).slice(0)]).toEqual([1, 2, 3, 4, 5, 6]);
  expect([...conversations.open(request(2, [9]), 100).slice(0)]).toEqual([1, 2, 9]);
});

test('a request that does not fit is refused and changes nothing', () => {
  const conversations = new Conversations();
  conversations.open(request(0, [1, 2, 3]), 100);
  expect(() => conversations.open(request(4, [5]), 100)).toThrowErrorMatchingInlineSnapshot(
    `[TurnwiseError: The sampling request of conversation a keeps more than the conversation has. Seen: 4 tokens. Allowed: 0 to 3 tokens.]`,
  );
  expect(() => conversations.open(request(3, [4, 5]), 5)).toThrow(/prompt of unusable length/);
  expect([...conversations.of('a').slice(0)]).toEqual([1, 2, 3]);
  conversations.release('a');
  expect(() => conversations.open(request(1, [2]), 100)).toThrow(/keeps more/);
});
