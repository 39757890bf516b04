/** How many files a built-in thing takes: a credit method its own and the list of methods, beside its test; an environment its folder. */

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { creditMethods } from '../src/credit/methods.ts';
import { environmentNames } from '../src/run/load/environments.ts';

const root = resolve(import.meta.dirname, '..');

const sources = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter(
        (entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.test(-helper)?\.ts$/.test(entry.name),
      )
      .map((entry) => relative(root, join(entry.parentPath, entry.name)))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  );

const credit = sources('src/credit');
const everywhere = new Map([...sources('src'), ...sources('envs')]);

describe('a credit method', () => {
  test.each(creditMethods.map(({ name }) => name))('%s is a file and a line of the list', (name) => {
    const own = [...credit].filter(
      ([file, text]) => file.startsWith('src/credit/methods/') && text.includes(`name: '${name}'`),
    );
    expect(own.map(([file]) => file)).toHaveLength(1);
    const [[file, text]] = own as [[string, string]];
    const base = file.split('/').at(-1);
    // Other methods and shapings may stand on it; whoever knows all methods is the list alone.
    const importers = [...everywhere]
      .filter(
        ([other, code]) => other !== file && code.includes(`/${base}'`) && importsFrom(other, code, file),
      )
      .map(([other]) => other)
      .filter(
        (other) => !other.startsWith('src/credit/methods/') && other !== 'src/credit/shaping/shapings.ts',
      );
    expect(importers.filter((other) => !/^src\/(train\/recipes|exports)\//.test(other))).toEqual([
      'src/credit/methods.ts',
    ]);
    expect(text).toMatch(/^export const \w+.*= (define|credit)\w*\(/m);
  });

  test('nothing in the folder of credit asks for a method by its name', () => {
    const names = creditMethods.map(({ name }) => name);
    const asking = [...credit].flatMap(([file, text]) =>
      names
        .filter((name) => new RegExp(`(===|case|includes\\() ?'${name.replaceAll('+', '\\+')}'`).test(text))
        .map((name) => `${file}: ${name}`),
    );
    expect(asking).toEqual([]);
  });
});

function importsFrom(importer: string, code: string, file: string): boolean {
  return [...code.matchAll(/from '(\.[^']+)'/g)].some(
    ([, path]) => relative(root, resolve(root, importer, '..', path!)) === file,
  );
}

test.each(environmentNames)('environment %s is a folder and a line of the list', (name) => {
  const naming = [...everywhere]
    .filter(([file]) => !file.startsWith(`envs/${name}/`))
    .filter(([file, code]) =>
      [...code.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].some(([, path]) =>
        relative(root, resolve(root, file, '..', path!)).startsWith(`envs/${name}/`),
      ),
    )
    .map(([file]) => file);
  // A browser has a list of its own, of those that need no files.
  const lists = naming.filter((file) => !/^src\/(exports\/|browser\/worlds\.ts$)/.test(file));
  expect(lists).toEqual(['src/run/load/environments.ts']);
});
