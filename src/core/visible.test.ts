import { styleText } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible, visibleStyled } from './visible.ts';

test('controls and marks of direction become characters that can be seen', () => {
  expect(visible('\u001b]0;owned\u0007')).toBe('␛]0;owned␇');
  expect(visible('a\u009b2Jb\u007f\u0000')).toBe('a\\u009b2Jb␡␀');
  expect(visible('pay \u202e001\u2066\u200f')).toBe('pay \\u202e001\\u2066\\u200f');
  expect(visible('progress\rdone\r\nnext\ttab\n')).toBe('progress␍done\nnext\ttab\n');
});

test('letters of any script stay, joined emoji too', () => {
  for (const text of ['naïve 日本 שלום العربية 👩‍🔬 e\u0301', '']) expect(visible(text)).toBe(text);
});

test('nothing that is left steers a terminal, and cleaning twice is cleaning once', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const clean = visible(text);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
      expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(visible(clean)).toBe(clean);
    }),
  );
});

test('JSON means the same afterwards', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(JSON.parse(visible(JSON.stringify(text)))).toBe(text);
    }),
  );
});

test('of escape sequences only styles are left in text that we styled', () => {
  const styles = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta', 'blue', 'gray'] as const;
  for (const style of styles) {
    const own = styleText(style, 'text', { validateStream: false });
    expect(visibleStyled(own)).toBe(own);
  }
  expect(visibleStyled('\u001b[2J\u001b[8mhidden\u001b[1A')).toBe('␛[2J␛[8mhidden␛[1A');
});
