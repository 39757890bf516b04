/** Grammars of schemas over a vocabulary of characters and some longer tokens: what they allow, and what they refuse. */

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Constraint, TokenTexts } from '../../../core/constraint.ts';
import { Rng } from '../../../core/rng.ts';
import { Grammars } from './grammars.ts';

/** Printable ASCII, some words, and id 0, which ends a turn. Ġ is a space in texts of bytes. */
const words = ['<tool_call>', '</tool_call>', '{"', '":', '",', 'city', 'days', 'Ġtrue', 'Oslo'];
const characters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
const texts: TokenTexts = { texts: ['', 'Ġ', ...characters, ...words], bytes: 'byte_level' };
const size = texts.texts.length;
const decode = (ids: readonly number[]): string =>
  ids.map((id) => texts.texts[id]!.replaceAll('Ġ', ' ')).join('');

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', maxLength: 6 },
    days: { type: 'integer', minimum: 1, maximum: 30 },
    unit: { enum: ['c', 'f'] },
    sure: { type: 'boolean' },
  },
  required: ['city', 'days', 'unit'],
  additionalProperties: false,
};

function grammars(): Grammars {
  const made = new Grammars(size);
  made.learnTexts(texts);
  return made;
}

/** A random completion along the grammar: any of the ids that may come next, all of them equally likely. */
async function wander(
  of: Grammars,
  constraint: Constraint,
  seed: number,
  most = 400,
): Promise<string | undefined> {
  const walk = await of.walk(constraint, [0]);
  const rng = Rng.of('wander', seed);
  const ids: number[] = [];
  while (!walk.ended && ids.length < most) {
    await walk.ready?.();
    const allowed = walk.next();
    expect(allowed.length).toBeGreaterThan(0);
    const id = allowed[rng.int(allowed.length)]!;
    walk.take(id);
    ids.push(id);
  }
  const { ended } = walk;
  walk.free?.();
  return ended ? decode(ids) : undefined;
}

/** Whether a text can be walked to its end, character by character. */
async function takes(of: Grammars, constraint: Constraint, text: string): Promise<boolean> {
  const walk = await of.walk(constraint, [0]);
  for (const id of [...[...text].map((one) => texts.texts.indexOf(one === ' ' ? 'Ġ' : one)), 0]) {
    await walk.ready?.();
    if (!walk.next().includes(id)) return false;
    walk.take(id);
  }
  return walk.ended;
}

const answer: Constraint = { forms: [{ begin: '', schema, end: '' }] };

describe('a schema', () => {
  it('lets nothing but texts of it come to an end', async () => {
    const of = grammars();
    const fits = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    for (let seed = 0; seed < 20; seed++) {
      const text = await wander(of, answer, seed);
      expect(text).toBeDefined();
      expect(fits.safeParse(JSON.parse(text!)).error).toBeUndefined();
    }
  });

  it('is written in one line, with the white space that was asked for', async () => {
    const of = grammars();
    const spaced = '{"city": "Oslo", "days": 3, "unit": "c"}';
    const compact = '{"city":"Oslo","days":3,"unit":"c"}';
    const tight: Constraint = { forms: [{ ...answer.forms[0]!, notation: 'compact' }] };
    expect(await takes(of, answer, spaced)).toBe(true);
    expect(await takes(of, answer, compact)).toBe(false);
    expect(await takes(of, tight, compact)).toBe(true);
    expect(await takes(of, tight, spaced)).toBe(false);
    expect(await takes(of, answer, '{"city": "Oslo", "days": 31, "unit": "c"}')).toBe(false);
    expect(await takes(of, answer, '{"city": "Oslo", "days": 3}')).toBe(false);
    expect(await takes(of, answer, `${spaced} and more`)).toBe(false);
  });

  it('allows what else a schema allows', async () => {
    const open: Constraint = { forms: [{ begin: '', schema: { type: 'object' }, end: '' }] };
    expect(await takes(grammars(), open, '{"a": {"b": [1, null]}}')).toBe(true);
    expect(await takes(grammars(), open, '[1]')).toBe(false);
  });
});

describe('forms', () => {
  const call = (name: string) => ({
    begin: `<tool_call>{"name": "${name}", "arguments": `,
    schema,
    end: '}</tool_call>',
  });
  const given = '{"city": "Oslo", "days": 3, "unit": "c"}';

  it('are one of them', async () => {
    const of = grammars();
    const either: Constraint = { forms: [answer.forms[0]!, call('look'), call('go')] };
    expect(await takes(of, either, given)).toBe(true);
    expect(await takes(of, either, `<tool_call>{"name": "go", "arguments": ${given}}</tool_call>`)).toBe(
      true,
    );
    expect(await takes(of, either, `<tool_call>{"name": "no", "arguments": ${given}}</tool_call>`)).toBe(
      false,
    );
    expect(await takes(of, either, 'words')).toBe(false);
  });

  it('stand among words where they have a trigger', async () => {
    const of = grammars();
    const among: Constraint = { forms: [call('look'), call('go')], trigger: '<tool_call>' };
    const look = `<tool_call>{"name": "look", "arguments": ${given}}</tool_call>`;
    expect(await takes(of, among, 'words, and nothing else')).toBe(true);
    expect(await takes(of, among, `words ${look}`)).toBe(true);
    expect(await takes(of, among, `${look}${look}`)).toBe(true);
    expect(await takes(of, { ...among, once: true }, `${look}${look}`)).toBe(false);
    expect(await takes(of, { ...among, once: true }, `words ${look}`)).toBe(true);
    expect(await takes(of, among, 'words <tool_call>{"name": "fly"')).toBe(false);
    expect(await takes(of, among, `<tool_call>{"name": "look", "arguments": {"city": 3}}</tool_call>`)).toBe(
      false,
    );
  });
});

describe('what makes no grammar', () => {
  it.each([
    ['a type that there is not', { type: 'colour' }],
    ['a reference to nothing', { $ref: '#/$defs/none' }],
    ['what nothing can be', false as unknown as { type: string }],
    ['too much', { enum: Array.from({ length: 9000 }, (_, index) => `word ${index}`) }],
  ])('is refused: %s', async (_, wrong) => {
    const of = grammars();
    const constraint: Constraint = { forms: [{ begin: '', schema: wrong, end: '' }] };
    await expect(of.walk(constraint, [0])).rejects.toMatchObject({
      code: 'schema-unsupported',
      message: expect.stringContaining(
        'No grammar can be made of the JSON Schema, so nothing can be held to it',
      ),
    });
    // The next one is none the worse for it.
    expect(await takes(of, answer, '{"city": "Oslo", "days": 3, "unit": "c"}')).toBe(true);
  });
});
