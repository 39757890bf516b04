/** Templates that would run for ever, or fill the memory: each is a clear error within a moment. */

import { Template } from '@huggingface/jinja';
import { expect, test } from 'vitest';
import { ChatTemplate } from './chat-template.ts';
import { renderWithin } from './limited-template.ts';

const render = (source: string): string =>
  new ChatTemplate(source, 'model/chat_template.jinja', {}).render(
    Array.from({ length: 1000 }, (_, index) => ({ role: 'user', content: `message ${index}` })),
    { addGenerationPrompt: true },
  );

const doubling = `{% set ns = namespace(x='aaaaaaaa') %}${'{% set ns.x = ns.x ~ ns.x %}'.repeat(40)}{{ ns.x }}`;
const lists = `{% set ns = namespace(x=range(99999)) %}${'{% set ns.x = ns.x + ns.x %}'.repeat(40)}`;
const nested = (depth: number, body: string): string =>
  depth === 0 ? body : `{% for i${depth} in range(1000) %}${nested(depth - 1, body)}{% endfor %}`;

test.each([
  [
    'a loop of 1e12',
    '{% for i in range(1000000000000) %}x{% endfor %}',
    'a range of 1000000000000 numbers; at most 100000 are allowed',
  ],
  ['a range that never ends', '{{ range(0, 10, 0) }}', 'range() step must not be zero'],
  ['loops in loops', nested(4, 'x'), 'it takes more than 1000000 steps'],
  ['empty loops in loops', nested(4, ''), 'it takes more than 1000000 steps'],
  ['a text that doubles', doubling, 'a text of more than 16000000 letters'],
  ['a list that doubles', lists, 'a list of more than 100000 items'],
  [
    'long texts, again and again',
    `{% set x = range(90000) | join(',') %}{% for m in messages %}{% for n in messages %}{{ (x | replace('1', '2')) | length }}{% endfor %}{% endfor %}`,
    'it takes more than 1000000 steps',
  ],
])('%s', (_name, source, seen) => {
  expect(() => render(source)).toThrow(
    expect.objectContaining({
      code: 'chat-template-invalid',
      message: expect.stringContaining(
        `The chat template of model/chat_template.jinja cannot be evaluated. Seen: ${seen}`,
      ),
    }),
  );
});

test('what templates do is the same with limits as without', () => {
  const source = `{%- for m in messages if m.a is defined -%}{{ loop.index ~ m.a | upper }}{% else %}{{ none }}{% endfor -%}
{%- set ns = namespace(n=0) -%}{%- for i in range(2, 20, 3) -%}{%- set ns.n = ns.n + i -%}{%- endfor -%}
{{ ns.n }}{{ range(5, 0, -2) | join(' ') }}{{ range(0) | length }}{{ messages | tojson }}{{ missing is none }}{{ True }}`;
  const messages = [{ a: 'x' }, { b: 1 }, { a: 'y' }];
  expect(renderWithin(new Template(source).parsed, { messages })).toBe(
    new Template(source).render({ messages }),
  );
});

test('a conversation of a thousand messages is far from every limit', () => {
  const source = `{% for m in messages %}{% if messages[loop.index0 - 1].role == 'user' and m.content in messages | map(attribute='content') | list %}<|{{ m.role }}|>{{ m.content | trim }}{% endif %}{% endfor %}`;
  expect(render(source).length).toBeGreaterThan(15_000);
});
