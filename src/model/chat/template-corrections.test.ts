import { expect, test } from 'vitest';
import { parseTemplate, pythonStrip, templateFunctions } from './template-corrections.ts';

const render = (source: string, variables: Record<string, unknown> = {}): string =>
  parseTemplate(source).render({ ...templateFunctions, ...variables });

// Expected values are those of Python 3 and Jinja 3.
test.each([
  ["{{ x.strip('\\n') }}", ' a '],
  ["{{ x.lstrip('\\n') }}", ' a \n'],
  ["{{ x.rstrip('\\n') }}", '\n a '],
  ['{{ x.strip() }}', 'a'],
  ['{{ x | trim }}', 'a'],
  ["{{ x | trim('\\n') }}", ' a '],
  ["{{ (x + x).split('a')[-1].lstrip() | length }}", '0'],
  ["{{ '</think>\\n\\n  four'.split('</think>')[-1].lstrip('\\n') }}", '  four'],
  ["{{ 'xyaxy'.strip('yx') }}", 'a'],
  ["{% for y in [x.strip('\\n')] %}[{{ y }}]{% endfor %}", '[ a ]'],
  ["{{ {'a': x.strip('\\n')}['a'] }}", ' a '],
])('%s', (source, expected) => {
  expect(render(source, { x: '\n a \n' })).toBe(expected);
});

test("white space is Python's, not JavaScript's", () => {
  expect(pythonStrip('strip', '\ufeffa\ufeff')).toBe('\ufeffa\ufeff');
  expect(pythonStrip('strip', '\x1c\x85\u3000a\u2003')).toBe('a');
});

test('the clock stands still, and a template may still ask whether there is one', () => {
  expect(render("{{ strftime_now('%d %b %Y') if strftime_now is defined }}")).toBe('26 Jul 2024');
});
