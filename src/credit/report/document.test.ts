import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { creditMethods } from '../methods.ts';
import { rewardShapings } from '../shaping/shapings.ts';
import { creditDocument } from './document.ts';
import { rolloutFields, turnFields } from './fields.ts';

const root = new URL('../../../', import.meta.url);

test('docs/credit-methods.md is what the code says (npx vitest run src/credit/report/document --update writes it)', async () => {
  await expect(creditDocument()).toMatchFileSnapshot(new URL('docs/credit-methods.md', root).pathname);
});

test.each([...creditMethods, ...rewardShapings])('$name says all there is to say', (entry) => {
  expect(entry.title).not.toBe('');
  expect(entry.summary).toMatch(/^[^.]+$/);
  expect(entry.formula).toMatch(/[=←]/);
  expect(entry.source).toMatch(/arXiv \d{4}\.\d{5}|Machine Learning 8, 1992/);
  for (const deviation of entry.deviations) expect(deviation).toMatch(/\.$/);
  const known = [...Object.keys(rolloutFields), ...Object.keys(turnFields).map((name) => `turns[].${name}`)];
  expect(known).toEqual(expect.arrayContaining([...entry.needs, ...(entry.uses ?? [])]));
});

test('names and aliases are different, whatever their case and hyphens', () => {
  const names = creditMethods.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  const plain = names.map((name) => name.toLowerCase().replaceAll('-', ''));
  expect(new Set(plain).size).toBe(plain.length);
});

test('every field is described as a sentence', () => {
  for (const schema of [...Object.values(rolloutFields), ...Object.values(turnFields)]) {
    expect((schema as { description?: string }).description).toMatch(/^[A-Z0-9].*\.$/s);
  }
});

test('docs/credit.md leads to the reference', () => {
  expect(readFileSync(new URL('docs/credit.md', root), 'utf8')).toContain('(credit-methods.md)');
});
