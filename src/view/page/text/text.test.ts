import fc from 'fast-check';
import { expect, test } from 'vitest';
import { taskText } from '../group/task-text.ts';
import { age, duration, number, share, signed, size } from './format.ts';
import { oneLine, safeText } from './safe-text.ts';

test('numbers as people read them', () => {
  const cases = [
    0,
    0.968,
    61_440,
    3.1e-10,
    -0.25,
    1e9,
    Number.NaN,
    null,
    Number.NEGATIVE_INFINITY,
    12.345,
    1234.5,
  ];
  expect(cases.map((value) => number(value))).toEqual([
    '0',
    '0.968',
    '61\u2009440',
    '3.1·10⁻¹⁰',
    '−0.25',
    '1·10⁹',
    '—',
    '—',
    '−∞',
    '12.3',
    '1235',
  ]);
  expect([0.857, -0.2857, 0, -0.001, Number.NaN].map(signed)).toEqual(['+0.86', '−0.29', '0', '0', '—']);
  expect([0.9678, null].map((value) => share(value))).toEqual(['0.97', '—']);
  expect([999, 603_520, 1_540_000_000].map(size)).toEqual(['999', '604k', '1.54B']);
  expect([0.352, 1.86, 446, 7620].map(duration)).toEqual(['352 ms', '1.86 s', '7 min 26 s', '2 h 7 min']);
  expect([0, 61, 7300, 180_000].map((seconds) => age(0, seconds * 1000))).toEqual([
    'now',
    '1 min',
    '2 h',
    '2 d',
  ]);
});

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what must not be there.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

test('nothing in a text can steer, hide or turn', () => {
  expect(safeText('a\u202eb\u001b[31m\u0000\ud800é\u{1f600}\n\t\r\nz')).toBe(
    'a⟦RLO⟧b⟦ESC⟧[31m⟦NUL⟧⟦U+D800⟧é\u{1f600}\n\t\r\nz',
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(hidden.test(safeText(text))).toBe(false);
      expect(() => encodeURIComponent(safeText(text))).not.toThrow();
      expect(oneLine(text, 20).length).toBeLessThanOrEqual(20);
    }),
  );
});

test('a task in a line: what it asks, else its values', () => {
  const cards = [
    { colour: 'red', rank: '1' },
    { colour: 'blue', rank: '2' },
  ];
  expect(taskText({ question: 'How many?', id: 3 })).toBe('How many?');
  expect(taskText(cards)).toBe('red 1, blue 2');
  expect(taskText({ deck: cards, start: [0, 1] })).toBe('deck red 1, blue 2, start 0 1');
  expect(taskText(7)).toBe('7');
  expect(taskText([])).toBe('(an empty task)');
});
