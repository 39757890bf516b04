import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chapters, errorCodes } from './error-codes.ts';
import { errorsPage } from './errors-page.ts';

const root = new URL('../../../', import.meta.url).pathname;

test('docs/errors.md is what the table says (npx vitest run src/core/error-codes --update writes it)', async () => {
  await expect(errorsPage()).toMatchFileSnapshot(join(root, 'docs/errors.md'));
});

test('a chapter lists its codes from a to z, and no code is in two', () => {
  for (const { title, codes } of chapters) {
    expect(Object.keys(codes), title).toEqual(Object.keys(codes).sort());
  }
  const all = chapters.flatMap(({ codes }) => Object.keys(codes));
  expect(all.sort()).toEqual(Object.keys(errorCodes).sort());
});

// The type refuses codes that are not in the table.
test('every code of the table is thrown somewhere', () => {
  const sources = ['src', 'envs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !/\.test(-helper)?\.ts$|\/testing\//.test(name))
      .map((name) => readFileSync(join(root, folder, name), 'utf8')),
  );
  const thrown = new Set(
    sources.flatMap((text) =>
      [...text.matchAll(/new TurnwiseError\(([^,{]*),/g)].flatMap(([, first]) =>
        [...first!.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code!),
      ),
    ),
  );
  expect(Object.keys(errorCodes).filter((code) => !thrown.has(code))).toEqual([]);
});

test('an entry ends its sentences', () => {
  const loose = Object.entries(errorCodes).filter(
    ([, { meaning, remedy }]) => !/[.)]$/.test(meaning) || !/[.`)]$/.test(remedy),
  );
  expect(loose).toEqual([]);
});
