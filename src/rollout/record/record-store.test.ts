/** What calls and transitions hold is kept together, and is read as before. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Call } from '../../core/episode.ts';
import { exactJson } from '../../core/json/exact-json.ts';
import { type CalledTransition, RecordStore } from './record-store.ts';

const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 8 };
const call = (id: number, more: Partial<Call> = {}): Call => ({
  id,
  conversation: 'agent',
  role: 'agent',
  by: { kind: 'policy', name: 'learner', version: 1 },
  purpose: 'act',
  sampling: { ...sampling },
  context: Int32Array.of(id, 1),
  ids: Int32Array.of(2, id),
  logprobs: Float32Array.of(-0.5, -id),
  messages: [{ role: 'user', content: `it is ${id}` }],
  text: `no. ${id}`,
  finish: 'stop',
  trainable: true,
  at: id / 10,
  waitMs: 0,
  policyMs: 0.3,
  ...(id % 3 > 0 && { entropy: id / 2 }),
  ...(id > 0 && { parent: id - 1 }),
  ...more,
});

test('property: a stored call is the call that was given, however many there are and however long they are', () => {
  const lengths = fc.tuple(fc.nat(9), fc.nat(3), fc.constantFrom(1, 1, 1, 700));
  fc.assert(
    fc.property(fc.array(lengths, { maxLength: 40 }), (all) => {
      const store = new RecordStore();
      const given = all.map(([context, ids, times], id) =>
        call(id, {
          context: Int32Array.from({ length: context * times }, (_, at) => id + at),
          ids: Int32Array.from({ length: ids * times }, (_, at) => id - at),
          // None where the player does not tell.
          logprobs: Float32Array.from({ length: id % 5 === 0 ? 0 : ids * times }, (_, at) => -at / 2),
        }),
      );
      const stored = given.map((one) => store.call(one));
      for (const [index, one] of stored.entries()) {
        expect(one).toEqual(given[index]);
        expect({ ...one }).toStrictEqual(given[index]);
        expect(Object.keys(one)).toEqual(Object.keys(given[index]!));
        expect(exactJson(one)).toBe(exactJson(given[index]));
      }
      if (stored.length > 0) expect(structuredClone(stored.at(-1))).toEqual(given.at(-1));
    }),
    { numRuns: 20 },
  );
});

test('fields that only some calls have are kept, in their order', () => {
  const store = new RecordStore();
  const odd = call(3, { kept: 1, newPath: 'asked', choices: [Int32Array.of(2, 3)], parts: [{ call: 1 }] });
  expect({ ...store.call(odd) }).toStrictEqual(odd);
  expect(Object.keys(store.call(odd))).toEqual(Object.keys(odd));
});

test('what was given may change afterwards, and no call overlaps another', () => {
  const store = new RecordStore();
  const given = call(1);
  const kept = store.call(given);
  given.context[0] = 7;
  given.ids[0] = 7;
  given.logprobs[0] = 7;
  expect(kept).toEqual(call(1));
  store.call(call(2)).context.fill(9);
  store.call(call(3)).logprobs.fill(9);
  expect(kept).toEqual(call(1));
});

test('calls one after another are one run of tokens', () => {
  const store = new RecordStore();
  const [one, two] = [store.call(call(1)), store.call(call(2))];
  const { buffer } = one.context;
  expect(two.logprobs.buffer).toBe(buffer);
  const start = one.context.byteOffset;
  expect([...new Int32Array(buffer, start, 8)]).toEqual([1, 1, 2, 1, 2, 1, 2, 2]);
});

test('equal authors, settings of sampling and rewards are one object', () => {
  const store = new RecordStore();
  const [one, two] = [store.call(call(1)), store.call(call(2))];
  expect(two.by).toBe(one.by);
  expect(two.sampling).toBe(one.sampling);
  const other = store.call(call(3, { by: { kind: 'policy', name: 'learner', version: 2 } }));
  expect(other.by.version).toBe(2);
  expect(store.call(call(4, { sampling: { ...sampling, topK: 5 } })).sampling.topK).toBe(5);
  const rewards = store.shared('rewards', { agent: 0 });
  expect(store.shared('rewards', { agent: 0 })).toBe(rewards);
  expect(store.shared('rewards', { other: 0 })).toEqual({ other: 0 });
  for (const more of [
    { other: 0, agent: 0 },
    { agent: 0, other: 0 },
    { agent: 0, other: -0 },
  ]) {
    expect(exactJson(store.shared('rewards', more))).toBe(exactJson(more));
  }
});

test('property: texts and transitions are those that were given, of whatever letters and length', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ maxLength: 70 }),
    fc.constantFrom('', 'up', '\u00ff\u0000', '\u0100', '\ud800'),
  );
  const transitions = fc.array(fc.tuple(text, text, fc.boolean(), fc.integer({ min: 0, max: 99_999 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(transitions, (all) => {
      const store = new RecordStore();
      const given = all.map(
        ([anchor, action, valid, tenths], id): CalledTransition => ({
          call: id,
          role: 'agent',
          anchor,
          action,
          valid,
          rewards: { agent: valid ? 0 : -0 },
          at: tenths / 10,
          environmentMs: tenths / 100 > 500 ? 0.1 : 0,
          ...(valid && { attempt: 1, facts: { answer: anchor } }),
        }),
      );
      const calls = given.map(({ anchor, action }, id) =>
        call(id, { text: action, messages: [{ role: 'user', content: anchor }] }),
      );
      const stored = given.map((one, id) => [store.call(calls[id]!), store.transition(one)] as const);
      for (const [id, [asked, transition]] of stored.entries()) {
        expect({ ...asked }).toStrictEqual(calls[id]);
        expect({ ...transition }).toStrictEqual(given[id]);
        expect(Object.keys(transition)).toEqual(Object.keys(given[id]!));
        expect(exactJson(transition)).toBe(exactJson(given[id]));
      }
    }),
    { numRuns: 50 },
  );
});

test('messages that are no single words of a user are kept as they are', () => {
  const store = new RecordStore();
  for (const messages of [
    [],
    [{ role: 'system', content: 'a' }],
    [{ content: 'a', role: 'user' }],
    [{ role: 'user', content: 'a', reasoning: 'b' }],
    [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ],
  ] as const satisfies Call['messages'][]) {
    expect(exactJson(store.call(call(1, { messages })).messages)).toBe(exactJson(messages));
  }
});
