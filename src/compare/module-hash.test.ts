import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { moduleHash } from './module-hash.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnwise-modules-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

test('every world has a hash of its own, and the same one again', () => {
  const hashes = ['frozen-lake', 'maze', 'code'].map((source) => moduleHash(source));
  expect(new Set(hashes).size).toBe(3);
  expect(moduleHash('maze')).toBe(hashes[1]);
});

test('what a file imports counts, what it does not import does not', () => {
  const path = write('world.ts', `import { words } from './words.ts';\nexport const w = words;\n`);
  write('words.ts', 'export const words = 1;\n');
  write('other.ts', 'export const other = 1;\n');
  const before = moduleHash(path);
  write('other.ts', 'export const other = 2;\n');
  expect(moduleHash(`${path}#w`)).toBe(before);
  write('words.ts', 'export const words = 2;\n');
  expect(moduleHash(path)).not.toBe(before);
});

test('an arm’s own files count by what they hold', () => {
  const [one, same, other] = ['a', 'b', 'c'].map((name) => write(name, name === 'c' ? 'two' : 'one'));
  expect(moduleHash('maze', [one!])).toBe(moduleHash('maze', [same!]));
  expect(moduleHash('maze', [one!])).not.toBe(moduleHash('maze', [other!]));
  expect(moduleHash('maze', [one!])).not.toBe(moduleHash('maze'));
});
