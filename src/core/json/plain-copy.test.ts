import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileInfo } from '../../rollout/testing/hostile-values.ts';
import type { Json } from './json.ts';
import { plainCopy } from './plain-copy.ts';

test('plain JSON is copied as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copied = plainCopy(value, 'value');
      expect(copied).toEqual({ ok: true, value: value as Json });
    }),
  );
  const prototype = plainCopy(JSON.parse('{"__proto__": {"polluted": 1}}'), 'value');
  expect(JSON.stringify(prototype)).toBe('{"ok":true,"value":{"__proto__":{"polluted":1}}}');
  expect(plainCopy({ a: undefined, b: 1 }, 'value')).toEqual({ ok: true, value: { b: 1 } });
});

test('nothing hostile is copied, and nothing throws', () => {
  const copied = hostileInfo.map((make) => plainCopy(make(), 'info'));
  // The plain ones among them are wrong only as facts.
  expect(copied.filter(({ ok }) => ok)).toHaveLength(3);
});

test('a refusal says where, what and why', () => {
  const refusal = (value: unknown) => plainCopy(value, 'info', { depth: 3, values: 6, characters: 10 });
  const ring: { a: unknown[] } = { a: [] };
  ring.a.push(ring);
  const refused = [
    { a: [1, Number.NaN] },
    ring,
    [[[[1]]]],
    [1, 2, 3, 4, 5, 6],
    'x'.repeat(11),
    { a: new Date(0) },
  ];
  expect(refused.map((value) => Object.values(refusal(value)).slice(1))).toMatchInlineSnapshot(`
    [
      [
        "info.a[1]",
        "NaN",
        "null, booleans, finite numbers, strings, arrays and plain objects",
      ],
      [
        "info.a[0]",
        "a cycle",
        "null, booleans, finite numbers, strings, arrays and plain objects",
      ],
      [
        "info[0][0][0]",
        "more levels",
        "at most 3 levels",
      ],
      [
        "info[5]",
        "more values",
        "at most 6 values",
      ],
      [
        "info",
        "more characters",
        "at most 10 characters",
      ],
      [
        "info.a",
        "an object of class Date",
        "null, booleans, finite numbers, strings, arrays and plain objects",
      ],
    ]
  `);
});

test('a field is read once', () => {
  let reads = 0;
  const counting = {
    get field() {
      return ++reads;
    },
  };
  expect(plainCopy(counting, 'info')).toEqual({ ok: true, value: { field: 1 } });
});
